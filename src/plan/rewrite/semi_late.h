/* SPDX-License-Identifier: MIT */
/*
 * When semi and anti joins are made.
 */
#ifndef VDBQ_PLAN_REWRITE_SEMI_LATE_H
#define VDBQ_PLAN_REWRITE_SEMI_LATE_H

#include "plan/tree/node.h"

struct binder;

/* Semi and anti joins below inner joins that leave few rows are made over
 * those, in the whole tree. The same columns, rows and order. */
struct node *semi_late(struct binder *binder, struct node *node);

#endif
