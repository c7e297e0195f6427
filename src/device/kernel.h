/* SPDX-License-Identifier: MIT */
/*
 * Kernels beside the machine (cl/group.cl, cl/sort.cl, cl/rows/keep.cl,
 * cl/window/window.cl, cl/join.cl, cl/rows/judged.cl, cl/index.cl,
 * cl/search/search.cl, cl/words/words.cl, cl/rows/send.cl): what works on rows where
 * they are, on the device.
 * Calls are put into the device's queue behind the machine's launches, and run
 * in the order in which they were made. The host build has those of
 * cl/search/search.cl alone.
 */
#ifndef VDBQ_DEVICE_KERNEL_H
#define VDBQ_DEVICE_KERNEL_H

#include "device/device.h"

/* Name, text; for local memory or not. */
/* clang-format off */
#define DEVICE_KERNELS(_)                                                     \
    _(GROUP_FIND, vdbq_group_find, GROUP)                                     \
    _(GROUP_FIND_LOCAL, vdbq_group_find, GROUP_LOCAL)                         \
    _(GROUP_RAISE, vdbq_group_raise, GROUP)                                   \
    _(GROUP_ADD, vdbq_group_add, GROUP)                                       \
    _(GROUP_ADD_LOCAL, vdbq_group_add, GROUP_LOCAL)                           \
    _(GROUP_SPREAD, vdbq_group_spread, GROUP)                                 \
    _(GROUP_GROW, vdbq_group_grow, GROUP)                                     \
    _(GROUP_LIST, vdbq_group_list, GROUP)                                     \
    _(GROUP_OUT, vdbq_group_out, GROUP)                                       \
    _(GROUP_COLUMNS, vdbq_group_columns, GROUP)                               \
    _(SORT_CODES, vdbq_sort_codes, SORT)                                      \
    _(SORT_BINS, vdbq_sort_bins, SORT)                                        \
    _(SORT_UNDER, vdbq_sort_under, SORT)                                      \
    _(SORT_COUNT, vdbq_sort_count, SORT)                                      \
    _(SORT_SUM, vdbq_sort_sum, SORT)                                          \
    _(SORT_MOVE, vdbq_sort_move, SORT)                                        \
    _(KEEP, vdbq_keep, KEEP)                                                  \
    _(WINDOW_STARTS, vdbq_window_starts, WINDOW)                              \
    _(WINDOW_ADD, vdbq_window_add, WINDOW)                                    \
    _(WINDOW_SUMS, vdbq_window_sums, WINDOW)                                  \
    _(WINDOW_NUMBER, vdbq_window_number, WINDOW)                              \
    _(WINDOW_SCAN, vdbq_window_scan, WINDOW)                                  \
    _(WINDOW_GIVE, vdbq_window_give, WINDOW)                                  \
    _(SORT_PICK, vdbq_sort_pick, SORT)                                        \
    _(JOIN_FIND, vdbq_join_find, JOIN)                                        \
    _(JOIN_SPANS, vdbq_join_spans, JOIN)                                      \
    _(JOIN_COUNT, vdbq_join_count, JOIN)                                      \
    _(JOIN_SUMS, vdbq_join_sums, JOIN)                                        \
    _(JOIN_PLACES, vdbq_join_places, JOIN)                                    \
    _(JOIN_EXPAND, vdbq_join_expand, JOIN)                                    \
    _(JUDGED_CUT, vdbq_judged_cut, JUDGED)                                    \
    _(JUDGED_PAIRS, vdbq_judged_pairs, JUDGED)                                \
    _(JUDGED_COUNT, vdbq_judged_count, JUDGED)                                \
    _(JUDGED_ALONE, vdbq_judged_alone, JUDGED)                                \
    _(JUDGED_NULL, vdbq_judged_null, JUDGED)                                  \
    _(JUDGED_MARK, vdbq_judged_mark, JUDGED)                                  \
    _(INDEX_CLEAR, vdbq_index_clear, INDEX)                                   \
    _(INDEX_DENSE, vdbq_index_dense, INDEX)                                   \
    _(INDEX_HASHED, vdbq_index_hashed, INDEX)                                 \
    _(PROBE, vdbq_probe, PROBE)                                               \
    _(PROBE_TOGETHER, vdbq_probe_together, PROBE)                             \
    _(SEARCH_BINARY_I32, vdbq_search_binary_I32, SEARCH)                      \
    _(SEARCH_BINARY_I64, vdbq_search_binary_I64, SEARCH)                      \
    _(SEARCH_BINARY_F32, vdbq_search_binary_F32, SEARCH)                      \
    _(SEARCH_BINARY_F64, vdbq_search_binary_F64, SEARCH)                      \
    _(SEARCH_BINARY_U32, vdbq_search_binary_U32, SEARCH)                      \
    _(SEARCH_BINARY_U64, vdbq_search_binary_U64, SEARCH)                      \
    _(SEARCH_BINARY_PAIR, vdbq_search_binary_PAIR, SEARCH)                    \
    _(SEARCH_BINARY_TEXT, vdbq_search_binary_TEXT, SEARCH)                    \
    _(SEARCH_BINARY_ROWS, vdbq_search_binary_ROWS, SEARCH)                    \
    _(SEARCH_PARY_I32, vdbq_search_pary_I32, SEARCH)                          \
    _(SEARCH_PARY_I64, vdbq_search_pary_I64, SEARCH)                          \
    _(SEARCH_PARY_F32, vdbq_search_pary_F32, SEARCH)                          \
    _(SEARCH_PARY_F64, vdbq_search_pary_F64, SEARCH)                          \
    _(SEARCH_PARY_U32, vdbq_search_pary_U32, SEARCH)                          \
    _(SEARCH_PARY_U64, vdbq_search_pary_U64, SEARCH)                          \
    _(SEARCH_PARY_PAIR, vdbq_search_pary_PAIR, SEARCH)                        \
    _(SEARCH_PARY_TEXT, vdbq_search_pary_TEXT, SEARCH)                        \
    _(SEARCH_PARY_ROWS, vdbq_search_pary_ROWS, SEARCH)                        \
    _(SEARCH_TREE_I32, vdbq_search_tree_I32, SEARCH)                          \
    _(SEARCH_TREE_I64, vdbq_search_tree_I64, SEARCH)                          \
    _(SEARCH_TREE_F32, vdbq_search_tree_F32, SEARCH)                          \
    _(SEARCH_TREE_F64, vdbq_search_tree_F64, SEARCH)                          \
    _(SEARCH_TREE_U32, vdbq_search_tree_U32, SEARCH)                          \
    _(SEARCH_TREE_U64, vdbq_search_tree_U64, SEARCH)                          \
    _(SEARCH_TREE_PAIR, vdbq_search_tree_PAIR, SEARCH)                        \
    _(SEARCH_TREE_TEXT, vdbq_search_tree_TEXT, SEARCH)                        \
    _(SEARCH_TREE_ROWS, vdbq_search_tree_ROWS, SEARCH)                        \
    _(SEARCH_DIRECTORY_I32, vdbq_search_directory_I32, SEARCH)                \
    _(SEARCH_DIRECTORY_I64, vdbq_search_directory_I64, SEARCH)                \
    _(SEARCH_DIRECTORY_F32, vdbq_search_directory_F32, SEARCH)                \
    _(SEARCH_DIRECTORY_F64, vdbq_search_directory_F64, SEARCH)                \
    _(SEARCH_DIRECTORY_U32, vdbq_search_directory_U32, SEARCH)                \
    _(SEARCH_DIRECTORY_U64, vdbq_search_directory_U64, SEARCH)                \
    _(SEARCH_DIRECTORY_PAIR, vdbq_search_directory_PAIR, SEARCH)              \
    _(SEARCH_DIRECTORY_TEXT, vdbq_search_directory_TEXT, SEARCH)              \
    _(SEARCH_DIRECTORY_ROWS, vdbq_search_directory_ROWS, SEARCH)              \
    _(SEARCH_FEW_I32, vdbq_search_few_I32, SEARCH)                            \
    _(SEARCH_FEW_I64, vdbq_search_few_I64, SEARCH)                            \
    _(SEARCH_FEW_F32, vdbq_search_few_F32, SEARCH)                            \
    _(SEARCH_FEW_F64, vdbq_search_few_F64, SEARCH)                            \
    _(SEARCH_FEW_U32, vdbq_search_few_U32, SEARCH)                            \
    _(SEARCH_FEW_U64, vdbq_search_few_U64, SEARCH)                            \
    _(SEARCH_FEW_PAIR, vdbq_search_few_PAIR, SEARCH)                          \
    _(WORDS_MATCH, vdbq_words_match, WORDS)                                   \
    _(SEND, vdbq_send, SEND)                                                  \
    _(FILL, vdbq_fill, SEND)
