/* SPDX-License-Identifier: MIT */
/*
 * Subqueries become joins.
 */
#ifndef VDBQ_PLAN_UNNEST_UNNEST_H
#define VDBQ_PLAN_UNNEST_UNNEST_H

#include "plan/tree/node.h"

struct binder;

/* The rows of a node that a condition keeps, by a join. NULL: a failure, or
 * where not `*done`, it is not a condition like that. */
struct node *unnest_filter(struct binder *binder, struct node *below,
                           const struct expression *e, bool *done);

/* The rows of a node with the value of a subquery beside; `*value`: over the
 * columns of what is returned. NULL: likewise. */
struct node *unnest_value(struct binder *binder, struct node *below,
                          const struct expression *e, struct expression **value,
                          bool *done);

#endif
