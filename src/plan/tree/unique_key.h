/* SPDX-License-Identifier: MIT */
/*
 * The proof that columns of a node are unique.
 */
#ifndef VDBQ_PLAN_TREE_UNIQUE_KEY_H
#define VDBQ_PLAN_TREE_UNIQUE_KEY_H

#include "plan/tree/node.h"

/* Whether no two rows of the node can have equal values in all of these
 * columns; of rows with a NULL among them nothing is said, and without a
 * column it is whether there is at most one row. False: it is not known.
 * unique_key.c. */
bool node_is_unique(const struct node *node, const int *columns,
                    unsigned count);

#endif
