/* SPDX-License-Identifier: MIT */
/*
 * Windows of which groups show first rows alone.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_GROUP_FIRSTS_H
#define VDBQ_PLAN_SIMPLIFY_GROUP_FIRSTS_H

#include "plan/tree/node.h"

struct binder;

/* A group over quantiles that takes nothing but the first row's values, by the
 * keys that part these: the window need not give other rows (struct
 * step_window). For tree_pass(): what stands in the node's place; NULL: a
 * failure. */
struct node *group_firsts(struct binder *binder, struct node *node);

#endif
