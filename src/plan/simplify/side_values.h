/* SPDX-License-Identifier: MIT */
/*
 * What a grid would compute in each cell, computed before it.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_SIDE_VALUES_H
#define VDBQ_PLAN_SIMPLIFY_SIDE_VALUES_H

#include "plan/tree/node.h"

struct binder;

/* What the condition of a SELECT over an inner join of all pairs computes of its
 * smaller side alone becomes columns of that. */
struct node *side_values(struct binder *binder, struct node *node);

#endif
