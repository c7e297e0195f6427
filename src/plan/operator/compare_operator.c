/* SPDX-License-Identifier: MIT */
/*
 * Operators of comparisons, and what they give where no values have to be
 * looked at: compare_inner.h.
 */
#include "plan/operator/compare.h"
#include "plan/operator/compare_inner.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/coerce.h"
#include "plan/tree/binder.h"

/* ----------------------------------------------------------- operators -- */

enum ast_operator compare_mirrored(enum ast_operator operator)
{
    switch (operator) {
    case AST_LT:
        return AST_GT;
    case AST_LE:
        return AST_GE;
    case AST_GT:
        return AST_LT;
    case AST_GE:
        return AST_LE;
    default:
        return operator;
    }
}

enum bound compare_bound_of(enum ast_operator operator)
{
    switch (operator) {
    case AST_LT:
    case AST_GE:
        return BOUND_LEAST;
    case AST_LE:
    case AST_GT:
        return BOUND_ABOVE;
    default:
        return BOUND_EXACT;
    }
}

enum ast_operator compare_with_bound(enum ast_operator operator)
{
    return operator== AST_LE ? AST_LT : operator== AST_GT ? AST_GE : operator;
}

/* --------------------------------------------------------------- NULLs -- */

struct expression *compare_known(struct binder *binder,
                                 struct expression *condition,
                                 struct expression *value,
                                 const struct ast_expression *tree)
{
    struct expression *null = expression_null(binder, value->type, tree->at);
    struct expression *known =
        null ? expression_operation(binder, AST_IS_NOT, VDBQ_INTEGER, value,
                                    null, tree)
             : NULL;

    if (known == NULL || condition == NULL)
        return known;
    return expression_operation(binder, AST_AND, VDBQ_INTEGER, condition, known,
                                tree);
}

struct expression *compare_unless_null(struct binder *binder, bool truth,
                                       struct expression *left,
                                       struct expression *right,
                                       const struct ast_expression *tree)
{
    struct expression *value = expression_truth(binder, truth, tree->at);
    struct expression *sides[2] = { left, right }, *known = NULL, *null;

    for (int i = 0; i < 2 && value != NULL; i++) {
        if (sides[i] == NULL || !sides[i]->nullable)
            continue;
        known = compare_known(binder, known, sides[i], tree);
        if (known == NULL)
            return NULL;
    }
    if (value == NULL || known == NULL)
        return value;
    null = expression_null(binder, VDBQ_INTEGER, tree->at);
    return null ? expression_choice(binder, known, value, null, tree->at)
                : NULL;
}

/* Whether both sides are NULL, or not. */
static struct expression *both_null(struct binder *binder,
                                    enum ast_operator operator,
                                    struct expression * left,
                                    struct expression *right,
                                    const struct ast_expression *tree)
{
    struct expression *sides[2] = { left, right }, *both = NULL;

    for (int i = 0; i < 2; i++) {
        struct expression *null =
            expression_null(binder, sides[i]->type, tree->at);
        struct expression *e =
            null ? expression_operation(binder, AST_IS, VDBQ_INTEGER, sides[i],
                                        null, tree)
                 : NULL;
        if (e != NULL && both != NULL)
            e = expression_operation(binder, AST_AND, VDBQ_INTEGER, both, e,
                                     tree);
        if (e == NULL)
            return NULL;
        both = e;
    }
    return operator== AST_IS
               ? both
               : expression_logic(binder, AST_NOT, both, NULL, tree);
}

struct expression *compare_below(struct binder *binder,
                                 enum ast_operator operator,
                                 struct expression * left,
                                 struct expression *right,
                                 const struct ast_expression *tree)
{
    if (!is_comparison(operator))
        return both_null(binder, operator, left, right, tree);
    return compare_unless_null(binder, comparison_holds(operator, - 1), left,
                               right, tree);
}
