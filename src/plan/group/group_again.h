/* SPDX-License-Identifier: MIT */
/*
 * Groups that are made of other groups.
 */
#ifndef VDBQ_PLAN_GROUP_AGAIN_H
#define VDBQ_PLAN_GROUP_AGAIN_H

#include "plan/tree/node.h"

struct binder;

/* Groups that stand side by side in a concat, over the same rows, are made of those
 * with more keys, where these are few. */
struct node *group_again(struct binder *binder, struct node *node);

#endif
