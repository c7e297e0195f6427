/* SPDX-License-Identifier: MIT */
/*
 * AND, OR, NOT, and what may stand where something is true or false.
 */
#include "plan/make/logic.h"

#include <assert.h>

#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"
#include "base/type.h"

struct expression *expression_condition(struct binder *binder,
                                        struct expression *e,
                                        struct position at)
{
    if (e == NULL || is_number(e->type))
        return e;
    error_at(binder->error, VDBQ_TYPE, at,
             "a condition is true or false, not a %s",
             type_name((enum vdbq_type)e->type));
    return NULL;
}

/* What is false AND anything, or true OR anything, is so at once. */
struct expression *expression_logic(struct binder *binder,
                                    enum ast_operator operator,
                                    struct expression * left,
                                    struct expression *right,
                                    const struct ast_expression *tree)
{
    int decides = operator== AST_OR;

    assert(operator>= AST_AND && operator<= AST_NOT);
    assert((right == NULL) == (operator== AST_NOT));
    if (expression_condition(binder, left, left->at) == NULL
        || (operator!= AST_NOT && expression_condition(binder, right, right->at)
            == NULL))
        return NULL;
    if (operator!= AST_NOT &&(known_truth(left) == decides
                              || known_truth(right) == decides))
        return expression_truth(binder, decides, tree->at);
    return expression_operation(binder, operator, VDBQ_INTEGER, left, right,
                                tree);
}
