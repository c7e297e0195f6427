/* SPDX-License-Identifier: MIT */
/*
 * Conditions that compare with values of queries.
 */
#ifndef VDBQ_PLAN_CONDITION_ASKS_H
#define VDBQ_PLAN_CONDITION_ASKS_H

#include <stdbool.h>

struct expression;

/* What a condition asks of queries. */
struct asks {
    bool any;    /* it asks one                                          */
    bool early;  /* and all may be asked for rows that it is not tested of
                    in the end: each for one value, without any failure  */
    bool of_row; /* the answer of one hangs on the row                   */
};

struct asks condition_asks(struct expression *e);

#endif
