/* SPDX-License-Identifier: MIT */
/*
 * Looking up many keys at once in a sorted column that lies in a device's
 * memory: one launch of cl/search/search.cl. Every device can, the host build,
 * too.
 */
#ifndef VDBQ_DEVICE_SEARCH_H
#define VDBQ_DEVICE_SEARCH_H

#include "cl/search/search.h"
#include "device/device.h"

enum search_algorithm {
    SEARCH_AUTO,   /* as search_choose() says where there is a directory, else
                      binary                                         */
    SEARCH_BINARY, /* a key an item                                  */
    SEARCH_PARY,   /* a key for all items of a team, by the directory */
    SEARCH_TREE    /* a key an item, by the directory                */
};

/* What is searched: SEARCH_I32 to SEARCH_U64, as the kernels' text says. */
enum search_type {
#define SEARCH_TYPE(name) SEARCH_##name,
    SEARCH_TYPES(SEARCH_TYPE)
#undef SEARCH_TYPE
        SEARCH_TYPE_COUNT
};

/* What is asked of each key, and how many places answer it. */
enum search_bound {
    SEARCH_BOUND_LOWER = 0,            /* how many values are less         */
    SEARCH_BOUND_UPPER = SEARCH_UPPER, /* ... or equal                     */
    SEARCH_BOUND_BOTH = SEARCH_RANGE,  /* the one and then the other: those
                                          in between are equal             */
    SEARCH_BOUND_PAIRS = SEARCH_PAIRS  /* of keys two by two, of the first one
                                          the lower and of the other the
                                          upper one: a range of each two   */
};

/* Words of SEARCH_ROWS that one column takes: its order, behind a word that
 * tells NULL. */
enum { SEARCH_ROW_COLUMN_WORDS = 2 };

struct search_params {
    struct device_memory *sorted; /* the column, held by the device; NULL
                                     where it has no values           */
    bool directory;               /* behind the values lies their directory: see
                       search_directory_make()                        */
    uint64_t count; /* of its values, in growing order; below 2^32 - 1  */
    uint64_t nulls; /* of these that are NULL: the first; not of ROWS   */
    enum search_type type;
    unsigned columns; /* of ROWS; else 0                          */
    struct device_memory
        *text;        /* of TEXT: the bytes of the column's; or NULL */
    const void *keys; /* of the same type; the fast way: in pinned memory */
    const uint8_t *key_nulls; /* 1 for each that is NULL; NULL: none is  */
    const void *key_text;     /* of TEXT: their bytes                      */
    uint64_t key_text_bytes;
    uint64_t key_count;
    bool ascending; /* keys are in order, none is NULL */
    enum search_bound bound;
    enum search_algorithm algorithm;
};

/* What a search took; added to. Times of kernels and transfers are kept between
 * device_times_hold() and device_times_release(). */
struct search_times {
    struct device_times in;     /* the keys' way to the device    */
    struct device_times kernel; /* the launch, and its build      */
    struct device_times out;    /* the answers' way to the host   */
};

/* Bytes of a value. */
uint64_t search_width(enum search_type type, unsigned columns);

/* A text as two words of SEARCH_TEXT: its bytes begin at `place` of all. */
void search_text_words(const void *bytes, uint32_t length, uint32_t place,
                       uint64_t words[2]);
/* A column's value as the words of SEARCH_ROWS: an integer, or a float's bits,
 * of a type of the machine (cl/types.h). */
void search_row_words(uint32_t type, uint64_t value, bool null,
                      uint64_t words[SEARCH_ROW_COLUMN_WORDS]);

/* Bytes of a column's values and of their directory. */
uint64_t search_directory_size(enum search_type type, unsigned columns,
                               uint64_t count);
/* Makes the directory of a column behind its values, in memory of that size:
 * `params` says what there is in it, and no keys. Waits for it. */
enum vdbq_status search_directory_make(struct device *device,
                                       const struct search_params *params,
                                       struct device_times *times,
                                       struct error *error);

/* The algorithm that AUTO means for so many keys where there is a directory: p-ary
 * for few, as the device's tuning says; binary for so many that each item of a CPU
 * sorts its own (16 cores, 1M keys: 9.8 ms, by tree 10.1); else by tree. */
enum search_algorithm search_choose(const struct device *device,
                                    uint64_t key_count);
/* "binary", "p-ary", "tree" */
const char *search_name(enum search_algorithm algorithm);

/* Gives for each key the bound, or both, as numbers of values. Fails with
 * DEVICE, NO_MEMORY. */
enum vdbq_status search_keys(struct device *device,
                             const struct search_params *params,
                             uint32_t *places, struct search_times *times,
                             struct error *error);
/* The same of several columns of numbers, none of them NULL, each with keys of its
 * own: their keys lie one column's behind the other's, from search_keys_size() of
 * it on, and so do their places. They travel together, and the device waits for
 * the last launch alone. */
enum vdbq_status search_parts(struct device *device,
                              const struct search_params *parts, unsigned count,
                              uint32_t *places, struct search_times *times,
                              struct error *error);
/* Bytes of so many keys: a multiple of 8. */
uint64_t search_keys_size(enum search_type type, unsigned columns,
                          uint64_t count);

/* Gives the lower bounds of keys in numbers that lie in the host's memory, on the
 * thread that asks: it runs the text of the kernels for binary search. */
struct search_here {
    enum search_type type; /* of numbers */
    const void *sorted;    /* `count` of them                             */
    uint64_t count;        /* below 2^32 - 1; 0: all places are 0         */
    const void *steps; /* copies of the last of each SEARCH_STEP of these; NULL:
                          there are none                                  */
    const void *keys;  /* `key_count` of them, in order              */
    uint64_t key_count;
};
void search_here(const struct search_here *search, uint32_t *places);

#endif
