/* SPDX-License-Identifier: MIT */
/*
 * What the files of comparisons share: compare.h. NULL is a failure.
 */
#ifndef VDBQ_PLAN_OPERATOR_COMPARE_INNER_H
#define VDBQ_PLAN_OPERATOR_COMPARE_INNER_H

#include "plan/operator/compare.h"
#include "program/functions/bound.h"

/* compare_operator.c */
/* x OPERATOR y is x WITH_BOUND(OPERATOR) the BOUND(OPERATOR) of y among the
 * numbers of x's type; where there is none, x is below y. */
enum bound compare_bound_of(enum ast_operator operator);
enum ast_operator compare_with_bound(enum ast_operator operator);

/* Whether the value is there, and the condition holds (NULL: it does). */
struct expression *compare_known(struct binder *binder,
                                 struct expression *condition,
                                 struct expression *value,
                                 const struct ast_expression *tree);
/* The truth, or NULL where a side (NULL: there is none) is. */
struct expression *compare_unless_null(struct binder *binder, bool truth,
                                       struct expression *left,
                                       struct expression *right,
                                       const struct ast_expression *tree);
/* The left side is below the right one, or one of them NULL. */
struct expression *compare_below(struct binder *binder,
                                 enum ast_operator operator,
                                 struct expression * left,
                                 struct expression *right,
                                 const struct ast_expression *tree);

/* compare_found.c */
/* Whether a comparison asks no more than whether a text was found in another; then
 * `*made` does (NULL: a failure). */
bool compare_found(struct binder *binder, enum ast_operator operator,
                   const struct expression * left,
                   const struct expression *right,
                   const struct ast_expression *tree, struct expression **made);

/* compare_number.c */
/* The bound of a constant number, a double or an integer; NULL also where
 * `*none`: there is none. */
struct expression *compare_constant_bound(struct binder *binder,
                                          const struct expression *constant,
                                          enum bound bound, bool real,
                                          bool *none);

/* Whether the type in which they meet does not hold all that they can be. */
bool compare_is_mixed(const struct expression *left,
                      const struct expression *right);
/* Such numbers, compared, and as keys that are equal where they are. */
struct expression *compare_mixed(struct binder *binder,
                                 enum ast_operator operator,
                                 struct expression * left,
                                 struct expression *right,
                                 const struct ast_expression *tree);
bool mixed_keys(struct binder *binder, struct expression **left,
                struct expression **right);
/* One text for all numbers that are equal, and for texts that look like them. */
struct expression *compare_number_key(struct binder *binder,
                                      struct expression *e);

#endif
