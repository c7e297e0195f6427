/* SPDX-License-Identifier: MIT */
/*
 * Sums of a value and a constant.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_SHIFTED_SUMS_H
#define VDBQ_PLAN_SIMPLIFY_SHIFTED_SUMS_H

#include "plan/tree/node.h"

struct binder;

/* shifted_sums.c: sums of a group that differ in a constant alone become one of
 * its sums. */
struct node *shifted_sums(struct binder *binder, struct node *node);

#endif
