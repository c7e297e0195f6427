/* SPDX-License-Identifier: MIT */
/*
 * Queries become nodes.
 */
#ifndef VDBQ_PLAN_BIND_QUERY_H
#define VDBQ_PLAN_BIND_QUERY_H

#include "plan/tree/node.h"
#include "parser/ast.h"

struct binder;

/* ORDER BY belongs to the SELECT: it may use what results do not have. */
struct node *bind_select(struct binder *binder, const struct ast_query *query);

/* query.c */
/* The names of WITH, for what is bound from here on. */
enum vdbq_status bind_with_names(struct binder *binder,
                                 const struct ast_with *with);
struct node *bind_query(struct binder *binder, const struct ast_query *query);

#endif
