/* SPDX-License-Identifier: MIT */
/*
 * What is thought of the values of a column: plan/estimate makes it.
 */
#ifndef VDBQ_PLAN_TREE_COLUMN_ESTIMATE_H
#define VDBQ_PLAN_TREE_COLUMN_ESTIMATE_H

#include <stdbool.h>

/* Where the number of a column's values comes from. */
enum estimate_trust {
    ESTIMATE_BOUND,   /* more there cannot be                          */
    ESTIMATE_COUNTED, /* about so many were seen                       */
    ESTIMATE_KEY      /* no two rows of its table have one in common   */
};

/* What is thought of the values of a column, or of an expression. */
struct column_estimate {
    double distinct;  /* how many there are                            */
    double whole;     /* ... before any rows of its table were left out */
    double nulls;     /* share of the rows, 0 to 1                     */
    double low, high; /* of numbers, before rows were left out; low is
                          greater than high: not known                  */
    double unit;      /* 1: whole numbers; 0: others                   */
    enum estimate_trust trust;
    bool sampled; /* `distinct` was counted on a sample                    */
    bool call;    /* it was computed by a call of the host, in its program's
                     place                                                 */
    bool answer;  /* it is, or has, the answer of a query that each row asks,
                    while joins are ordered: nothing is thought of it     */
};

#endif
