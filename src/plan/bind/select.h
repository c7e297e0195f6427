/* SPDX-License-Identifier: MIT */
/*
 * A SELECT while it becomes nodes. Everything in it is bound over the columns
 * of FROM first; then one node is put over the other, and what is left to
 * compute is made to name the columns of the uppermost one.
 */
#ifndef VDBQ_PLAN_BIND_SELECT_H
#define VDBQ_PLAN_BIND_SELECT_H

#include "parser/ast.h"
#include "plan/tree/node.h"

struct binder;

/* select.c */
struct result {
    const char *name;
    bool alias; /* the name was given by AS */
    struct expression *expression;
};

/* Binds a list of results: each becomes a struct result, `*` several. */
enum vdbq_status bind_result_list(struct binder *binder,
                                  const struct ast_result *list,
                                  struct vector *results);

struct selecting {
    struct binder *binder;
    const struct ast_query *query;
    const struct ast_select *select;
    struct vector results;      /* of struct result                         */
    struct vector order;        /* of struct order_term                     */
    struct vector distinct_on;  /* of struct expression *: DISTINCT ON */
    struct vector keys;         /* of struct expression *: GROUP BY         */
    struct vector aggregates;   /* of struct expression *: those in use     */
    struct expression *having;  /* NULL: none, or it was tested            */
    struct expression *qualify; /* NULL: none                              */
    struct node *node;          /* the uppermost one so far                 */
};

/* select_group.c: the rows at hand become groups, one for each combination of
 * the keys' values, and all expressions are over these. */
enum vdbq_status select_group(struct selecting *selecting);

/* select_output.c: the results of the rows at hand, and all that follows them.
 * NULL: a failure. */
struct node *select_output(struct selecting *selecting);

/* select_output.c: the number of a result that is this expression, or -1. */
int select_result_of(const struct selecting *selecting,
                     const struct expression *e);

/* select_group.c: a column outside of aggregates and keys, or what all rows of a
 * group have: that of the group's first row. NULL: a failure. */
struct expression *select_first(struct binder *binder,
                                struct expression *column);

/* quantile.c: the expression with what the symbols of bind_quantile() are made
 * of, once the keys of the groups are known. NULL: a failure. */
struct expression *quantile_expand(struct selecting *selecting,
                                   struct expression *e);

#endif
