/* SPDX-License-Identifier: MIT */
/*
 * Nodes that only add columns, which nobody reads.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_UNREAD_H
#define VDBQ_PLAN_SIMPLIFY_UNREAD_H

#include "plan/tree/node.h"

struct binder;

/* unread.c: leaves out joins, windows, functions and subqueries of which no
 * column is read and that leave the rows as they are. */
struct node *drop_unread(struct binder *binder, struct node *node);

#endif
