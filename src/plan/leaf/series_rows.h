/* SPDX-License-Identifier: MIT */
/*
 * Numbers in even steps, as rows of one column.
 */
#ifndef VDBQ_PLAN_LEAF_SERIES_ROWS_H
#define VDBQ_PLAN_LEAF_SERIES_ROWS_H

#include "plan/tree/node.h"

struct binder;

/* Numbers from `begin` on. */
struct series {
    bool
        ends; /* with `end` itself, where a step leads there: generate_series */
    bool
        empty; /* a bound or the step is NULL                                  */
    int64_t begin, end, step;
};
/* They as rows; NULL: a failure, as that the step is 0. */
struct node *series_rows(struct binder *binder, const struct ast_from *tree,
                         const struct series *series);
/* So many numbers that have been made. NULL: no memory. */
struct node *series_listed(struct binder *binder, const int64_t *numbers,
                           size_t rows);
/* That there is no such function in FROM, or none with these arguments. */
void series_refuse(struct binder *binder, const struct ast_from *tree);

#endif
