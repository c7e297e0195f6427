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

/* Operators of expressions that nobody wrote: of a number and a constant. Those
 * of comparisons need no rule of affinity. `left` NULL: NULL. */
struct expression *expression_calculate(struct binder *binder,
                                        enum ast_operator operator,
                                        struct expression * left, int64_t right,
                                        struct position at);

struct expression *expression_minus(struct binder *binder,
                                    struct expression *operand,
                                    const struct ast_expression *tree);

#endif
