/* SPDX-License-Identifier: MIT */
/*
 * Formulas over expressions: making.h.
 */
#include "plan/operator/making.h"

#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"

struct expression *making_operator(const struct making *making,
                                   enum ast_operator operator,
                                   struct expression * left,
                                   struct expression *right)
{
    const struct ast_expression place = { .at = making->at };

    return left && right ? expression_operator(making->binder, operator, left,
                                               right, &place)
                         : NULL;
}

struct expression *making_choice(const struct making *making,
                                 struct expression *condition,
                                 struct expression *left,
                                 struct expression *right)
{
    return condition && left && right ? expression_choice(
               making->binder, condition, left, right, making->at)
                                      : NULL;
}

struct expression *making_real(const struct making *making, double value)
{
    return expression_real(making->binder, VDBQ_DOUBLE, value, making->at);
}

struct expression *making_root(const struct making *making,
                               struct expression *e)
{
    return e ? expression_math(making->binder, OP_SQRT_F64, VDBQ_DOUBLE, e,
                               NULL, true, making->at)
             : NULL;
}

struct expression *making_product_rest(const struct making *making,
                                       struct expression *left,
                                       struct expression *right)
{
    return left && right
               ? expression_math(making->binder, OP_MUL_REST_F64, VDBQ_DOUBLE,
                                 left, right, true, making->at)
               : NULL;
}
