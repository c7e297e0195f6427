/* SPDX-License-Identifier: MIT */
/*
 * How the two sides of a comparison meet: compare.h. What a number of one type
 * is compared with in the place of one of another, or of a text, is in
 * program/bound.h: the planner asks for it where that is a constant, and the
 * machine looks it up for each word of a column.
 */
#include "plan/compare.h"

#include "plan/meet.h"
#include "plan/plan_inner.h"
#include "program/bound.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- rule -- */

enum comparing comparing_of(const struct expression *left,
                            const struct expression *right)
{
    bool swap = left->type == VDBQ_TEXT;
    const struct expression *number = swap ? right : left;
    const struct expression *text = swap ? left : right;

    if (is_null_constant(left) || is_null_constant(right)
        || text->type != VDBQ_TEXT || !is_number(number->type)
        || number->type == VDBQ_BOOLEAN)
        return COMPARE_AS_ONE;
    if (number->affine)
        return COMPARE_AS_NUMBERS;
    return text->affine ? COMPARE_AS_TEXTS : COMPARE_BY_CLASS;
}

struct expression *expression_affine(struct binder *binder,
                                     struct expression *e, bool affine)
{
    struct expression *copy;

    if (e->affine == affine)
        return e;
    copy = arena_alloc(binder->arena, sizeof *copy);
    if (copy == NULL)
        return error_no_memory(binder->error), NULL;
    *copy = *e;
    copy->affine = affine;
    return copy;
}

/* ----------------------------------------------------------- operators -- */

/* The operator with its sides swapped. */
static enum ast_operator mirrored(enum ast_operator operator)
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

/* Whether a comparison holds for sides that do so themselves. */
static bool holds(enum ast_operator operator, int sign)
{
    switch (operator) {
    case AST_EQ:
    case AST_IS:
        return sign == 0;
    case AST_NEQ:
    case AST_IS_NOT:
        return sign != 0;
    case AST_LT:
        return sign < 0;
    case AST_LE:
        return sign <= 0;
    case AST_GT:
        return sign > 0;
    default:
        return sign >= 0;
    }
}

/* x OPERATOR number is x with_bound(OPERATOR) bound_of(OPERATOR) of it. */
static enum bound bound_of(enum ast_operator operator)
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

static enum ast_operator with_bound(enum ast_operator operator)
{
    return operator == AST_LE   ? AST_LT
           : operator == AST_GT ? AST_GE
                                : operator;
}

/* --------------------------------------------------------------- NULLs -- */

/* Whether the value is there, and the condition holds (NULL: it does). */
static struct expression *is_known(struct binder *binder,
                                   struct expression *condition,
                                   struct expression *value,
                                   const struct ast_expression *tree)
{
    struct expression *null = expression_null(binder, value->type, tree->at);
    struct expression *known =
        null ? expression_operation(binder, AST_IS_NOT, VDBQ_INTEGER, value,
                                    null, tree) : NULL;

    if (known == NULL || condition == NULL)
        return known;
    return expression_operation(binder, AST_AND, VDBQ_INTEGER, condition,
                                known, tree);
}

