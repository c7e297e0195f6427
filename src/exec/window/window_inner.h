/* SPDX-License-Identifier: MIT */
/*
 * What the files of windows share: rows in their order.
 */
#ifndef VDBQ_EXEC_WINDOW_INNER_H
#define VDBQ_EXEC_WINDOW_INNER_H

#include <string.h>

#include "base/threads/parallel.h"
#include "exec/aggregate/aggregate.h"
#include "exec/sort/sort.h"
#include "exec/window/window.h"

struct window_firsts;

struct window {
    const struct row_set *rows;        /* all rows of the input */
    const struct step_column *columns; /* of the input */
    uint32_t *order; /* numbers of rows, by partition and order       */
    uint8_t *starts; /* of each in that order: enum sort_start      */
    const struct step_key *key; /* of the function at hand, where its order has
                                   one alone; else NULL                 */
    bool any_nulls;   /* a function has written one                    */
    unsigned threads; /* that share the rows in their order           */
    const struct window_firsts *firsts; /* rows that are wanted; NULL: all */
    struct window_carry before; /* what the first row was given, if any  */
    struct window_carry carry;  /* ... and the last one                  */
};

/* Whether none of the eight rows from `at` on begins a partition, or peers. */
static inline bool window_is_plain(const struct window *window, uint32_t at,
                                   enum sort_start what)
{
    uint64_t eight;
    memcpy(&eight, window->starts + at, sizeof eight);
    return (eight & (uint64_t)what * UINT64_C(0x0101010101010101)) == 0;
}

/* One behind the last of the rows that begin at `at`, in the order, and
 * belong together as partition or as peers. */
static inline uint32_t window_end(const struct window *window, uint32_t at,
                                  enum sort_start what)
{
    uint64_t end = (uint64_t)at + 1, rows = window->rows->rows;
    while (end + 8 <= rows && window_is_plain(window, (uint32_t)end, what))
        end += 8;
    while (end < rows && !(window->starts[end] & what))
        end++;
    return (uint32_t)end;
}

/* The first of those rows. */
static inline uint32_t window_begin(const struct window *window, uint32_t at,
                                    enum sort_start what)
{
    while (at >= 8 && window_is_plain(window, at - 7, what))
        at -= 8;
    while (at > 0 && !(window->starts[at] & what))
        at--;
    return at;
}

/* The first row, in the order, of a thread's share. */
static inline uint32_t window_share(const struct window *window, unsigned share)
{
    return (uint32_t)(window->rows->rows * share / window->threads);
}

/* Copies a value or its NULL from one row to another; whether it is NULL. */
static inline bool window_copy(const struct row_set_column *from,
                               uint32_t source, struct row_set_column *result,
                               uint32_t row)
{
    if (result->width == sizeof(uint32_t))
        ((uint32_t *)result->values)[row] =
            ((const uint32_t *)from->values)[source];
    else
        ((uint64_t *)result->values)[row] =
            ((const uint64_t *)from->values)[source];
    result->nulls[row] = row_set_is_null(from, source);
    return result->nulls[row] != 0;
}

/* Frames of rows, one row after the other in their order. */
struct window_frames {
    const struct window *window;
    const struct step_frame *frame; /* not the default one                 */
    uint32_t at;                    /* the row                             */
    uint32_t first, last; /* its partition: the first row, one behind it   */
    uint32_t peers, peers_end; /* its peers, likewise                     */
    uint32_t begin, end;       /* its frame; empty where not begin < end  */
    uint32_t known, known_end; /* of its partition, rows whose key is not NULL:
                                  of FRAME_DISTANCE                        */
};
/* window_frame.c: those of the rows from `at` on, which is there. */
struct window_frames window_frames_begin(const struct window *window,
                                         const struct step_frame *frame,
                                         uint32_t at);
/* Goes to the next row, or behind the last one, which has no frame. */
void window_frames_next(struct window_frames *frames);

/* window_aggregate.c: takes rows [at, end) of the order into a record; `rows`
 * are all, in that order. */
void window_take(const struct aggregate *aggregate,
                 const struct aggregate_rows *rows, uint32_t at, uint32_t end,
                 uint64_t *record);
/* window_framed.c: an aggregate over frames that are not the default one. */
enum vdbq_status window_framed(struct window *window,
                               const struct step_frame *frame,
                               const struct aggregate *aggregate,
                               const struct aggregate_rows *rows,
                               struct row_set_column *result,
                               struct error *error);

/* window_number.c, window_values.c, window_aggregate.c: write a function's
 * column, which has NULL flags. */
void window_number(struct window *window, enum window_function function,
                   struct row_set_column *result);
enum vdbq_status window_neighbour(struct window *window,
                                  const struct step_window_function *function,
                                  struct row_set_column *result,
                                  struct error *error);
enum vdbq_status window_aggregate(struct window *window,
                                  const struct step_window_function *function,
                                  struct row_set_column *result,
                                  struct error *error);
/* window_quantile.c: a value of each partition; of the wanted rows alone. */
void window_partition_values(struct window *window,
                             const struct step_window_function *function,
                             struct row_set_column *result);
/* ... the place, from 0, of the value that such a function takes of n values that
 * are not NULL; and what QUANTILE_PART gives of as many. */
uint64_t window_quantile_place(const struct step_window_function *function,
                               double n);
double window_quantile_part(const struct step_window_function *function,
                            double n);

/* What all rows of a partition have. */
struct partition_value {
    bool null;
    bool computed;   /* it is `bits`, of a DOUBLE; else ...             */
    uint32_t source; /* ... the value of this row                       */
    uint64_t bits;
};
static inline struct partition_value partition_real(double value)
{
    struct partition_value made = { .computed = true };
    memcpy(&made.bits, &value, sizeof made.bits);
    return made;
}
/* window_fold.c: one of FOLD_FUNCTIONS, of the rows [begin, end) of the order. */
struct partition_value window_fold(const struct window *window,
                                   const struct row_set_column *values,
                                   uint32_t begin, uint32_t end);
/* window_joined.c: STRING_AGG; the column gets places of its gather. */
enum vdbq_status window_join_texts(struct window *window,
                                   const struct step_window_function *function,
                                   struct window_joined *joined,
                                   struct row_set_column *result,
                                   struct error *error);

#endif
