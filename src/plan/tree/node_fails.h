/* SPDX-License-Identifier: MIT */
/*
 * Whether a query can fail.
 */
#ifndef VDBQ_PLAN_TREE_NODE_FAILS_H
#define VDBQ_PLAN_TREE_NODE_FAILS_H

#include "plan/tree/node.h"

/* Whether the node itself can fail for some row, whatever is below it. */
bool node_fails(const struct node *node);
/* Whether a result of a SELECT can. */
bool node_results_fail(const struct node *select);
/* Whether the node or one below it can. */
bool node_tree_fails(const struct node *node);

#endif