/* clang-format on */

enum device_kernel {
#define DEVICE_KERNEL(name, function, text) KERNEL_##name,
    DEVICE_KERNELS(DEVICE_KERNEL)
#undef DEVICE_KERNEL
        KERNELS
};

enum { CALL_MEMORIES_MAX = 8, CALL_NUMBERS_MAX = 8 };

/* A kernel's arguments: memories, which the device holds unless they are zero-copy,
 * then numbers, then a struct, if the kernel has one.
 * Unused memories are NULL behind the first; the kernel reads none there. */
struct device_call {
    enum device_kernel kernel; /* to run */
    /* arguments, in the kernel's order */
    struct device_memory *memories[CALL_MEMORIES_MAX];
    unsigned memory_count;              /* of `memories` */
    uint64_t numbers[CALL_NUMBERS_MAX]; /* arguments behind the memories */
    unsigned number_count;              /* of `numbers` */
    const void *value;    /* the last argument, a struct; NULL: there is none */
    size_t value_bytes;   /* of it; a device takes 512 at least              */
    unsigned group_items; /* that the kernel is built for; 0: the device's  */
    uint64_t items; /* work-items of use; some more may run, and many items
                       may have to share fewer                            */
};

/* Whether the device has all of these kernels, and device_fill(). */
bool device_has_kernels(const struct device *device);
/* Work-items of a group, as its kind has them; how many groups run at most. */
unsigned device_group_items(const struct device *device);
unsigned device_groups_most(const struct device *device);

/* Puts a call into the queue, and builds the kernel where it was not; that is
 * added to `times`. */
enum vdbq_status device_call(struct device *device,
                             const struct device_call *call,
                             struct device_times *times, struct error *error);
/* The same for filling a memory's first `size` bytes with one byte. */
enum vdbq_status device_fill(struct device_memory *memory, uint64_t size,
                             uint8_t byte, struct error *error);
/* The same for a copy of bytes to a memory: they stay as they are until the
 * calls were waited for. */
enum vdbq_status device_put(struct device_memory *memory, const void *bytes,
                            uint64_t size, struct device_times *times,
                            struct error *error);
/* Calls from now on come behind the kernels of all jobs that were started. */
enum vdbq_status device_calls_follow(struct device *device,
                                     struct error *error);
/* Waits for all calls, and adds what they took. */
enum vdbq_status device_calls_wait(struct device *device,
                                   struct device_times *times,
                                   struct error *error);

#endif
