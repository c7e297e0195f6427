/* SPDX-License-Identifier: MIT */
/*
 * A table, the answers of subqueries that joins put beside it (share_has_answer()),
 * and what its rows are compared with.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_ANSWERS_H
#define VDBQ_PLAN_INDEX_INDEX_ANSWERS_H

#include "plan/index/index_choice.h"

enum { ANSWERS_MAX = 4 }; /* beside one table that are looked at */

/* A comparison among those that all rows are tested with. */
struct index_compared {
    const struct node *over;  /* whose columns it reads                    */
    struct expression *as_is; /* ... so; and over the table's columns, and
                                 behind them the answers'                  */
    struct expression *e;
};

/* The table, and the answers beside it. */
struct index_answers {
    struct node *select;
    struct node **table; /* its place                                      */
    struct node *below;  /* the SELECT over it; NULL: there is none        */
    unsigned first, end; /* numbers of the answers' columns, all of them   */
    struct node *joins[ANSWERS_MAX]; /* that put them there, from above    */
    unsigned columns[ANSWERS_MAX];   /* of each the number of its first one */
    unsigned count;
    struct vector
        compared; /* struct index_compared                             */
    struct index_candidates candidates;
};

/* Finds the table and the answers below a SELECT. False: there are none. */
bool index_answers_find(struct node *select, struct index_answers *answers);
/* Lists what its rows are compared with, before what can fail. False: a failure,
 * which the binder has. */
bool index_answers_compared(struct binder *binder,
                            struct index_answers *answers);

#endif
