/* SPDX-License-Identifier: MIT */
/*
 * The tree of a query as text, a line a node, for EXPLAIN (TREE). Columns have
 * the names that the statement gives them; what has none is shown as what it is
 * computed of. A failure to grow sticks in the text.
 */
#ifndef VDBQ_PLAN_TREE_PRINT_H
#define VDBQ_PLAN_TREE_PRINT_H

#include "base/text.h"
#include "base/vector.h"
#include "plan/tree/node.h"

/* A node and all below it; each line begins with "; ". */
void tree_print(const struct node *node, struct text *text);

/* Where expressions stand: what their columns and parameters mean. */
struct print_scope {
    const struct node *left, *right; /* whose columns are numbered one after
                                        the other; right: NULL where there is
                                        one                              */
    const struct vector *asked;      /* of struct outer_value: what a subquery
                                        asks of the query around it ...  */
    const struct vector *applied;    /* ... or of struct step_parameter;
                                        both are over `outer`            */
    const struct print_scope *outer; /* NULL: there is no query around   */
};

/* print_expression.c */

/* Subqueries in it are added to `subqueries` (of struct subquery *) and shown
 * by their numbers there, from 1. */
void print_expression(const struct print_scope *scope,
                      const struct expression *e, struct vector *subqueries,
                      struct text *text);
/* "count(distinct x) filter (where y)", over the columns in scope. */
void print_aggregate(const struct print_scope *scope,
                     const struct step_aggregate *aggregate, struct text *text);
void print_window(const struct print_scope *scope,
                  const struct step_window_function *function,
                  struct text *text);
/* DESC and where NULLs go, where that is not what ascending order gives. */
void print_direction(bool descending, bool nulls_last, struct text *text);

/* print_column.c */

void print_column(const struct print_scope *scope, int column,
                  struct text *text);

#endif
