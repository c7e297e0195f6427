/* SPDX-License-Identifier: MIT */
/*
 * AND, OR, NOT, and what may stand where something is true or false.
 */
#ifndef VDBQ_PLAN_MAKE_LOGIC_H
#define VDBQ_PLAN_MAKE_LOGIC_H

#include "plan/tree/expression.h"

struct binder;

/* An expression, if it may be a condition: a number. */
struct expression *expression_condition(struct binder *binder,
                                        struct expression *e,
                                        struct position at);

/* logic.c: AND, OR, NOT (`right` NULL). What is false AND anything, or true OR
 * anything, is so at once. */
struct expression *expression_logic(struct binder *binder,
                                    enum ast_operator operator,
                                    struct expression * left,
                                    struct expression *right,
                                    const struct ast_expression *tree);

#endif
