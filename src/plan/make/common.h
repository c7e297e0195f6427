/* SPDX-License-Identifier: MIT */
/*
 * The making of common subplans: plan/tree/common.h.
 */
#ifndef VDBQ_PLAN_MAKE_COMMON_H
#define VDBQ_PLAN_MAKE_COMMON_H

#include "plan/tree/common.h"

struct binder;

/* Whether the statement has so many nodes that what several places name is to be
 * a common subplan. Before, each place has a tree of its own, which passes may
 * change for it; so it would be with each name of WITH that another one uses
 * twice, and their number would double. */
bool common_is_due(const struct binder *binder);

/* The one that is bound from a name of WITH, or a view; NULL: there is none. */
struct common *common_find(const struct binder *binder, const void *of);

/* A new one with that tree. NULL: a failure. */
struct common *common_new(struct binder *binder, const void *of,
                          struct node *root);

/* Its tree is rewritten: what is known of it. */
void common_settle(struct binder *binder, struct common *common);

/* One more place that reads it. NULL: a failure. */
struct node *node_common(struct binder *binder, struct common *common);

/* A rewritten node that is to be copied, or to stand in one more place: if its
 * tree is large, it becomes the leaf that reads it, in all places that it has.
 * False: a failure. */
bool common_part(struct binder *binder, struct node *node);

/* The tree itself, in the only place that reads it. */
struct node *common_inline(const struct node *leaf);

#endif
