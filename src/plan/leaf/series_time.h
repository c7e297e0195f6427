/* SPDX-License-Identifier: MIT */
/*
 * Series of moments.
 */
#ifndef VDBQ_PLAN_LEAF_SERIES_TIME_H
#define VDBQ_PLAN_LEAF_SERIES_TIME_H

#include "plan/leaf/series.h"

/* Whether the arguments are those of moments, and their rows; NULL: a failure. */
bool series_is_time(const struct series_argument *arguments, unsigned count);
struct node *series_time(struct binder *binder, const struct ast_from *tree,
                         const struct series_argument *arguments);

#endif
