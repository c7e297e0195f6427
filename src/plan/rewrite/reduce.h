/* SPDX-License-Identifier: MIT */
/*
 * Semi-join reduction.
 */
#ifndef VDBQ_PLAN_REWRITE_REDUCE_H
#define VDBQ_PLAN_REWRITE_REDUCE_H

#include "plan/tree/node.h"

struct binder;

/* Rows that find no partner in a join are left out before they are grouped or
 * indexed, where that pays, in the whole tree. The same columns, rows and
 * order. */
struct node *reduce(struct binder *binder, struct node *node);

#endif
