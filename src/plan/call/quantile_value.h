/* SPDX-License-Identifier: MIT */
/*
 * Medians and other quantiles are made of windows over the rows of each group or
 * partition,
 *
 *   quantile_...(x) OVER (PARTITION BY keys ORDER BY x NULLS LAST)
 *
 * (program/steps/aggregates.h), texts by their keys in their collation, whose
 * results all rows of it have.
 */
#ifndef VDBQ_PLAN_QUANTILE_VALUE_H
#define VDBQ_PLAN_QUANTILE_VALUE_H

#include "plan/operator/making.h"
#include "plan/tree/expression.h"

/* A quantile while it is made. */
struct quantile {
    struct making making;
    const struct vector *partition; /* of struct expression * */
    /* Has a window of rows be the value of their group; NULL: it stays as it is. */
    struct expression *(*of_group)(struct binder *binder,
                                   struct expression *window);
    /* quantile_made() fills in: */
    struct expression *value; /* NULL where it does not count */
    enum collation collation; /* ... by which values are in order */
    double fraction;
};

/* The value of a symbol, as bind_quantile() makes it. NULL: a failure. */
struct expression *quantile_made(struct quantile quantile,
                                 const struct expression *symbol);

#endif
