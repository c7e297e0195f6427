/* SPDX-License-Identifier: MIT */
/*
 * RETURNING: results over the rows that a statement changed.
 */
#ifndef VDBQ_PLAN_STATEMENT_RETURNING_H
#define VDBQ_PLAN_STATEMENT_RETURNING_H

#include "parser/ast.h"
#include "plan/plan.h"
#include "plan/tree/node.h"

struct binder;

/* Rows of a table as a node has them. */
struct changed_rows {
    struct node *node;
    const struct table *table;
    const char *called; /* in the statement                                  */
    unsigned first;     /* the node's column that is the table's first one   */
    int id;             /* ... that is the row's id; -1: it is not known yet */
    int keeps;          /* ... that tells whether the row changes, of which else
                           nothing is computed; -1: all do                 */
};

/* Adds the columns of the rows to the binder's scope. */
enum vdbq_status scope_add_rows(struct binder *binder,
                                const struct changed_rows *rows);

/* A node over the rows: first `count` of the node's columns, by their numbers,
 * then the results, which `plan` is told of. A `list` of NULL has none. NULL: a
 * failure. */
struct node *return_results(struct binder *binder,
                            const struct changed_rows *rows, const int *columns,
                            unsigned count, const struct ast_result *list,
                            struct plan *plan);

/* The same with all columns of the table in front. */
struct node *return_all(struct binder *binder, const struct changed_rows *rows,
                        const struct ast_result *list, struct plan *plan);

#endif
