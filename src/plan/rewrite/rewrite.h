/* SPDX-License-Identifier: MIT */
/*
 * What a bound query becomes before it is lowered.
 */
#ifndef VDBQ_PLAN_REWRITE_REWRITE_H
#define VDBQ_PLAN_REWRITE_REWRITE_H

#include "plan/tree/node.h"

struct binder;

/* rewrite.c: what a query becomes before it is lowered. */
struct node *rewrite(struct binder *binder, struct node *node);

#endif
