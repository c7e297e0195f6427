/* SPDX-License-Identifier: MIT */
/*
 * Conditions that are not true where columns are NULL.
 */
#ifndef VDBQ_PLAN_CONDITION_REFUSES_H
#define VDBQ_PLAN_CONDITION_REFUSES_H

#include "plan/tree/node.h"

/* Columns [low, high) of a node. */
struct between {
    int low, high;
};

/* Whether a value is NULL where these columns are. */
bool is_null_with(const struct expression *e, struct between columns);
/* Whether a condition is not true where these columns are NULL. */
bool refuses_null(const struct expression *e, struct between columns);

/* An outer join above which rows are not kept that have NULLs in all columns of
 * its left side, or of its right one, makes no such rows. */
void join_tighten(struct node *join, bool not_left, bool not_right);

#endif
