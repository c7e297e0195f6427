/* SPDX-License-Identifier: MIT */
/*
 * Parameters of the statement whose values are given with it.
 */
#include "plan/make/known.h"

#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"
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
