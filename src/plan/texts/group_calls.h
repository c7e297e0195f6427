/* SPDX-License-Identifier: MIT */
/*
 * Groups by what functions of the host give.
 */
#ifndef VDBQ_PLAN_TEXTS_GROUP_CALLS_H
#define VDBQ_PLAN_TEXTS_GROUP_CALLS_H

#include "plan/tree/node.h"

struct binder;

/* At a group whose keys such functions give, and whose arguments have few different
 * values: what stands in its place, or itself. NULL: a failure. */
struct node *group_calls(struct binder *binder, struct node *node);

#endif
