/* SPDX-License-Identifier: MIT */
/*
 * What the machine does not compute becomes nodes of its own.
 */
#ifndef VDBQ_PLAN_REWRITE_EXTRACT_H
#define VDBQ_PLAN_REWRITE_EXTRACT_H

#include "plan/tree/node.h"

struct binder;

/* What of the expressions is a function of the host or a subquery gets a node
 * over `*node` and becomes a column of it. */
enum vdbq_status extract(struct binder *binder, struct node **node,
                         struct expression **const *expressions, size_t count);

/* Likewise, but a subquery that would run once for each value stays: those that
 * become joins do so, with what has to be extracted before. */
enum vdbq_status extract_joins(struct binder *binder, struct node **node,
                               struct expression **const *expressions,
                               size_t count);

/* join_add_key() for sides that the host may compute, each over its own node. */
enum vdbq_status extract_key(struct binder *binder, struct node *nodes[2],
                             struct expression *left, struct expression *right,
                             struct step_join *join);

enum vdbq_status extract_windows(struct binder *binder, struct node **node,
                                 struct expression **const *expressions,
                                 size_t count);

#endif
