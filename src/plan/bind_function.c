/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions: the arguments are bound, and the kind of function
 * decides what becomes of them.
 */
#include "plan/call.h"

struct expression *refuse_argument(struct binder *binder,
                                   const struct call *call,
                                   const struct expression *argument)
{
    error_at(binder->error, VDBQ_TYPE, call->tree->at,
             "%s does not take a %s", call->name,
             vdbq_type_name((enum vdbq_type)argument->type));
    return NULL;
}

static struct expression *refuse_aggregate(struct binder *binder,
                                           const struct call *call)
{
    error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
             "the aggregate %s cannot stand here", call->name);
    error_hint(binder->error,
               "aggregates stand in the results, HAVING and ORDER BY of a "
               "query, not in WHERE, GROUP BY or one another");
    return NULL;
}

/* Binds the arguments; aggregates do not stand in aggregates. */
static bool bind_arguments(struct binder *binder, struct call *call,
                           bool aggregate)
{
    bool aggregates = binder->aggregates, windows = binder->windows;

    binder->aggregates &= !aggregate;
    binder->windows &= !aggregate;
    for (const struct ast_value *value = call->tree->arguments; value != NULL;
         value = value->next) {
        struct expression *e;
        if (call->count == CALL_ARGUMENTS_MAX) {
            error_at(binder->error, VDBQ_LIMIT, call->tree->at,
                     "a function takes at most %d arguments", CALL_ARGUMENTS_MAX);
            return false;
        }
        e = bind_expression(binder, value->expression);
        if (e == NULL)
            return false;
        call->arguments[call->count++] = e;
    }
    binder->aggregates = aggregates;
    binder->windows = windows;
    return true;
}

struct expression *bind_function(struct binder *binder,
                                 const struct ast_expression *tree)
{
    struct call call = { .tree = tree, .name = tree->column.text };
    const struct aggregate_name *aggregate = aggregate_named(tree);
    bool is_aggregate = aggregate != NULL && tree->over == NULL;

    if (is_aggregate && !binder->aggregates)
        return refuse_aggregate(binder, &call);
    if (tree->over != NULL && !binder->windows) {
        error_at(binder->error, VDBQ_SYNTAX, tree->at,
                 "window functions stand in the results and ORDER BY only");
        return NULL;
    }
    if (!bind_arguments(binder, &call, is_aggregate))
        return NULL;
    binder->scope->aggregated |= is_aggregate;
    if (is_aggregate)
        return bind_aggregate(binder, &call, aggregate);
    if (tree->over != NULL)
        return bind_window(binder, &call);
    return bind_scalar(binder, &call);
}
