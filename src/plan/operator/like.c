/* SPDX-License-Identifier: MIT */
/*
 * LIKE and GLOB.
 */
#include "plan/operator/like.h"

#include "plan/make/call.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* That the escape is one character. */
static struct expression *check_escape(struct binder *binder,
                                       struct expression *escape,
                                       struct position at)
{
    static const char message[] = "an ESCAPE is one character";
    struct ast_expression place = { .at = at };
    struct expression *length, *one, *other;

    escape = expression_cast_plain(binder, escape, VDBQ_TEXT, at);
    length = escape ? expression_call(binder, "length", &escape, 1, at) : NULL;
    one = length ? expression_integer(binder, 1, at) : NULL;
    other =
        one ? expression_operator(binder, AST_NEQ, length, one, &place) : NULL;
    if (other == NULL)
        return NULL;
    if (other->kind != EXPRESSION_CONSTANT)
        return expression_check(binder, escape, other, message);
    if (known_truth(other) != 1)
        return escape;
    error_at(binder->error, VDBQ_RANGE, at, "%s", message);
    return NULL;
}

struct expression *expression_like(struct binder *binder, const char *name,
                                   struct expression **operands, unsigned count,
                                   struct position at)
{
    if (count > 2) {
        operands[2] = check_escape(binder, operands[2], operands[2]->at);
        if (operands[2] == NULL)
            return NULL;
    }
    return expression_call(binder, name, operands, count, at);
}
