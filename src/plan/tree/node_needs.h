/* SPDX-License-Identifier: MIT */
/*
 * What all readers of a shared node read of it.
 */
#ifndef VDBQ_PLAN_TREE_NODE_NEEDS_H
#define VDBQ_PLAN_TREE_NODE_NEEDS_H

#include "plan/tree/node.h"

struct binder;

/* Sets `needs` of the shared nodes in the tree, of which `needed` columns are
 * read. False: a failure, which is in the binder's error. */
bool node_needs(struct binder *binder, struct node *node, const bool *needed);

#endif
