/* SPDX-License-Identifier: MIT */
/*
 * What a node reads of the nodes below it.
 */
#ifndef VDBQ_PLAN_TREE_NODE_READS_H
#define VDBQ_PLAN_TREE_NODE_READS_H

#include "plan/tree/node.h"

/* Sets the flags of the columns of `left` and `right` that the node reads where
 * `needed` of its own are read; flags of a side that it does not have, or of a
 * query that it applies, may be NULL. Not for what FROM says as it is bound. */
void node_reads(struct node *node, const bool *needed, bool *left, bool *right);

/* Sets the flags of the columns that an expression reads; a visitor. */
bool expression_reads(void *flags, struct expression **operand);

#endif
