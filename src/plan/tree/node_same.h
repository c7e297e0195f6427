/* SPDX-License-Identifier: MIT */
/*
 * Queries that are equal.
 */
#ifndef VDBQ_PLAN_TREE_NODE_SAME_H
#define VDBQ_PLAN_TREE_NODE_SAME_H

#include "plan/tree/node.h"

/* Whether both give the same rows in the same order. False: it is not known.
 * Not for what FROM says as it is bound. `walk`: a walk in which nodes that were
 * found equal stay so, which it remembers, since they may stand in many places;
 * 0: none. */
bool node_same(const struct node *a, struct node *b, unsigned walk);

#endif
