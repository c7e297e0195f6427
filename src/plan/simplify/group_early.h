/* SPDX-License-Identifier: MIT */
/*
 * Groups that are made before a join.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_GROUP_EARLY_H
#define VDBQ_PLAN_SIMPLIFY_GROUP_EARLY_H

#include "plan/tree/node.h"

struct binder;

/* A group over a left join, of which each left row is a group, becomes a left
 * join with the groups of the right side. */
struct node *group_early(struct binder *binder, struct node *node);

#endif
