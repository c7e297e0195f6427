/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions of the host.
 */
#ifndef VDBQ_PLAN_MAKE_CALL_H
#define VDBQ_PLAN_MAKE_CALL_H

#include "plan/tree/expression.h"

struct binder;

/* A call of a host function: a constant, a lookup, or one to be extracted. */
struct expression *expression_call(struct binder *binder, const char *name,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at);

#endif
