/* SPDX-License-Identifier: MIT */
/*
 * How the two sides of a comparison meet: SQLite's rule of affinity. A column
 * and a CAST (also as the column or the value of a subquery) have an affinity,
 * that of their type; literals, parameters and all else that is computed have
 * none.
 *
 *   sides                                compare as
 *   a number that has one, any text      numbers; a text that does not look
 *                                        like one is above all of them
 *   a text that has one, other numbers   texts
 *   a number and a text that have none   they are: the number is below
 *   BOOLEAN, DATE, TIMESTAMP with a      what the text is read as; other
 *   constant text                        texts are refused
 *   all others                           coerce.h says
 *
 * Integers and floats compare by their values, whatever their size. The same
 * holds for =, IN, CASE, BETWEEN, USING and every other comparison.
 */
#ifndef VDBQ_PLAN_OPERATOR_COMPARE_H
#define VDBQ_PLAN_OPERATOR_COMPARE_H

#include "plan/tree/expression.h"

enum comparing {
    COMPARE_AS_ONE,     /* types that meet                        */
    COMPARE_AS_NUMBERS, /* a number, and a text as far as it is one */
    COMPARE_AS_TEXTS,   /* a text, and a number as it is printed  */
    COMPARE_BY_CLASS    /* any number is below any text           */
};
enum comparing comparing_of(const struct expression *left,
                            const struct expression *right);

/* The operator with its sides swapped. */
enum ast_operator compare_mirrored(enum ast_operator operator);

/* left OPERATOR right, of any comparison, IS and IS NOT. */
struct expression *expression_compare(struct binder *binder,
                                      enum ast_operator operator,
                                      struct expression * left,
                                      struct expression *right,
                                      const struct ast_expression *tree);
/* Both become values of one type, which are equal where the comparison of the
 * operands says so, and NULL where they are; false: a failure. */
bool compare_as_keys(struct binder *binder, struct expression **left,
                     struct expression **right, struct position at);
/* A constant becomes what the operand equals in its place, by its type;
 * `*never`: the operand never equals it. False: a failure. */
bool compare_item(struct binder *binder, struct expression *operand,
                  struct expression **item, bool *never);
/* Whether it equals one of some values, where it never does: false, or NULL. */
struct expression *compare_with_none(struct binder *binder,
                                     struct expression *operand,
                                     struct position at);

/* The expression with or without an affinity; itself, or a copy. */
struct expression *expression_affine(struct binder *binder,
                                     struct expression *e, bool affine);

#endif
