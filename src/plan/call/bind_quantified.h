/* SPDX-License-Identifier: MIT */
/*
 * x < ANY (query), x >= ALL (query).
 */
#ifndef VDBQ_PLAN_CALL_BIND_QUANTIFIED_H
#define VDBQ_PLAN_CALL_BIND_QUANTIFIED_H

#include "plan/tree/expression.h"

struct binder;
struct node;

/* What binds its parts; a query is bound to look at its columns alone. */
struct quantified_calls {
    struct expression *(*expression)(struct binder *binder,
                                     const struct ast_expression *tree);
    struct node *(*query)(struct binder *binder, const struct ast_query *query);
};

/* NULL: a failure, which is in the binder's error. */
struct expression *bind_quantified(struct binder *binder,
                                   const struct ast_expression *tree,
                                   const struct quantified_calls *calls);

#endif
