/* SPDX-License-Identifier: MIT */
/*
 * The first rows in an order, and least and greatest values, where an index has
 * them.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_ORDER_H
#define VDBQ_PLAN_INDEX_INDEX_ORDER_H

#include "plan/tree/node.h"

struct binder;

/* Below a NODE_SORT with a limit, or a NODE_GROUP of MIN and MAX of one column,
 * puts a NODE_SEEK in a table's place that finds the rows that can be among the
 * first ones. False: a failure, which the binder has. */
bool index_order(struct binder *binder, struct node *node);

#endif
