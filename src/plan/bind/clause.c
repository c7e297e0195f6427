/* SPDX-License-Identifier: MIT */
/*
 * What several files of binding share: a term of an ORDER BY, COLLATE behind a
 * result, literals, and the clause WINDOW.
 */
#include "plan/bind/clause.h"

#include <assert.h>

#include "base/text.h"
#include "plan/call/names.h"
#include "plan/bind/scope.h"
#include "plan/make/expression_new.h"
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

/* Terms by the numbers of the results, each as `all` says; NULL: no memory. */
static const struct ast_order *each_result(struct binder *binder,
                                           const struct ast_order *all,
                                           unsigned results)
{
    struct ast_order *terms =
        arena_alloc(binder->arena, (results + 1) * sizeof *terms);
    struct ast_expression *numbers =
        arena_alloc(binder->arena, (results + 1) * sizeof *numbers);

    if (terms == NULL || numbers == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < results; i++) {
        numbers[i] = *all->expression;
        numbers[i].integer = i + 1;
        terms[i] = *all;
        terms[i].expression = &numbers[i];
        terms[i].next = i + 1 < results ? &terms[i + 1] : NULL;
    }
    return terms;
}

bool order_terms(struct binder *binder, const struct ast_query *query,
                 unsigned results, const struct ast_order **terms)
{
    *terms = query->order;
    if (*terms != NULL && (*terms)->all && results > 0)
        *terms = each_result(binder, *terms, results);
    return *terms != NULL || query->order == NULL;
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

/* A number with a point, or a long one, is a DOUBLE; its digits stay for who makes
 * a DECIMAL of it. */
static struct expression *bind_decimal(struct binder *binder,
                                       const struct ast_expression *tree)
{
    struct expression *e =
        expression_real(binder, VDBQ_DOUBLE, tree->decimal, tree->at);
    size_t length = tree->end - tree->begin;
    double same;

    if (e != NULL && tree->end <= binder->sql_length
        && text_to_double(binder->sql + tree->begin, length, &same)
        && same == tree->decimal)
        e->constant.text =
            (struct vdbq_text){ binder->sql + tree->begin, length };
    return e;
}

struct expression *bind_literal(struct binder *binder,
                                const struct ast_expression *tree)
{
    struct vdbq_text text = { tree->string, tree->string_length };

    assert(tree->kind <= AST_FALSE);
    switch (tree->kind) {
    case AST_INTEGER:
        return expression_integer(binder, tree->integer, tree->at);
    case AST_DECIMAL:
        return bind_decimal(binder, tree);
    case AST_STRING:
        return expression_text(binder, text, tree->at);
    case AST_NULL:
        return expression_null(binder, VDBQ_INTEGER, tree->at);
    default:
        return expression_truth(binder, tree->kind == AST_TRUE, tree->at);
    }
}

/* -------------------------------------------------------------- WINDOW -- */

/* The first window of that name before `end`; NULL: there is none. */
static const struct ast_named_window *
find_window(const struct binder *binder, const char *name,
            const struct ast_named_window *end)
{
    const struct ast_named_window *at = binder->scope->windows_named;

    while (at != end && !name_equal(at->name.text, name))
        at = at->next;
    return at != end ? at : NULL;
}

/* There is none of that name before `end`. */
static bool refuse_name(struct binder *binder, const struct ast_name *name,
                        const struct ast_named_window *end)
{
    struct likely likely = { 0 };

    for (const struct ast_named_window *at = binder->scope->windows_named;
         at != end; at = at->next)
        likely_name(&likely, name->text, at->name.text);
    error_at(binder->error, VDBQ_UNKNOWN, name->at, "no such window: %s",
             name->text);
    if (likely.name != NULL)
        error_hint(binder->error, "did you mean \"%s\"?", likely.name);
    else if (end != NULL)
        error_hint(binder->error, "a window is based on one before it");
    else
        error_hint(binder->error,
                   "windows are named behind HAVING: WINDOW %s AS (...)",
                   name->text);
    return false;
}

/* What a window in parentheses must not say beside the one that it names. */
static bool check_based(struct binder *binder, const struct ast_window *window,
                        const struct ast_window *base,
                        const struct ast_name *name)
{
    const char *twice = window->partition != NULL ? "PARTITION BY"
                        : window->order != NULL && base->order != NULL
                            ? "ORDER BY"
                            : NULL;

    if (twice != NULL)
        error_at(binder->error, VDBQ_SYNTAX, name->at,
                 "%s is not said again of the window %s", twice, name->text);
    else if (base->frame.written)
        error_at(binder->error, VDBQ_SYNTAX, name->at,
                 "the window %s has a frame: nothing is based on it",
                 name->text);
    else
        return true;
    if (base->frame.written)
        error_hint(binder->error,
                   "OVER %s, without parentheses, is the window "
                   "as it is",
                   name->text);
    return false;
}

/* The window before `end` in the clause. */
static bool whole_before(struct binder *binder, const struct ast_window *window,
                         const struct ast_named_window *end,
                         struct ast_window *whole)
{
    *whole = *window;
    while (whole->base.text != NULL) {
        const struct ast_name name = whole->base;
        const struct ast_named_window *named =
            find_window(binder, name.text, end);
        const struct ast_window *base = named ? named->window : NULL;
        if (base == NULL)
            return refuse_name(binder, &name, end);
        if (whole->whole)
            whole->frame = base->frame;
        else if (!check_based(binder, whole, base, &name))
            return false;
        whole->partition = base->partition;
        whole->order = whole->order != NULL ? whole->order : base->order;
        whole->whole = false;
        whole->base = base->base;
        end = named;
    }
    return true;
}

bool window_whole(struct binder *binder, const struct ast_window *window,
                  struct ast_window *whole)
{
    return whole_before(binder, window, NULL, whole);
}

enum vdbq_status check_windows(struct binder *binder)
{
    struct ast_window whole;

    for (const struct ast_named_window *at = binder->scope->windows_named;
         at != NULL; at = at->next) {
        if (find_window(binder, at->name.text, at) != NULL)
            return error_at(binder->error, VDBQ_SYNTAX, at->name.at,
                            "the window %s is there twice", at->name.text);
        if (!whole_before(binder, at->window, at, &whole))
            return binder->error->status;
    }
    return VDBQ_OK;
}
