/* SPDX-License-Identifier: MIT */
/*
 * Joins of few rows with a table that has an index by the key.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_JOIN_H
#define VDBQ_PLAN_INDEX_INDEX_JOIN_H

#include "plan/tree/node.h"

struct binder;

/* Puts a NODE_SEEK for `least` keys or more of one side of a NODE_JOIN in the place
 * of a table on the other side, if that is thought to find few of its rows, and no
 * more than conditions keep. The rows of all nodes are estimated. False: no
 * memory. */
bool index_join(struct binder *binder, struct node *join, unsigned least);

#endif
