/* SPDX-License-Identifier: MIT */
/*
 * Row values: (a, b) compared with another row, with the columns of a subquery, or
 * with the rows of a list.
 */
#ifndef VDBQ_PLAN_BIND_ROW_VALUE_H
#define VDBQ_PLAN_BIND_ROW_VALUE_H

#include "plan/tree/expression.h"

struct binder;

/* Whether one side of an operator, or of BETWEEN or IN, is a row. */
bool row_value_stands_in(const struct ast_expression *tree);

/* The three of which one side is a row. NULL: a failure, among others where the
 * sides have not as many values. */
struct expression *row_value_operator(struct binder *binder,
                                      const struct ast_expression *tree);
struct expression *row_value_between(struct binder *binder,
                                     const struct ast_expression *tree);
struct expression *row_value_in(struct binder *binder,
                                const struct ast_expression *tree);

/* Says that a row stands where one value is wanted. */
void row_value_refuse(struct binder *binder, const struct ast_expression *tree);

#endif
