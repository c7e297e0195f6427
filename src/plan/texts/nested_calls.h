/* SPDX-License-Identifier: MIT */
/*
 * Calls of what calls give, as one.
 */
#ifndef VDBQ_PLAN_TEXTS_NESTED_CALLS_H
#define VDBQ_PLAN_TEXTS_NESTED_CALLS_H

#include "plan/tree/node.h"

struct binder;

/* Look-ups of what look-ups of a column with many words give become one, and so do
 * comparisons of such texts with constants: after indexes of expressions were chosen.
 * NULL: a failure. */
struct node *nested_calls(struct binder *binder, struct node *root);

#endif
