/* SPDX-License-Identifier: MIT */
/*
 * Conditions of a subquery that name an outer query's columns, taken out of
 * it.
 */
#ifndef VDBQ_PLAN_UNNEST_DECORRELATE_H
#define VDBQ_PLAN_UNNEST_DECORRELATE_H

#include "plan/tree/node.h"

struct binder;

struct decorrelating {
    struct binder *binder;
    const struct vector *parameters; /* of struct outer_value: the outer
                                        query's                           */
    struct vector parts; /* of struct expression *: what was taken out, over the
                            columns of the node that was made             */
    bool refused;        /* it cannot be done; no failure                 */
};

/* Makes the node without what is taken out; its columns, and those that the
 * parts need behind them. NULL: refused, or a failure. */
struct node *decorrelate_conditions(struct decorrelating *decorrelating,
                                    struct node *node);

/* The same with a NODE_GROUP without keys: all parts compare a column with
 * outer values, and these columns become the keys. There is no row then for
 * values that nothing equals. */
struct node *decorrelate_whole_group(struct decorrelating *decorrelating,
                                     struct node *node);

/* decorrelate_connect.c: the rows of `below`, joined with those of the node that was
 * made by the parts that were taken out; `operand` (NULL: none) equals its
 * column 0. NULL: a failure. */
struct node *decorrelate_connect(struct decorrelating *decorrelating,
                                 enum join_kind kind, struct node *below,
                                 struct node *inner,
                                 struct expression *operand);
/* Whether a part is an equality or makes a range, `middle` columns being those of
 * the rows that ask: else all rows would meet all rows. */
bool decorrelate_can_connect(const struct decorrelating *decorrelating,
                             unsigned middle);

/* Whether an expression has a value of the outer query, or none. */
bool decorrelate_is_outer(const struct vector *parameters,
                          const struct expression *e);
/* Whether an expression of a node, or of one below it, has. */
bool decorrelate_node_is_outer(const struct vector *parameters,
                               const struct node *node);
/* Whether what `fails` stands in the way: not where the query is run in the hope
 * that nothing does (plan.h). */
bool decorrelate_fails(struct binder *binder, bool fails);
/* Whether an equality has columns on one side and the outer query's values,
 * and nothing else, on the other. */
bool decorrelate_equality(const struct vector *parameters,
                          const struct expression *e, struct expression **inner,
                          struct expression **outer);

#endif
