/* SPDX-License-Identifier: MIT */
/*
 * Series in FROM: generate_series(a, b, step), which ends with b, and range(a, b, step),
 * which ends before it, of whole numbers, and of moments by an interval.
 */
#ifndef VDBQ_PLAN_LEAF_SERIES_H
#define VDBQ_PLAN_LEAF_SERIES_H

#include "plan/tree/node.h"

struct binder;

enum { SERIES_ARGUMENTS_MAX = 3 };

struct series_argument {
    struct expression *value; /* NULL: an interval */
    enum ast_unit unit;
    int64_t units; /* ... how many of them */
};

/* The rows of a call, of one column; NULL: a failure. */
struct node *series_bind(struct binder *binder, const struct ast_from *tree,
                         const struct series_argument *arguments,
                         unsigned count);
/* That there is no such function in FROM, or none with these arguments. */
void series_refuse(struct binder *binder, const struct ast_from *tree);

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

/* series_time.c: whether the arguments are those of moments, and their rows. */
bool series_is_time(const struct series_argument *arguments, unsigned count);
struct node *series_time(struct binder *binder, const struct ast_from *tree,
                         const struct series_argument *arguments);

#endif
