/* SPDX-License-Identifier: MIT */
/*
 * What an OR says of one part of FROM.
 */
#ifndef VDBQ_PLAN_REWRITE_IMPLY_H
#define VDBQ_PLAN_REWRITE_IMPLY_H

#include "plan/tree/node.h"

struct binder;

/* What each branch of an OR asks of the same part of FROM is one more condition
 * of a product, as OR of these alone; other nodes stay as they are. The same
 * rows. NULL: a failure. */
struct node *imply_filters(struct binder *binder, struct node *product);

#endif
