/* SPDX-License-Identifier: MIT */
/*
 * Conditions that follow by equality.
 */
#ifndef VDBQ_PLAN_REWRITE_FOLLOW_H
#define VDBQ_PLAN_REWRITE_FOLLOW_H

#include "plan/tree/node.h"

struct binder;

/* What holds for a key of a join on one side is tested on the other side, too,
 * in the whole tree. The same columns. */
struct node *follow(struct binder *binder, struct node *node);

#endif
