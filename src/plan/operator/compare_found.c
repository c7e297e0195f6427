/* SPDX-License-Identifier: MIT */
/*
 * instr(x, 'y') > 0 asks whether x contains y, not where: that is contains(), for
 * which many words are looked through at once.
 */
#include <string.h>

#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/operator/compare_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"
#include "program/functions/function.h"

/* A place that a text was found at is at least 1; 0: it was not. */
enum found { FOUND_SOMEWHERE, FOUND_NOWHERE, FOUND_AT_A_PLACE };

static enum found asks(enum ast_operator operator, int64_t number)
{
    if ((number == 0 && (operator== AST_GT || operator== AST_NEQ))
        || (number == 1 && operator== AST_GE))
        return FOUND_SOMEWHERE;
    if ((number == 0 && (operator== AST_LE || operator== AST_EQ))
        || (number == 1 && operator== AST_LT))
        return FOUND_NOWHERE;
    return FOUND_AT_A_PLACE;
}

static bool is_place(const struct expression *e)
{
    return e->kind == EXPRESSION_LOOKUP
           && (e->lookup.function == function_find("instr")
               || e->lookup.function == function_find("strpos"));
}

/* The same call of another function. NULL: a failure. */
static struct expression *call_of(struct binder *binder,
                                  const struct expression *e, const char *name)
{
    const char *arguments = strchr(e->lookup.call, '(');
    size_t length = strlen(name), rest = strlen(arguments) + 1;
    struct expression *made =
        expression_new(binder, EXPRESSION_LOOKUP, VDBQ_INTEGER, e->at);
    char *call = arena_alloc(binder->arena, length + rest);

    if (made == NULL || call == NULL)
        return error_no_memory(binder->error), NULL;
    memcpy(call, name, length);
    memcpy(call + length, arguments, rest);
    made->left = e->left;
    made->lookup = e->lookup;
    made->lookup.function = function_find(name);
    made->lookup.call = call;
    range_update(made);
    return made;
}

bool compare_found(struct binder *binder, enum ast_operator operator,
                   const struct expression * left,
                   const struct expression *right,
                   const struct ast_expression *tree, struct expression **made)
{
    enum found found = FOUND_AT_A_PLACE;

    if (is_place(right) && !is_place(left))
        return compare_found(binder, compare_mirrored(operator), right, left,
                             tree, made);
    if (is_place(left) && right->kind == EXPRESSION_CONSTANT
        && type_is_integer(right->type) && !right->constant.null)
        found = asks(operator, right->constant.integer);
    if (found == FOUND_AT_A_PLACE)
        return false;
    *made = call_of(binder, left, "contains");
    if (*made != NULL && found == FOUND_NOWHERE)
        *made = expression_logic(binder, AST_NOT, *made, NULL, tree);
    return true;
}
