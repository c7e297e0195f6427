/* SPDX-License-Identifier: MIT */
/*
 * Outer joins whose NULLs somebody above refuses.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_REFUSED_H
#define VDBQ_PLAN_SIMPLIFY_REFUSED_H

#include "plan/tree/node.h"

struct binder;

/* refused.c: makes outer joins inner ones, or outer on one side only, where rows
 * with NULLs in the place of a partner are kept by nobody. */
struct node *refuse_nulls(struct binder *binder, struct node *node);

/* Makes an anti join of a left one where a condition over it keeps no rows with a
 * partner. */
struct node *anti_joins(struct binder *binder, struct node *node);

#endif
