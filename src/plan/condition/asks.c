/* SPDX-License-Identifier: MIT */
#include "plan/condition/asks.h"

#include "plan/tree/expression.h"
#include "plan/tree/node_fails.h"

static bool look(void *context, struct expression **operand)
{
    struct asks *asks = context;
    const struct expression *e = *operand;

    if (e->kind != EXPRESSION_SUBQUERY)
        return expression_each(*operand, look, context);
    asks->any = true;
    asks->early &= e->subquery->kind == APPLY_SCALAR
                   && !node_tree_fails(e->subquery->node);
    asks->of_row |= e->subquery->parameters.count > 0;
    return true;
}

struct asks condition_asks(struct expression *e)
{
    struct asks asks = { .early = !e->faults };

    look(&asks, &e);
    asks.early &= asks.any;
    return asks;
}
