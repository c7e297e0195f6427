/* SPDX-License-Identifier: MIT */
/*
 * Equal queries inside of one are run once.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_SHARE_H
#define VDBQ_PLAN_SIMPLIFY_SHARE_H

#include "plan/tree/node.h"

struct binder;

/* share.c: one node stands in the places of equal ones, and is a step. */
struct node *share_nodes(struct binder *binder, struct node *node);
/* Likewise, while trees still change: so far it is a node with several readers, whose rows
 * nobody reduces for one of them. */
struct node *share_early(struct binder *binder, struct node *node);

/* Whether rows of such a node are worth keeping for several readers; it is
 * estimated. */
bool share_pays(const struct node *node);

/* common.c: the trees of common subplans take the places of what reads them,
 * below `*root` and there. False: a failure. */
bool common_expand(struct binder *binder, struct node **root);

/* Whether a node needs the columns of what is below it as they are; NULL: the
 * statement itself. */
bool share_is_bare(const struct node *parent);
/* A node over another one with its columns, which stays one of its own. */
struct node *share_over(struct binder *binder, struct node *node);
/* Puts what is shared in a place. A step has the columns that any of its readers
 * wants; those that want theirs alone (`bare`) read it through a SELECT. */
bool share_put(struct binder *binder, struct node *shared, bool bare,
               struct node **place);

/* Has the node in a place read by somebody else, too: as a step, which then stands
 * there. False: no memory. */
bool share_twice(struct binder *binder, struct node **place);

/* answer_join.c: a subquery that gives one value, whatever row asks, is joined:
 * it is a part of the query around it then. */
struct node *join_answers(struct binder *binder, struct node *node);
/* Whether a join puts such an answer, and nothing else, beside each row. */
bool share_has_answer(const struct node *join);

/* Whether a node is a step by itself, so that it can be read twice. Joins may be
 * parts of a program; a SELECT over them is all of it. */
bool share_is_step(const struct node *node);

#endif
