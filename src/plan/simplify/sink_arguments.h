/* SPDX-License-Identifier: MIT */
/*
 * Arguments of functions that are called with what others gave.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_SINK_ARGUMENTS_H
#define VDBQ_PLAN_SIMPLIFY_SINK_ARGUMENTS_H

#include "plan/tree/node.h"

struct binder;

/* Of f(g(x), y + 1), of functions of the host, `*node` computes y + 1 before g is
 * called: so f is called with what g gave, which no program between them has to read.
 * Columns keep their numbers. False: a failure, which the binder has. */
bool sink_arguments(struct binder *binder, struct node **node,
                    struct expression **const *expressions, size_t count);

#endif
