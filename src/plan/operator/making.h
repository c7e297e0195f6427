/* SPDX-License-Identifier: MIT */
/*
 * Formulas over expressions: operands may be failures, NULL, and so is what is made of
 * them then, so that a formula is written as it is read and looked at once.
 */
#ifndef VDBQ_PLAN_OPERATOR_MAKING_H
#define VDBQ_PLAN_OPERATOR_MAKING_H

#include "plan/tree/expression.h"

struct binder;

struct making {
    struct binder *binder;
    struct position at; /* of all that is made */
};

struct expression *making_operator(const struct making *making,
                                   enum ast_operator operator,
                                   struct expression * left,
                                   struct expression *right);
/* `right` where the condition is not true. */
struct expression *making_choice(const struct making *making,
                                 struct expression *condition,
                                 struct expression *left,
                                 struct expression *right);
struct expression *making_real(const struct making *making, double value);
struct expression *making_root(const struct making *making,
                               struct expression *e);
/* What rounding takes from a product. */
struct expression *making_product_rest(const struct making *making,
                                       struct expression *left,
                                       struct expression *right);

#endif
