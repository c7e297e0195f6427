/* SPDX-License-Identifier: MIT */
/*
 * Equal queries inside of one are run once.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_SHARE_H
#define VDBQ_PLAN_SIMPLIFY_SHARE_H

#include "plan/tree/node.h"

struct binder;

/* share.c: one node stands in the places of equal ones. */
struct node *share_nodes(struct binder *binder, struct node *node);

/* Whether rows of such a node are worth keeping for several readers; it is
 * estimated. */
bool share_pays(const struct node *node);

/* answer_join.c: a subquery that gives one value, whatever row asks, is joined:
 * it is a part of the query around it then. */
struct node *join_answers(struct binder *binder, struct node *node);

#endif
