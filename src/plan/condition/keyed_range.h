/* SPDX-License-Identifier: MIT */
/*
 * Joins by keys whose conditions bound a value, too.
 */
#ifndef VDBQ_PLAN_CONDITION_KEYED_RANGE_H
#define VDBQ_PLAN_CONDITION_KEYED_RANGE_H

#include "plan/tree/node.h"

struct binder;

/* keyed_range.c: gives a join by keys a range in which only partners lie, where that
 * pays. */
struct node *keyed_ranges(struct binder *binder, struct node *node);

#endif
