/* SPDX-License-Identifier: MIT */
/*
 * Parts of expressions replaced by others, and what is constant by that,
 * folded.
 */
#include "plan/make/replace.h"

#include <string.h>

#include "base/os/stack.h"
#include "plan/make/fold.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* What expression_replace() hands down. */
struct replacing {
    struct binder *binder;
    expression_replacer replacer;
    void *context;
    bool any; /* an operand was replaced */
};

static bool replace_operand(void *context, struct expression **operand)
{
    struct replacing *replacing = context;
    struct expression *before = *operand;

    *operand = expression_replace(replacing->binder, before,
                                  replacing->replacer, replacing->context);
    replacing->any |= *operand != before;
    return *operand != NULL;
}

static bool own_arguments(struct binder *binder, struct expression *e)
{
    size_t size = e->call.count * sizeof *e->call.arguments;
    struct expression **own = arena_alloc(binder->arena, size);

    if (own != NULL)
        memcpy(own, e->call.arguments, size);
    e->call.arguments = own;
    return own != NULL;
}

static bool own_window(struct binder *binder, struct expression *e)
{
    struct window *own = arena_alloc(binder->arena, sizeof *own);

    if (own == NULL)
        return false;
    *own = *e->window;
    e->window = own;
    return arena_vector_copy(binder->arena, &own->partition, &own->partition)
           && arena_vector_copy(binder->arena, &own->order, &own->order);
}

static bool own_subquery(struct binder *binder, struct expression *e)
{
    struct subquery *own = arena_alloc(binder->arena, sizeof *own);

    if (own == NULL)
        return false;
    *own = *e->subquery;
    e->subquery = own;
    return arena_vector_copy(binder->arena, &own->parameters, &own->parameters);
}

/* Copies the lists of operands that a copy still shares with the original, so
 * that these can be replaced in the copy. */
static bool own_lists(struct binder *binder, struct expression *e)
{
    switch (e->kind) {
    case EXPRESSION_FUNCTION:
        return own_arguments(binder, e);
    case EXPRESSION_WINDOW:
        return own_window(binder, e);
    case EXPRESSION_SUBQUERY:
        return own_subquery(binder, e);
    default:
        return true;
    }
}

static bool is_number_constant(const struct expression *e)
{
    return e == NULL
           || (e->kind == EXPRESSION_CONSTANT && e->type != VDBQ_TEXT);
}

/* Whether all operands have become numbers that are known. */
static bool is_foldable(const struct expression *e)
{
    return e->kind >= EXPRESSION_OPERATOR && e->kind <= EXPRESSION_MATH
           && is_number_constant(e->left) && is_number_constant(e->right)
           && is_number_constant(e->condition);
}

static bool is_known_text(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->type == VDBQ_TEXT
           && !e->constant.null;
}

/* Whether it compares texts that have become known. */
static bool compares_texts(const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && is_comparison(e->operation.op)
           && is_known_text(e->left) && is_known_text(e->right);
}

/* A copy whose operands were replaced. */
static struct expression *finish_copy(struct binder *binder,
                                      struct expression *e)
{
    range_update(e);
    if (!expression_fits(binder, e))
        return NULL;
    if (compares_texts(e))
        return fold_texts(binder, e->operation.op, e->left, e->right, e->at);
    if (!is_foldable(e))
        return e;
    return fold(binder, e) == VDBQ_OK ? e : NULL;
}

struct expression *expression_replace(struct binder *binder,
                                      struct expression *e,
                                      expression_replacer replacer,
                                      void *context)
{
    struct replacing replacing = { binder, replacer, context, false };
    struct expression *copy = NULL;
    bool failed = false;

    if (stack_is_short())
        return stack_refuse(binder->error, e->at), NULL;
    copy = replacer(context, e, &failed);
    if (copy != NULL || failed)
        return copy;
    if (e->kind == EXPRESSION_CONSTANT || e->kind == EXPRESSION_COLUMN
        || e->kind == EXPRESSION_PARAMETER)
        return e;
    copy = arena_alloc(binder->arena, sizeof *copy);
    if (copy == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    *copy = *e;
    if (!own_lists(binder, copy)) {
        error_no_memory(binder->error);
        return NULL;
    }
    if (!expression_each(copy, replace_operand, &replacing))
        return NULL;
    if (!replacing.any)
        return e;
    return finish_copy(binder, copy);
}
