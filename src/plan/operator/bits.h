/* SPDX-License-Identifier: MIT */
/*
 * Operators on the bits of integers.
 */
#ifndef VDBQ_PLAN_OPERATOR_BITS_H
#define VDBQ_PLAN_OPERATOR_BITS_H

#include "plan/tree/expression.h"

struct binder;

/* & | << >> of two operands, ~ of the left one alone. A BIGINT, NULL where an
 * operand is. NULL: a failure, which is in the binder's error. */
struct expression *expression_bits(struct binder *binder,
                                   enum ast_operator operator,
                                   struct expression * left,
                                   struct expression *right,
                                   const struct ast_expression *tree);

/* The bits that one of both has. NULL likewise. */
struct expression *expression_bits_xor(struct binder *binder,
                                       struct expression *left,
                                       struct expression *right,
                                       struct position at);

#endif
