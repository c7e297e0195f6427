/* SPDX-License-Identifier: MIT */
/*
 * Windows (STEP_WINDOW): values that rows have of their neighbours. Rows are
 * sorted by partition and order, and results put back into the rows' order.
 * Partitions, and rows that are alike in their order (peers), are found there.
 */
#ifndef VDBQ_EXEC_WINDOW_H
#define VDBQ_EXEC_WINDOW_H

#include "exec/rows/row_set.h"

/* Where functions go on, in more rows of the same order: at the last row of
 * those before, which is given once more as the first one. */
struct window_carry {
    bool any;                    /* there were rows before */
    bool more;                   /* others come behind these; the caller's */
    int64_t number, rank, dense; /* what that row was given */
};

struct window_joined;
struct window_firsts;

struct window_params {
    const struct step_window *step;    /* of the plan */
    const struct row_set *rows;        /* of the input               */
    const struct step_column *columns; /* of the input               */
    unsigned threads;                  /* to work with at most       */
    struct window_joined *joined; /* of each function: the texts that it makes
                                     (window_joined.h); NULL: none does      */
    struct window_carry *carry;   /* rows come in their order, some at a time:
                                   for functions that window_goes_on() alone;
                                   NULL: these are all                     */
    struct window_firsts *firsts; /* zeroed: only the first row of each
                                   partition is wanted, of a step that says so;
                                   it is told which these are, and is to be
                                   finished (window_firsts.h). NULL: all     */
    bool sorted;      /* the rows are in the order of all functions already */
    unsigned *failed; /* set to the number of the function that fails; or
                         NULL                                              */
};

/* Whether it takes nothing but a row's place: ROW_NUMBER, RANK, DENSE_RANK. */
bool window_ranks(enum window_function function);
/* Whether it goes on from some rows of a partition to others: these, and STRING_AGG. */
bool window_goes_on(enum window_function function);
/* Keys of a function: its partition, then its order; there is room for them.
 * Returns how many. */
unsigned window_keys(const struct step_window_function *function,
                     struct step_key *keys);
/* Whether the rows of both are in the same order, with the same peers. */
bool window_same(const struct step_window_function *a,
                 const struct step_window_function *b);

/* Writes a column for each function into an empty row set of these columns,
 * a row for each of the input's that is wanted. Words of text columns are the caller's to
 * set. Fails with RANGE where a sum overflows, NO_MEMORY. */
enum vdbq_status window_run(const struct window_params *params,
                            struct row_set *results, struct error *error);

#endif