/* The truth, or NULL where a side (NULL: there is none) is. */
static struct expression *unless_null(struct binder *binder, bool truth,
                                      struct expression *left,
                                      struct expression *right,
                                      const struct ast_expression *tree)
{
    struct expression *value = expression_truth(binder, truth, tree->at);
    struct expression *sides[2] = { left, right }, *known = NULL, *null;

    for (int i = 0; i < 2 && value != NULL; i++) {
        if (sides[i] == NULL || !sides[i]->nullable)
            continue;
        known = is_known(binder, known, sides[i], tree);
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
                                    struct expression *left,
                                    struct expression *right,
                                    const struct ast_expression *tree)
{
    struct expression *sides[2] = { left, right }, *both = NULL;

    for (int i = 0; i < 2; i++) {
        struct expression *null =
            expression_null(binder, sides[i]->type, tree->at);
        struct expression *e =
            null ? expression_operation(binder, AST_IS, VDBQ_INTEGER,
                                        sides[i], null, tree) : NULL;
        if (e != NULL && both != NULL)
            e = expression_operation(binder, AST_AND, VDBQ_INTEGER, both, e,
                                     tree);
        if (e == NULL)
            return NULL;
        both = e;
    }
    return operator == AST_IS ? both
                              : expression_operator(binder, AST_NOT, both,
                                                    NULL, tree);
}

/* The left side is below the right one, or one of them NULL. */
static struct expression *compare_below(struct binder *binder,
                                        enum ast_operator operator,
                                        struct expression *left,
                                        struct expression *right,
                                        const struct ast_expression *tree)
{
    if (!is_comparison(operator))
        return both_null(binder, operator, left, right, tree);
    return unless_null(binder, holds(operator, -1), left, right, tree);
}

/* ------------------------------------------------- integers and floats -- */

/* Whether each integer that there can be is a double, too. */
static bool is_exact(const struct expression *integer)
{
    static const int64_t limit = (int64_t)1 << 53;

    return integer->range.low >= -limit && integer->range.high <= limit;
}

/* Whether an integer is not to be rounded to the other's type. A literal is to
 * be, for a FLOAT. */
static bool is_mixed(const struct expression *integer,
                     const struct expression *real)
{
    return is_integer(integer->type) && is_float(real->type)
           && !is_null_constant(integer) && !is_null_constant(real)
           && !is_exact(integer)
           && (real->type == VDBQ_DOUBLE || !integer->literal);
}

static struct any_number number_of(const struct expression *constant)
{
    return (struct any_number){ .is_real = is_float(constant->type),
                                .integer = constant->integer,
                                .real = constant->real };
}

/* The bound of a constant number, of the other side's type; NULL: a failure,
 * or where `*none` there is no bound. */
static struct expression *constant_bound(struct binder *binder,
                                         const struct expression *constant,
                                         enum bound bound, bool real,
                                         bool *none)
{
    struct any_number number = number_of(constant);
    int64_t integer = 0;
    double value = 0;

    *none = real ? !bound_double(&number, bound, &value)
                 : !bound_integer(&number, bound, &integer);
    if (*none)
        return NULL;
    return real ? expression_real(binder, VDBQ_DOUBLE, value, constant->at)
                : expression_integer(binder, integer, constant->at);
}

/* A side and a constant of the other kind of number. */
static struct expression *compare_constant(struct binder *binder,
                                           enum ast_operator operator,
                                           struct expression *side,
                                           struct expression *constant,
                                           const struct ast_expression *tree)
{
    bool none;
    struct expression *bound =
        constant_bound(binder, constant, bound_of(operator),
                       is_float(side->type), &none);

    if (none)
        return compare_below(binder, operator, side, constant, tree);
    return bound ? expression_operation(binder, with_bound(operator),
                                        VDBQ_INTEGER, side, bound, tree)
                 : NULL;
}

/* Whether a double is in the range of 64-bit integers. */
static struct expression *fits_integer(struct binder *binder,
                                       struct expression *real,
                                       const struct ast_expression *tree)
{
    static const double end = 9223372036854775808.0;
    struct expression *low = expression_real(binder, VDBQ_DOUBLE, -end,
                                             tree->at);
    struct expression *high =
        low ? expression_real(binder, VDBQ_DOUBLE, end, tree->at) : NULL;

    low = high ? expression_operation(binder, AST_GE, VDBQ_INTEGER, real, low,
                                      tree) : NULL;
    high = low ? expression_operation(binder, AST_LT, VDBQ_INTEGER, real,
                                      high, tree) : NULL;
    return high ? expression_operation(binder, AST_AND, VDBQ_INTEGER, low,
                                       high, tree) : NULL;
}

/* An integer that is, as a double, what the double is: unless that is the one
 * above all integers, they compare as such. No cast fails here. */
static struct expression *compare_near(struct binder *binder,
                                       enum ast_operator operator,
                                       struct expression *integer,
                                       struct expression *real,
                                       const struct ast_expression *tree)
{
    struct expression *fits = fits_integer(binder, real, tree);
    struct expression *zero =
        fits ? expression_real(binder, VDBQ_DOUBLE, 0, tree->at) : NULL;
    struct expression *small =
        zero ? expression_choice(binder, fits, real, zero, tree->at) : NULL;
    struct expression *whole =
        small ? meet_cast(binder, small, VDBQ_BIGINT) : NULL;
    struct expression *exact =
        whole ? expression_operation(binder, operator, VDBQ_INTEGER, integer,
                                     whole, tree) : NULL;
    struct expression *below =
        exact ? expression_truth(binder, holds(operator, -1), tree->at) : NULL;

    return below ? expression_choice(binder, fits, exact, below, tree->at)
                 : NULL;
}

/* As doubles, and where these are equal as integers. That an equality holds
 * for the doubles, too, is said apart, for joins to find. */
static struct expression *compare_columns(struct binder *binder,
                                          enum ast_operator operator,
                                          struct expression *integer,
                                          struct expression *real,
                                          const struct ast_expression *tree)
{
    struct expression *as_double = meet_cast(binder, integer, VDBQ_DOUBLE);
    struct expression *equal =
        as_double ? expression_operation(binder, AST_EQ, VDBQ_INTEGER,
                                         as_double, real, tree) : NULL;
    struct expression *near =
        equal ? compare_near(binder, operator, integer, real, tree) : NULL;
    struct expression *far =
        near ? expression_operation(binder, operator, VDBQ_INTEGER, as_double,
                                    real, tree) : NULL;
    struct expression *e =
        far ? expression_choice(binder, equal, near, far, tree->at) : NULL;

    if (e == NULL || operator != AST_EQ)
        return e;
    return expression_operation(binder, AST_AND, VDBQ_INTEGER, equal, e,
                                tree);
}

static struct expression *compare_mixed(struct binder *binder,
                                        enum ast_operator operator,
                                        struct expression *integer,
                                        struct expression *real,
                                        const struct ast_expression *tree)
{
    real = meet_cast(binder, real, VDBQ_DOUBLE);
    if (real == NULL)
        return NULL;
    if (real->kind == EXPRESSION_CONSTANT)
        return compare_constant(binder, operator, integer, real, tree);
    if (integer->kind == EXPRESSION_CONSTANT)
        return compare_constant(binder, mirrored(operator), real, integer,
                                tree);
    return compare_columns(binder, operator, integer, real, tree);
}

/* ---------------------------------------------------------------- texts -- */

/* Texts that are both known. */
static struct expression *compare_texts(struct binder *binder,
                                        enum ast_operator operator,
                                        const struct expression *left,
                                        const struct expression *right,
                                        const struct ast_expression *tree)
{
    size_t a = left->text.length, b = right->text.length;
    int order = memcmp(left->text.bytes, right->text.bytes, a < b ? a : b);

    return expression_truth(
        binder, holds(operator, order != 0 ? order : (a > b) - (a < b)),
        tree->at);
}

static struct expression *compare_as_one(struct binder *binder,
                                         enum ast_operator operator,
                                         struct expression *left,
                                         struct expression *right,
                                         const struct ast_expression *tree)
{
    bool null = is_null_constant(left) || is_null_constant(right);

    if (is_mixed(left, right))
        return compare_mixed(binder, operator, left, right, tree);
    if (is_mixed(right, left))
        return compare_mixed(binder, mirrored(operator), right, left, tree);
    if (meet_compared(binder, &left, &right, tree->at) == VDBQ_TYPE_NONE)
        return NULL;
    if (!null && is_text_constant(left) && is_text_constant(right))
        return compare_texts(binder, operator, left, right, tree);
    return expression_operation(binder, operator, VDBQ_INTEGER, left, right,
                                tree);
}

/* The number that a constant text looks like; NULL: a failure, or where
 * `*none` it does not look like one. */
static struct expression *constant_number(struct binder *binder,
                                          const struct expression *text,
                                          bool *none)
{
    struct any_number number;

    *none = !number_of_text(text->text, &number);
    if (*none)
        return NULL;
    return number.is_real ? expression_real(binder, VDBQ_DOUBLE, number.real,
                                            text->at)
                          : expression_integer(binder, number.integer,
                                               text->at);
}

/* What a number is compared with in the place of a text: NULL where it is
 * below the text. */
static struct expression *text_bound(struct binder *binder,
                                     struct expression *text,
                                     enum bound bound, bool real)
{
    struct expression *arguments[2] = { text };

    arguments[1] = expression_integer(binder, bound, text->at);
    return arguments[1] ? expression_call(binder, real ? "bound_double"
                                                       : "bound_bigint",
                                          arguments, 2, text->at)
                        : NULL;
}

/* A number and a text that is looked at row by row. */
static struct expression *compare_looked_up(struct binder *binder,
                                            enum ast_operator operator,
                                            struct expression *number,
                                            struct expression *text,
                                            const struct ast_expression *tree)
{
    bool real = !is_integer(number->type);
    struct expression *as_double =
        real ? meet_cast(binder, number, VDBQ_DOUBLE) : number;
    struct expression *bound =
        as_double ? text_bound(binder, text, bound_of(operator), real) : NULL;
    struct expression *known =
        bound ? is_known(binder, NULL, bound, tree) : NULL;
    struct expression *number_holds =
        known ? expression_operation(binder, with_bound(operator),
                                     VDBQ_INTEGER, as_double, bound, tree)
              : NULL;
    struct expression *below =
        number_holds ? compare_below(binder, operator, number, text, tree)
                     : NULL;

    return below ? expression_choice(binder, known, number_holds, below,
                                     tree->at)
                 : NULL;
}

static struct expression *compare_numbers(struct binder *binder,
                                          enum ast_operator operator,
                                          struct expression *number,
                                          struct expression *text,
                                          const struct ast_expression *tree)
{
    struct expression *e;
    bool none;

    text = expression_known(binder, text);
    if (text == NULL)
        return NULL;
    if (text->kind != EXPRESSION_CONSTANT)
        return compare_looked_up(binder, operator, number, text, tree);
    e = constant_number(binder, text, &none);
    if (none)
        return compare_below(binder, operator, number, text, tree);
    return e ? compare_as_one(binder, operator, number, e, tree) : NULL;
}

/* ----------------------------------------------------------------- all -- */

static bool both_texts(struct binder *binder, struct expression **left,
                       struct expression **right)
{
    *left = meet_cast(binder, *left, VDBQ_TEXT);
    *right = *left ? meet_cast(binder, *right, VDBQ_TEXT) : NULL;
    return *right != NULL;
}

struct expression *expression_compare(struct binder *binder,
                                      enum ast_operator operator,
                                      struct expression *left,
                                      struct expression *right,
                                      const struct ast_expression *tree)
{
    enum comparing comparing = comparing_of(left, right);

    if (is_comparison(operator)
        && (is_null_constant(left) || is_null_constant(right)))
        return expression_null(binder, VDBQ_INTEGER, tree->at);
    if (comparing == COMPARE_AS_TEXTS && !both_texts(binder, &left, &right))
        return NULL;
    if (comparing == COMPARE_AS_ONE || comparing == COMPARE_AS_TEXTS)
        return compare_as_one(binder, operator, left, right, tree);
    if (left->type == VDBQ_TEXT) {
        struct expression *swap = left;
        left = right;
        right = swap;
        operator = mirrored(operator);
    }
    return comparing == COMPARE_AS_NUMBERS
               ? compare_numbers(binder, operator, left, right, tree)
               : compare_below(binder, operator, left, right, tree);
}

/* ---------------------------------------------------------------- keys -- */

/* One text for all numbers that are equal, and texts that look like them. */
static struct expression *number_key(struct binder *binder,
                                     struct expression *e)
{
    if (is_integer(e->type))
        return meet_cast(binder, e, VDBQ_TEXT);
    if (e->type != VDBQ_TEXT)
        e = meet_cast(binder, e, VDBQ_DOUBLE);
    return e ? expression_call(binder, e->type == VDBQ_TEXT
                                           ? "number_text"
                                           : "number_text_of",
                               &e, 1, e->at)
             : NULL;
}

/* 0 for a number, 1 for a text, or NULL where it is. */
static struct expression *class_key(struct binder *binder,
                                    struct expression *e)
{
    struct ast_expression place = { .at = e->at };

    return unless_null(binder, e->type == VDBQ_TEXT, e, NULL, &place);
}

bool compare_as_keys(struct binder *binder, struct expression **left,
                     struct expression **right, struct position at)
{
    struct expression *(*key)(struct binder *, struct expression *) = NULL;
    enum comparing comparing = comparing_of(*left, *right);

    if (comparing == COMPARE_AS_NUMBERS || is_mixed(*left, *right)
        || is_mixed(*right, *left))
        key = number_key;
    if (comparing == COMPARE_BY_CLASS)
        key = class_key;
    if (comparing == COMPARE_AS_TEXTS)
        return both_texts(binder, left, right);
    if (key == NULL)
        return expression_meet(binder, left, right, at) != VDBQ_TYPE_NONE;
    *left = key(binder, *left);
    *right = *left ? key(binder, *right) : NULL;
    return *right != NULL;
}

struct expression *compare_with_none(struct binder *binder,
                                     struct expression *operand,
                                     struct position at)
{
    struct ast_expression place = { .at = at };

    return unless_null(binder, false, operand, NULL, &place);
}

/* An integer's equal among floats. */
static bool integer_item(struct binder *binder, struct expression **item,
                         bool *never)
{
    *item = constant_bound(binder, *item, BOUND_EXACT, false, never);
    return *item != NULL || *never;
}

bool compare_item(struct binder *binder, struct expression *operand,
                  struct expression **item, bool *never)
{
    enum comparing comparing = comparing_of(operand, *item);
    struct expression *left = operand;

    *never = comparing == COMPARE_BY_CLASS;
    if (comparing == COMPARE_AS_NUMBERS)
        *item = constant_number(binder, *item, never);
    else if (comparing == COMPARE_AS_TEXTS)
        *item = meet_cast(binder, *item, VDBQ_TEXT);
    if (*item == NULL || *never)
        return *never;
    if (is_integer(operand->type) && is_float((*item)->type)
        && !(*item)->null)
        return integer_item(binder, item, never);
    return expression_meet(binder, &left, item, (*item)->at)
           != VDBQ_TYPE_NONE;
}
