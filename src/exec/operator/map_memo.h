/* SPDX-License-Identifier: MIT */
/*
 * Rows that a function was computed for, so that others with the same arguments
 * take their value: a function gives equal values for equal arguments.
 */
#ifndef VDBQ_EXEC_MAP_MEMO_H
#define VDBQ_EXEC_MAP_MEMO_H

#include "base/hostile.h"
#include "exec/rows/row_set.h"
#include "program/functions/function.h"

enum {
    MAP_MEMO_FIRST = HOSTILE(1, 1 << 11), /* slots at first ...             */
    MAP_MEMO_MOST = HOSTILE(4, 1 << 19),  /* ... and at most; powers of two */
    MAP_MEMO_JUDGED =
        HOSTILE(2, 1 << 12), /* slots from which on it grows ... */
    MAP_MEMO_HOPE = 128,   /* ... where at least one row in so many is known  */
    MAP_MEMO_TRIES = 8192, /* rows after which it is given up, when it grows no
                              more ...                                      */
    MAP_MEMO_LEAST = 4     /* ... where fewer than one in so many is known  */
};

/* Of one thread. A row lies in the slot of its arguments' hash; a later one
 * takes its place. A zeroed one can be finished. */
struct map_memo {
    const struct row_set_column *arguments
        [FUNCTION_ARGUMENTS_MAX]; /* columns that have several values */
    unsigned count;               /* of them                      */
    uint32_t asked, known; /* rows, of at most MAP_MEMO_TRIES               */
    uint32_t kept, met; /* rows that were put into slots, or known, since they
                              grew                                          */
    bool is_off;        /* few are known: it costs more than it saves    */
    uint64_t *slots;    /* half of the hash, and a row + 1; 0: none      */
    uint32_t slot_count;
};

/* It is asked for rows from number `first` to before `end`. False: no memory. */
bool map_memo_init(struct map_memo *memo,
                   const struct row_set_column *arguments, unsigned count,
                   uint64_t first, uint64_t end);
void map_memo_finish(struct map_memo *memo);

/* An earlier row of the batch with the same arguments; the row itself: none is
 * known, or one of them is NULL. */
uint64_t map_memo_find(struct map_memo *memo, uint64_t row);

#endif
