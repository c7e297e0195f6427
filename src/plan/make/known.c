/* SPDX-License-Identifier: MIT */
/*
 * Parameters of the statement whose values are given with it.
 */
#include "plan/make/known.h"

#include "base/os/stack.h"
#include "plan/make/expression_new.h"
#include "plan/make/fold.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"
#include "program/parameter.h"

/* The value of a parameter as if it were written in its place. */
struct expression *expression_given(struct binder *binder, int number,
                                    struct position at)
{
    const struct parameter *value = &binder->parameters[number];
    struct vdbq_text text = value->text;

    binder->values_used = true;
    if (value->type == VDBQ_DOUBLE)
        return expression_real(binder, VDBQ_DOUBLE, value->real, at);
    if (value->type != VDBQ_TEXT)
        return expression_integer(binder, value->integer, at);
    text.bytes = arena_copy(binder->arena, text.bytes, text.length);
    if (text.bytes == NULL)
        return error_no_memory(binder->error), NULL;
    return expression_text(binder, text, at);
}

struct expression *expression_known(struct binder *binder, struct expression *e)
{
    if (e->kind != EXPRESSION_PARAMETER || binder->parameters == NULL
        || e->parameter.number >= binder->value_count)
        return e;
    return expression_given(binder, e->parameter.number, e->at);
}

/* ------------------------------------------------------------- computed -- */

bool expression_is_of_run(void *context, struct expression **operand)
{
    struct expression *e = *operand;

    switch (e->kind) {
    case EXPRESSION_CONSTANT:
    case EXPRESSION_PARAMETER:
        return e->type != VDBQ_TEXT;
    case EXPRESSION_OPERATOR:
    case EXPRESSION_CAST:
    case EXPRESSION_CHOICE:
    case EXPRESSION_MATH:
    case EXPRESSION_CHECK:
        return e->type != VDBQ_TEXT && !stack_is_short()
               && expression_each(e, expression_is_of_run, context);
    default:
        return false;
    }
}

/* expression_replacer: a parameter's value, of the parameter's type. */
static struct expression *value_of(void *context, struct expression *e,
                                   bool *failed)
{
    struct binder *binder = context;
    struct expression *value;

    if (e->kind != EXPRESSION_PARAMETER)
        return NULL;
    value = expression_known(binder, e);
    *failed = value == NULL;
    if (value == NULL || value == e)
        return NULL;
    value->type = e->type;
    range_constant(value);
    return value;
}

/* Whether all parameters in it have values. */
static bool has_values(void *context, struct expression **operand)
{
    const struct binder *binder = context;
    const struct expression *e = *operand;

    return e->kind == EXPRESSION_PARAMETER
               ? binder->parameters != NULL
                     && e->parameter.number < binder->value_count
               : expression_each(*operand, has_values, context);
}

/* The constant that it is; NULL: a failure. */
static struct expression *compute(struct binder *binder, struct expression *e)
{
    struct expression *made = expression_replace(binder, e, value_of, binder);

    if (made == NULL || made->kind <= EXPRESSION_PARAMETER)
        return made;
    return fold(binder, made) == VDBQ_OK ? made : NULL;
}

struct expression *expression_computed(struct binder *binder,
                                       struct expression *e)
{
    const struct error before = *binder->error;
    struct expression *made;

    if (e->kind <= EXPRESSION_PARAMETER || !expression_is_of_run(NULL, &e)
        || !has_values(binder, &e))
        return e;
    made = compute(binder, e);
    if (made != NULL || binder->error->status == VDBQ_NO_MEMORY)
        return made;
    *binder->error = before;
    return e;
}
