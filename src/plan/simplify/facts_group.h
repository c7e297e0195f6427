/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of whole tables.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_FACTS_GROUP_H
#define VDBQ_PLAN_SIMPLIFY_FACTS_GROUP_H

#include "plan/tree/node.h"

struct binder;

/* facts_group.c: counts, minima and maxima of a whole table become values that
 * the catalogue has. */
struct node *group_facts(struct binder *binder, struct node *node);

#endif
