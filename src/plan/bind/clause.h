/* SPDX-License-Identifier: MIT */
/*
 * What several clauses have in common.
 */
#ifndef VDBQ_PLAN_BIND_CLAUSE_H
#define VDBQ_PLAN_BIND_CLAUSE_H

#include "plan/tree/expression.h"

struct binder;

/* ASC or DESC, and where NULLs go. */
struct order_term order_term(const struct ast_order *order,
                             struct expression *expression);

/* The terms of a query's ORDER BY, of a query with that many results: ALL is one term
 * a result. False: no memory, which is the binder's failure. */
bool order_terms(struct binder *binder, const struct ast_query *query,
                 unsigned results, const struct ast_order **terms);

/* What a result is named by, in front of a COLLATE: 1 COLLATE NOCASE. */
const struct ast_expression *
named_before_collate(const struct ast_expression *tree);
/* The result, in the collation that the tree says, if it does. */
struct expression *collated_result(struct binder *binder,
                                   struct expression *result,
                                   const struct ast_expression *tree);

/* The constant that a tree of AST_INTEGER to AST_FALSE is; of a text, its bytes
 * stay where they are. */
struct expression *bind_literal(struct binder *binder,
                                const struct ast_expression *tree);

/* What a window is, with what it has of those of the clause WINDOW that it names:
 * `*whole`. False: a failure. */
bool window_whole(struct binder *binder, const struct ast_window *window,
                  struct ast_window *whole);
/* Each name of the clause is there once, and what it is based on stands before it. */
enum vdbq_status check_windows(struct binder *binder);

#endif
