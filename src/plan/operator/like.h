/* SPDX-License-Identifier: MIT */
/*
 * LIKE and GLOB.
 */
#ifndef VDBQ_PLAN_LIKE_H
#define VDBQ_PLAN_LIKE_H

#include "plan/tree/expression.h"

struct binder;

/* LIKE or GLOB: a text, a pattern, maybe an escape, which must be one
 * character. */
struct expression *expression_like(struct binder *binder, const char *name,
                                   struct expression **operands, unsigned count,
                                   struct position at);

#endif
