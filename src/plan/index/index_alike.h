/* SPDX-License-Identifier: MIT */
/*
 * How many rows an index cannot tell from one another in an order of which it knows
 * the first columns: all of them are found where one of them is. And in how many
 * tablets the first rows of an order are.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_ALIKE_H
#define VDBQ_PLAN_INDEX_INDEX_ALIKE_H

#include "plan/index/index_choice.h"

/* An order's first columns, as an index has them. */
struct index_ordered {
    const struct index_candidate *candidate;
    unsigned equal_count; /* of its columns that equal values               */
    unsigned count;       /* of those behind them: the order's              */
    bool alike;           /* the order goes on behind these                 */
    bool nulls;           /* ... and rows in which one is NULL may be found */
};

/* About how many rows those with one set of values are; 0: the index knows all of
 * the order. Of a text of which it knows the first bytes the sample tells how many
 * values these have. False: a failure, which the binder has. */
bool index_alike(struct binder *binder, const struct index_candidates *of,
                 const struct index_ordered *ordered, double *rows);

/* About how many tablets have rows among an end of the order, at least 1: two where
 * the first column ascends from tablet to tablet, all where each has any value. */
double index_tablets(const struct index_candidates *of,
                     const struct index_ordered *ordered);

#endif
