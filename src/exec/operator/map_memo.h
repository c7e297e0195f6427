/* SPDX-License-Identifier: MIT */
/*
 * Rows that a function was computed for, so that others with the same arguments
 * take their value: a function gives equal values for equal arguments.
 */
#ifndef VDBQ_EXEC_MAP_MEMO_H
#define VDBQ_EXEC_MAP_MEMO_H

#include "exec/rows/row_set.h"

enum {
    MAP_MEMO_SLOTS = 2048, /* a power of two                              */
    MAP_MEMO_TRIES = 8192, /* rows after which it is given up ...         */
    MAP_MEMO_LEAST = 4     /* ... where fewer than one in so many is known */
};

/* Of one thread. A row lies in the slot of its arguments' hash; a later one
 * takes its place. A zeroed one can be finished. */
struct map_memo {
    const struct row_set_column *arguments; /* the columns that they are in */
    unsigned count;                         /* of them                      */
    uint32_t asked, known; /* rows, of at most MAP_MEMO_TRIES             */
    bool is_off;           /* few are known: it costs more than it saves  */
    /* In each slot the number of a row plus 1, 0 where there is none; which of
     * its arguments are NULL, a bit each; their bits. */
    uint64_t *slots;
};

/* False: no memory. */
bool map_memo_init(struct map_memo *memo,
                   const struct row_set_column *arguments, unsigned count);
void map_memo_finish(struct map_memo *memo);

/* An earlier row of the batch with the same arguments; the row itself, which is
 * kept: none is known. */
uint64_t map_memo_find(struct map_memo *memo, uint64_t row);

#endif
