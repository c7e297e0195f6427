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

/* Parts of that, for a query that is bound in rounds: recursive.h. */
struct query_calls {
    struct node *(*query)(struct binder *binder, const struct ast_query *query);
    enum vdbq_status (*names)(struct binder *binder,
                              const struct ast_with *with);
    /* Without WITH and LIMIT; and LIMIT over it. */
    struct node *(*body)(struct binder *binder, const struct ast_query *query);
    enum vdbq_status (*limit)(struct binder *binder,
                              const struct ast_query *query,
                              struct node **node);
    /* The operators of a chain, which hangs on the left side, the first one
     * first; NULL: no memory. */
    const struct ast_query **(*chain)(struct binder *binder,
                                      const struct ast_query *query,
                                      size_t *length);
};

#endif
