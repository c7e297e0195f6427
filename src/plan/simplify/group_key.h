/* SPDX-License-Identifier: MIT */
/*
 * Groups of one row each.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_GROUP_KEY_H
#define VDBQ_PLAN_SIMPLIFY_GROUP_KEY_H

#include "plan/tree/node.h"

struct binder;

/* group_key.c: a group or DISTINCT whose keys no two rows share becomes what it
 * computes of each row. */
struct node *ungroup(struct binder *binder, struct node *node);

#endif
