/* SPDX-License-Identifier: MIT */
/*
 * What several files of binding share: a term of an ORDER BY, COLLATE behind a
 * result, and the refusal of an argument.
 */
#include "plan/bind/clause.h"

#include "plan/bind/call.h"
#include "plan/operator/collate.h"
#include "plan/tree/binder.h"
#include "base/type.h"

struct order_term order_term(const struct ast_order *order,
                             struct expression *expression)
{
    struct order_term term = { .expression = expression,
                               .descending = order->descending,
                               .collation = collation_of(expression),
                               .result = -1 };

    term.nulls_last =
        order->nulls == AST_NULLS_LAST
        || (order->nulls == AST_NULLS_DEFAULT && order->descending);
    return term;
}

const struct ast_expression *
named_before_collate(const struct ast_expression *tree)
{
    while (tree->kind == AST_COLLATE)
        tree = tree->left;
    return tree;
}

struct expression *collated_result(struct binder *binder,
                                   struct expression *result,
                                   const struct ast_expression *tree)
{
    if (result == NULL || tree->kind != AST_COLLATE)
        return result;
    return expression_collated(
        binder, result,
        (struct collating){ tree->collation, COLLATED_EXPLICITLY });
}

struct expression *refuse_argument(struct binder *binder,
                                   const struct call *call,
                                   const struct expression *argument)
{
    error_at(binder->error, VDBQ_TYPE, call->tree->at, "%s does not take a %s",
             call->name, type_name((enum vdbq_type)argument->type));
    return NULL;
}
