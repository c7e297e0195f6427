/* SPDX-License-Identifier: MIT */
/*
 * Outer joins.
 */
#ifndef VDBQ_PLAN_REWRITE_OUTER_H
#define VDBQ_PLAN_REWRITE_OUTER_H

#include "plan/tree/node.h"

struct binder;

/* outer.c: two sides joined by the parts of ON, which are over the columns of
 * both; so is what is returned. */
struct node *join_on(struct binder *binder, enum join_kind kind,
                     struct node *const nodes[2], const struct vector *parts);

/* outer_pairs.c: the same where a part about both sides has something to be
 * extracted. */
struct node *join_by_pairs(struct binder *binder, enum join_kind kind,
                           struct node *const nodes[2],
                           const struct vector *parts);

/* outer_sink.c: before it is rewritten, a FROM gives conditions about the left side of its
 * left joins alone to the FROM there. False: a failure. */
bool outer_sink(struct binder *binder, struct node *product);

#endif
