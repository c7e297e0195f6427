/* SPDX-License-Identifier: MIT */
/*
 * How many rows a node has at most, as a proof: tables are counted.
 */
#ifndef VDBQ_PLAN_TREE_ROWS_MOST_H
#define VDBQ_PLAN_TREE_ROWS_MOST_H

#include "plan/tree/node.h"

/* More rows than that a node never has; UINT64_MAX: it is not known. */
uint64_t node_rows_most(const struct node *node);

/* What the values that a sum over the rows of `below` has are in, 0 among them;
 * false: it may be more than the type holds. */
bool sum_range(const struct node *below, const struct node_column *column,
               struct interval *range);

/* Whether an aggregate of rows of `below` may be more than its type holds, */
bool aggregate_overflows(const struct node *below,
                         const struct step_aggregate *aggregate);
/* ... or one of a NODE_GROUP's. */
bool node_sum_overflows(const struct node *group);

#endif
