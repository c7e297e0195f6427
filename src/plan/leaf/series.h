/* SPDX-License-Identifier: MIT */
/*
 * Series in FROM: generate_series(a, b, step), which ends with b, and range(a, b, step),
 * which ends before it, of whole numbers, and of moments by an interval.
 */
#ifndef VDBQ_PLAN_LEAF_SERIES_H
#define VDBQ_PLAN_LEAF_SERIES_H

#include "plan/leaf/series_rows.h"

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

#endif
