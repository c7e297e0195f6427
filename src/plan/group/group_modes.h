/* SPDX-License-Identifier: MIT */
/*
 * The most frequent values of groups.
 */
#ifndef VDBQ_PLAN_GROUP_MODES_H
#define VDBQ_PLAN_GROUP_MODES_H

#include "plan/tree/node.h"

struct binder;

/* At a group that takes the value of its rows that most of them have, and where
 * groups by it are few: what stands in its place, or itself. NULL: a failure. */
struct node *group_modes(struct binder *binder, struct node *node);

#endif
