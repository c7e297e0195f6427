/* SPDX-License-Identifier: MIT */
/*
 * x < ANY (query), x >= ALL (query).
 */
#ifndef VDBQ_PLAN_BIND_QUANTIFIED_H
#define VDBQ_PLAN_BIND_QUANTIFIED_H

#include "plan/tree/expression.h"

struct binder;

/* NULL: a failure, which is in the binder's error. */
struct expression *bind_quantified(struct binder *binder,
                                   const struct ast_expression *tree);

#endif
