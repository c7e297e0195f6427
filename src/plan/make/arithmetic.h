/* SPDX-License-Identifier: MIT */
/*
 * Operators of numbers and dates.
 */
#ifndef VDBQ_PLAN_MAKE_ARITHMETIC_H
#define VDBQ_PLAN_MAKE_ARITHMETIC_H

#include "plan/tree/expression.h"

struct binder;

/* arithmetic.c: + - * / % of operands that are no NULLs of their own; a minus. */
struct expression *expression_arithmetic(struct binder *binder,
                                         enum ast_operator operator,
                                         struct expression * left,
                                         struct expression *right,
                                         const struct ast_expression *tree);

struct expression *expression_minus(struct binder *binder,
                                    struct expression *operand,
                                    const struct ast_expression *tree);

#endif
