/* SPDX-License-Identifier: MIT */
/*
 * Conditions go down.
 */
#ifndef VDBQ_PLAN_REWRITE_PUSH_H
#define VDBQ_PLAN_REWRITE_PUSH_H

#include "plan/tree/node.h"

struct binder;

/* push.c: a condition is tested as far down as it can be. The same columns;
 * the node may have changed. */
struct node *node_push(struct binder *binder, struct node *node,
                       struct expression *e);

/* Whether an expression asks for columns from `low` on, below `high`, alone. */
bool push_needs_only(struct expression *e, unsigned low, unsigned high);

#endif
