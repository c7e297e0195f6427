/* SPDX-License-Identifier: MIT */
/*
 * Keys of joins, and sides of what they say.
 */
#ifndef VDBQ_PLAN_CONDITION_JOIN_KEY_H
#define VDBQ_PLAN_CONDITION_JOIN_KEY_H

#include "plan/tree/node.h"

struct binder;

/* Both sides of an equality become columns of one machine type, which the
 * nodes get where they lack them, and keys of a join. */
enum vdbq_status join_add_key(struct binder *binder, struct node *nodes[2],
                              struct expression *left, struct expression *right,
                              struct step_join *join);

/* Which sides' columns an expression needs, where those of the right one are
 * the columns from `middle` on. */
enum { SIDE_LEFT = 1, SIDE_RIGHT = 2 };
int expression_sides(struct expression *e, unsigned middle);

#endif
