/* SPDX-License-Identifier: MIT */
/*
 * TRY_CAST: as CAST, but what CAST fails for is NULL, and so is a text that is
 * no value of the type as a whole.
 */
#ifndef VDBQ_PLAN_OPERATOR_TRY_CAST_H
#define VDBQ_PLAN_OPERATOR_TRY_CAST_H

#include "plan/tree/expression.h"

struct binder;

/* NULL: a failure, as of types of which none becomes the other. */
struct expression *expression_try_cast(struct binder *binder,
                                       struct expression *operand,
                                       struct ast_type type,
                                       struct position at);

#endif
