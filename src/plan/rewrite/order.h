/* SPDX-License-Identifier: MIT */
/*
 * Inner joins in the order that costs least.
 */
#ifndef VDBQ_PLAN_REWRITE_ORDER_H
#define VDBQ_PLAN_REWRITE_ORDER_H

#include "plan/tree/node.h"

struct binder;

/* Conditions about one part of a NODE_PRODUCT go down into it, or become joins
 * of it; the others stay. It is the same node. */
struct node *filter_product(struct binder *binder, struct node *product);
/* Joins the parts of a NODE_PRODUCT. The columns of the result are the
 * product's, in order. */
struct node *join_product(struct binder *binder, const struct node *product);
/* Keeps the rows of a node for which something holds that may have to be
 * extracted first. */
enum vdbq_status filter_by(struct binder *binder, struct node **node,
                           struct expression *e);

#endif
