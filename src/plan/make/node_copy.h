/* SPDX-License-Identifier: MIT */
/*
 * Nodes twice in a tree.
 */
#ifndef VDBQ_PLAN_MAKE_NODE_COPY_H
#define VDBQ_PLAN_MAKE_NODE_COPY_H

#include "plan/tree/node.h"

struct binder;

/* A copy of a node and of all below it, so that what passes do to the one
 * leaves the other as it is. Expressions are shared: nothing changes them. */
struct node *node_copy(struct binder *binder, const struct node *node);

#endif
