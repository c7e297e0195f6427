/* SPDX-License-Identifier: MIT */
/*
 * The tree of an expression becomes an expression over the columns in scope.
 */
#ifndef VDBQ_PLAN_BIND_BIND_H
#define VDBQ_PLAN_BIND_BIND_H

#include "plan/tree/expression.h"

struct binder;

/* bind.c */
struct expression *bind_expression(struct binder *binder,
                                   const struct ast_expression *tree);

struct expression *bind_condition(struct binder *binder,
                                  const struct ast_expression *tree);

/* bind_function.c */
struct expression *bind_function(struct binder *binder,
                                 const struct ast_expression *tree);

#endif
