/* SPDX-License-Identifier: MIT */
/*
 * An operator of SQL, whatever it does: it gets its type from those of its
 * operands.
 */
#include "plan/operator/operator.h"

#include "plan/make/arithmetic.h"
#include "plan/make/call.h"
#include "plan/operator/bits.h"
#include "plan/operator/compare.h"
#include "plan/make/logic.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"

static struct expression *concatenate(struct binder *binder,
                                      struct expression *left,
                                      struct expression *right,
                                      const struct ast_expression *tree)
{
    struct expression *parts[2] = { left, right };

    for (int i = 0; i < 2; i++) {
        parts[i] = coerce_cast(binder, parts[i], VDBQ_TEXT);
        if (parts[i] == NULL)
            return NULL;
    }
    return expression_call(binder, "concat", parts, 2, tree->at);
}

struct expression *expression_operator(struct binder *binder,
                                       enum ast_operator operator,
                                       struct expression * left,
                                       struct expression *right,
                                       const struct ast_expression *tree)
{
    switch (operator) {
    case AST_PLUS:
        return left;
    case AST_MINUS:
        return expression_minus(binder, left, tree);
    case AST_AND:
    case AST_OR:
    case AST_NOT:
        return expression_logic(binder, operator, left, right, tree);
    case AST_CONCAT:
        return concatenate(binder, left, right, tree);
    case AST_BIT_AND:
    case AST_BIT_OR:
    case AST_SHIFT_LEFT:
    case AST_SHIFT_RIGHT:
    case AST_BIT_NOT:
        return expression_bits(binder, operator, left, right, tree);
    default:
        break;
    }
    if (operator<= AST_MOD)
        return expression_arithmetic(binder, operator, left, right, tree);
    return expression_compare(binder, operator, left, right, tree);
}

struct expression *expression_null_test(struct binder *binder,
                                        enum ast_operator is,
                                        struct expression *e,
                                        const struct ast_expression *tree)
{
    struct expression *null =
        e ? expression_null(binder, e->type, tree->at) : NULL;

    return null ? expression_operator(binder, is, e, null, tree) : NULL;
}

struct expression *expression_value_or(struct binder *binder,
                                       struct expression *value, int number)
{
    struct position nowhere = { 0 };
    struct ast_expression place = { 0 };
    struct expression *there =
        expression_null_test(binder, AST_IS_NOT, value, &place);
    struct expression *other = expression_integer(binder, number, nowhere);

    if (there == NULL || other == NULL)
        return NULL;
    other = expression_number(binder, other, value->type, nowhere);
    return other ? expression_choice(binder, there, value, other, nowhere)
                 : NULL;
}
