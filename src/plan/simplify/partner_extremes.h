/* SPDX-License-Identifier: MIT */
/*
 * Semi and anti joins with a comparison, by the extremes of each key.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_PARTNER_EXTREMES_H
#define VDBQ_PLAN_SIMPLIFY_PARTNER_EXTREMES_H

#include "plan/tree/node.h"

struct binder;

/* A semi or anti join by a key, whose condition compares a value of the right
 * side with one of the left, becomes a join with the groups of the right side. */
struct node *partner_extremes(struct binder *binder, struct node *node);

#endif
