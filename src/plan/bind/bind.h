/* SPDX-License-Identifier: MIT */
/*
 * The tree of an expression becomes an expression over the columns in scope.
 */
#ifndef VDBQ_PLAN_BIND_BIND_H
#define VDBQ_PLAN_BIND_BIND_H

#include "plan/tree/expression.h"

struct node;

struct binder;

/* bind.c */
struct expression *bind_expression(struct binder *binder,
                                   const struct ast_expression *tree);

struct expression *bind_condition(struct binder *binder,
                                  const struct ast_expression *tree);

/* Of (a, b) = (SELECT ...): column `number` of the query, which has `width` of
 * them, as a value. */
struct expression *bind_subquery_column(struct binder *binder,
                                        const struct ast_expression *tree,
                                        unsigned number, unsigned width);

/* Whether a node, a query's, has rows; `asked`: how many values the queries around
 * were asked for before it was bound. */
struct expression *bind_exists(struct binder *binder,
                               const struct ast_expression *tree,
                               struct node *node, size_t asked);

/* An item of a list of IN, which has no affinity and no collation. */
struct expression *bind_item(struct binder *binder,
                             const struct ast_item *item);

/* Whether the operand is among rows of one column. */
struct expression *bind_in_rows(struct binder *binder,
                                struct expression *operand, struct node *node,
                                struct position at);

/* bind_function.c */
struct expression *bind_function(struct binder *binder,
                                 const struct ast_expression *tree);

/* interval.c: whether an operand of a tree is an interval, and what such a tree is, of
 * which `bind` binds parts. NULL: a failure. */
typedef struct expression *(*expression_binder)(
    struct binder *binder, const struct ast_expression *tree);
bool interval_stands_in(const struct ast_expression *tree);
/* Whether a tree is an interval of a number of units that is written there. */
bool interval_alone(const struct ast_expression *tree, enum ast_unit *unit,
                    int64_t *count);
struct expression *interval_operator(struct binder *binder,
                                     const struct ast_expression *tree,
                                     expression_binder bind);

#endif
