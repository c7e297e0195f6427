/* SPDX-License-Identifier: MIT */
/*
 * How often each of many integers came: rows of which nothing but one key
 * matters, and no order. A value has a *code*, its distance from the least one;
 * each code has a bit, and from when a value comes again a byte. So as many rows
 * as there are values take an eighth of a byte or one each, and rows that are
 * equal nothing.
 */
#ifndef VDBQ_EXEC_KEY_COUNTS_H
#define VDBQ_EXEC_KEY_COUNTS_H

#include "exec/rows/row_set.h"

/* What a byte leaves of the count of a value that came very often. */
struct key_counts_more {
    int64_t value;
    uint32_t count; /* 0: the slot is free */
};

/* A zeroed one has no rows; `once` is the caller's to set. */
struct key_counts {
    bool once;       /* nobody asks how often a value came                  */
    uint64_t rows;   /* that were added; without NULLs, which are passed over */
    int64_t low;     /* the value whose code is 0                           */
    uint64_t values; /* codes are below this, a multiple of 64               */
    uint64_t *bits;  /* of each code, and of one behind: it came; NULL: some
                       came again, and `counts` has them                    */
    uint8_t *counts; /* of each code, and of one behind: how often; from 128
                       on `more` may have the rest                          */
    struct key_counts_more *more;   /* hashed by value */
    uint32_t more_slots, more_used; /* a power of two, and how many are taken */
};

/* What adding may take. */
struct key_counts_limits {
    uint64_t bytes;   /* of key_counts_bytes(), at most; some KiB more may be */
    unsigned threads; /* that work on it at most */
};
/* Adds the first `rows` values of a column, which are integers to the machine.
 * `*fits` false: they would take too much, and none was added. Fails with
 * NO_MEMORY and CANCELLED, and is of no use then. */
enum vdbq_status key_counts_add(struct key_counts *counts,
                                const struct row_set_column *column,
                                uint64_t rows,
                                const struct key_counts_limits *limits,
                                bool *fits, struct error *error);
void key_counts_finish(struct key_counts *counts);

/* Bytes that it takes. */
uint64_t key_counts_bytes(const struct key_counts *counts);

/* How often the values of codes came; codes from `values` on never did. `starts`
 * are 0 where they came, else ROW_SET_NO_ROW. Any thread may ask. */
void key_counts_find(const struct key_counts *counts, const uint32_t *codes,
                     unsigned rows, uint32_t *starts, uint32_t *found);

/* Where giving the rows back is. Zeroed it begins. */
struct key_counts_place {
    uint64_t code;
    uint32_t given; /* rows of its value that were given */
};
/* Writes the next rows, at most `room`, to the column; how many: 0 at the end, and
 * where it is asked to stop. */
uint64_t key_counts_give(const struct key_counts *counts,
                         struct key_counts_place *place,
                         const struct row_set_column *column, uint64_t room);

#endif
