/* SPDX-License-Identifier: MIT */
/*
 * A call of a made text is a chain of lookups over the function that makes it.
 * A few chains are cheaper when each makes the text anew than when all texts become
 * words, which are sorted and looked up; with more of them the texts are made once.
 * Calls that fail stay lookups: these fail only for rows that a program reaches.
 */
#include "plan/texts/fused_calls.h"

#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/lookup.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* The function that makes the text which lookups, or none, are of; NULL: it is
 * another text, or one may fail. */
static struct expression *maker_of(struct expression *e)
{
    while (e->kind == EXPRESSION_LOOKUP && !e->lookup.fails)
        e = e->left;
    return e->kind == EXPRESSION_FUNCTION && e->type == VDBQ_TEXT ? e : NULL;
}

bool fused_is_constant(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->type == VDBQ_TEXT
           && !e->constant.null && lookup_is_constant(e);
}

/* Whether it compares a made text with a constant; `*turned`: the constant is on
 * the left. */
static bool compares(const struct expression *e, bool *turned)
{
    if (e->kind != EXPRESSION_OPERATOR || !is_comparison(e->operation.op))
        return false;
    *turned = fused_is_constant(e->left);
    const struct expression *constant = *turned ? e->left : e->right;
    struct expression *made = *turned ? e->right : e->left;
    return fused_is_constant(constant) && made->type == VDBQ_TEXT
           && maker_of(made) != NULL;
}

/* The function whose texts an expression uses; NULL: it is no use. */
static struct expression *used_by(struct expression *e)
{
    bool turned;
    if (compares(e, &turned))
        return maker_of(turned ? e->right : e->left);
    return e->kind == EXPRESSION_LOOKUP ? maker_of(e) : NULL;
}

/* A visitor; false: no memory. What is used is looked at, too: a function has
 * arguments. */
static bool collect_uses(void *context, struct expression **operand)
{
    struct fused_calls *calls = context;
    struct expression *made = used_by(*operand);
    if (made == NULL)
        return expression_each(*operand, collect_uses, calls);
    return (expression_find(&calls->uses, 0, *operand) >= 0
            || vector_append(&calls->uses, operand, 1))
           && expression_each(made, collect_uses, calls);
}

/* Whether few enough uses are made of the texts. */
static bool has_few_uses(const struct fused_calls *calls,
                         const struct expression *made)
{
    unsigned uses = 0;
    for (size_t i = 0; i < calls->uses.count && uses <= FUSED_USES_MOST; i++) {
        struct expression *use =
            VECTOR_ITEMS(&calls->uses, struct expression *)[i];
        uses += expression_same(used_by(use), made);
    }
    return uses <= FUSED_USES_MOST;
}

struct expression *fused_compare(struct binder *binder,
                                 const struct expression *e)
{
    struct expression *arguments[2] = { e->left, e->right };
    struct ast_expression place = { .at = e->at };
    struct expression *call, *nested;
    struct expression *zero = expression_integer(binder, 0, e->at);
    if (zero == NULL
        || !lookup_make(binder, function_find("compare"), arguments, 2, e->at,
                        &call)
        || call == NULL || !lookup_nest(binder, call, &nested))
        return NULL;
    return expression_operator(binder, e->operation.op,
                               nested != NULL ? nested : call, zero, &place);
}

static struct expression *compare_by_call(void *context, struct expression *e,
                                          bool *failed)
{
    struct fused_calls *calls = context;
    bool turned;
    if (!compares(e, &turned)
        || !has_few_uses(calls, maker_of(turned ? e->right : e->left)))
        return NULL;
    struct expression *made = fused_compare(calls->binder, e);
    *failed = made == NULL;
    return made;
}

/* Puts calls into the place of comparisons. */
static enum vdbq_status compare_by_calls(struct fused_calls *calls,
                                         struct expression **place)
{
    struct expression *e =
        expression_replace(calls->binder, *place, compare_by_call, calls);
    if (e == NULL)
        return calls->binder->error->status;
    *place = e;
    return VDBQ_OK;
}

enum vdbq_status fused_calls_find(struct fused_calls *calls,
                                  struct expression **const *expressions,
                                  size_t count)
{
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < count; i++)
        if (!collect_uses(calls, expressions[i]))
            return error_no_memory(calls->binder->error);
    for (size_t i = 0; calls->uses.count > 0 && i < count && status == VDBQ_OK;
         i++)
        status = compare_by_calls(calls, expressions[i]);
    return status;
}

struct expression *fused_call_function(const struct fused_calls *calls,
                                       const struct expression *e)
{
    struct expression *made = e->kind == EXPRESSION_LOOKUP && !e->lookup.fails
                                  ? maker_of(e->left)
                                  : NULL;
    return made != NULL && has_few_uses(calls, made) ? made : NULL;
}

bool fused_call_add(const struct expression *e, struct vector *calls)
{
    return e->kind != EXPRESSION_LOOKUP
           || (fused_call_add(e->left, calls)
               && vector_append(calls, &e->lookup.call, 1));
}
