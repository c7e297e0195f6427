/* SPDX-License-Identifier: MIT */
/*
 * Arguments of functions that are called with what others gave: sink_arguments.h. Each
 * that has no function itself becomes a column below all functions.
 */
#include "plan/simplify/sink_arguments.h"

#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"

struct sinking {
    struct binder *binder;
    struct node *below; /* that gets the columns */
};

static struct expression *sink(struct sinking *sinking, struct expression *e);

/* A call whose arguments went below; NULL: it is none with another one in it. */
static struct expression *sink_call(void *context, struct expression *e,
                                    bool *failed)
{
    struct sinking *sinking = context;
    struct expression **arguments, *call;

    if (e->kind != EXPRESSION_FUNCTION || expression_is_ready(e))
        return NULL;
    call = arena_alloc(sinking->binder->arena, sizeof *call);
    arguments = arena_alloc(sinking->binder->arena,
                            e->call.count * sizeof(struct expression *));
    *failed = call == NULL || arguments == NULL;
    if (*failed)
        return error_no_memory(sinking->binder->error), NULL;
    for (unsigned i = 0; i < e->call.count && !*failed; i++) {
        arguments[i] = sink(sinking, e->call.arguments[i]);
        *failed = arguments[i] == NULL;
    }
    *call = *e;
    call->call.arguments = arguments;
    return *failed ? NULL : call;
}

/* What stands for an argument. */
static struct expression *sink(struct sinking *sinking, struct expression *e)
{
    struct binder *binder = sinking->binder;
    int column;

    if (e->kind == EXPRESSION_COLUMN)
        return e;
    if (!expression_is_plain(e))
        return expression_replace(binder, e, sink_call, sinking);
    column = node_column_for(binder, &sinking->below, e);
    return column < 0
               ? NULL
               : node_column(binder, sinking->below, (unsigned)column, e->at);
}

bool sink_arguments(struct binder *binder, struct node **node,
                    struct expression **const *expressions, size_t count)
{
    struct sinking sinking = { binder, *node };

    for (size_t i = 0; i < count; i++) {
        *expressions[i] =
            expression_replace(binder, *expressions[i], sink_call, &sinking);
        if (*expressions[i] == NULL)
            return false;
    }
    *node = sinking.below;
    return true;
}
