/* SPDX-License-Identifier: MIT */
/*
 * Any operator of SQL.
 */
#ifndef VDBQ_PLAN_OPERATOR_OPERATOR_H
#define VDBQ_PLAN_OPERATOR_OPERATOR_H

#include "plan/tree/expression.h"

struct binder;

/* An operator with its type. `tree` gives the place, and may be any. */
struct expression *expression_operator(struct binder *binder,
                                       enum ast_operator operator,
                                       struct expression * left,
                                       struct expression *right,
                                       const struct ast_expression *tree);

/* Whether `e` IS (AST_IS) or IS NOT (AST_IS_NOT) NULL, as if that were written at
 * `tree`. NULL: a failure, also where `e` is NULL. */
struct expression *expression_null_test(struct binder *binder,
                                        enum ast_operator is,
                                        struct expression *e,
                                        const struct ast_expression *tree);

/* The value where it is not NULL, else the number, as the value's type. */
struct expression *expression_value_or(struct binder *binder,
                                       struct expression *value, int number);

#endif
