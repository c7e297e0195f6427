/* SPDX-License-Identifier: MIT */
/*
 * How the two sides of a comparison meet: compare.h. What a number is compared
 * with in the place of a text is looked up for each word of a column.
 */
#include "plan/operator/compare.h"

#include <string.h>

#include "plan/make/call.h"
#include "plan/operator/collate.h"
#include "plan/operator/compare_inner.h"
#include "plan/make/expression_new.h"
#include "plan/make/fold.h"
#include "plan/make/known.h"
#include "plan/make/coerce.h"
#include "plan/tree/binder.h"

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

static struct expression *compare_as_one(struct binder *binder,
                                         enum ast_operator operator,
                                         struct expression * left,
                                         struct expression *right,
                                         const struct ast_expression *tree)
{
    bool null = is_null_constant(left) || is_null_constant(right);

    if (!coerce_literals(binder, &left, &right))
        return NULL;
    if (compare_is_mixed(left, right))
        return compare_mixed(binder, operator, left, right, tree);
    if (coerce_compared(binder, &left, &right, tree->at) == VDBQ_TYPE_NONE)
        return NULL;
    if (!null && is_text_constant(left) && is_text_constant(right))
        return fold_texts(binder, operator, left, right, tree->at);
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

    *none = !number_of_text(text->constant.text, &number);
    if (*none)
        return NULL;
    return number.is_real
               ? expression_real(binder, VDBQ_DOUBLE, number.real, text->at)
               : expression_integer(binder, number.integer, text->at);
}

/* What a number is compared with in the place of a text: NULL where it is
 * below the text. */
static struct expression *text_bound(struct binder *binder,
                                     struct expression *text, enum bound bound,
                                     bool real)
{
    struct expression *arguments[2] = { text };

    arguments[1] = expression_integer(binder, bound, text->at);
    return arguments[1]
               ? expression_call(binder, real ? "bound_double" : "bound_bigint",
                                 arguments, 2, text->at)
               : NULL;
}

/* A number and a text that is looked at row by row. */
static struct expression *compare_looked_up(struct binder *binder,
                                            enum ast_operator operator,
                                            struct expression * number,
                                            struct expression *text,
                                            const struct ast_expression *tree)
{
    bool real = !is_integer(number->type);
    struct expression *as_double =
        real ? coerce_cast(binder, number, VDBQ_DOUBLE) : number;
    struct expression *bound =
        as_double ? text_bound(binder, text, compare_bound_of(operator), real)
                  : NULL;
    struct expression *known =
        bound ? compare_known(binder, NULL, bound, tree) : NULL;
    struct expression *number_holds =
        known ? expression_operation(binder, compare_with_bound(operator),
                                     VDBQ_INTEGER, as_double, bound, tree)
              : NULL;
    struct expression *below =
        number_holds ? compare_below(binder, operator, number, text, tree)
                     : NULL;

    return below
               ? expression_choice(binder, known, number_holds, below, tree->at)
               : NULL;
}

static struct expression *compare_numbers(struct binder *binder,
                                          enum ast_operator operator,
                                          struct expression * number,
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
    *left = coerce_cast(binder, *left, VDBQ_TEXT);
    *right = *left ? coerce_cast(binder, *right, VDBQ_TEXT) : NULL;
    return *right != NULL;
}

/* The collation that counts while names are bound. */
static enum collation collation_here(const struct binder *binder,
                                     const struct expression *left,
                                     const struct expression *right)
{
    return binder->bound ? COLLATION_BINARY : collation_between(left, right);
}

/* Two texts become their keys; other types stay. */
static bool collate_both(struct binder *binder, enum collation collation,
                         struct expression **left, struct expression **right)
{
    if ((*left)->type != VDBQ_TEXT || (*right)->type != VDBQ_TEXT)
        return true;
    *left = collation_key(binder, *left, collation);
    *right = *left ? collation_key(binder, *right, collation) : NULL;
    return *right != NULL;
}

struct expression *expression_compare(struct binder *binder,
                                      enum ast_operator operator,
                                      struct expression * left,
                                      struct expression *right,
                                      const struct ast_expression *tree)
{
    enum comparing comparing = comparing_of(left, right);
    enum collation collation = collation_here(binder, left, right);
    struct expression *found;

    if (compare_found(binder, operator, left, right, tree, &found))
        return found;
    if (is_comparison(operator)
        && (is_null_constant(left) || is_null_constant(right)))
        return expression_null(binder, VDBQ_INTEGER, tree->at);
    if (comparing == COMPARE_AS_TEXTS && !both_texts(binder, &left, &right))
        return NULL;
    if (!collate_both(binder, collation, &left, &right))
        return NULL;
    if (comparing == COMPARE_AS_ONE || comparing == COMPARE_AS_TEXTS)
        return compare_as_one(binder, operator, left, right, tree);
    if (left->type == VDBQ_TEXT) {
        struct expression *swap = left;
        left = right;
        right = swap;
        operator= compare_mirrored(operator);
    }
    return comparing == COMPARE_AS_NUMBERS
               ? compare_numbers(binder, operator, left, right, tree)
               : compare_below(binder, operator, left, right, tree);
}

/* ---------------------------------------------------------------- keys -- */

/* 0 for a number, 1 for a text, or NULL where it is. */
static struct expression *class_key(struct binder *binder, struct expression *e)
{
    struct ast_expression place = { .at = e->at };

    return compare_unless_null(binder, e->type == VDBQ_TEXT, e, NULL, &place);
}

/* What meets in one type. */
static bool one_keys(struct binder *binder, struct expression **left,
                     struct expression **right, struct position at)
{
    if (!coerce_literals(binder, left, right))
        return false;
    return compare_is_mixed(*left, *right)
               ? mixed_keys(binder, left, right)
               : expression_coerce(binder, left, right, at) != VDBQ_TYPE_NONE;
}

bool compare_as_keys(struct binder *binder, struct expression **left,
                     struct expression **right, struct position at)
{
    struct expression *(*key)(struct binder *, struct expression *);
    enum collation collation = collation_here(binder, *left, *right);

    switch (comparing_of(*left, *right)) {
    case COMPARE_AS_TEXTS:
        return both_texts(binder, left, right)
               && collate_both(binder, collation, left, right);
    case COMPARE_AS_NUMBERS:
        key = compare_number_key;
        break;
    case COMPARE_BY_CLASS:
        key = class_key;
        break;
    default:
        return one_keys(binder, left, right, at)
               && collate_both(binder, collation, left, right);
    }
    *left = key(binder, *left);
    *right = *left ? key(binder, *right) : NULL;
    return *right != NULL;
}

struct expression *compare_with_none(struct binder *binder,
                                     struct expression *operand,
                                     struct position at)
{
    struct ast_expression place = { .at = at };

    return compare_unless_null(binder, false, operand, NULL, &place);
}

/* An integer's equal among floats. */
static bool integer_item(struct binder *binder, struct expression **item,
                         bool *never)
{
    *item = compare_constant_bound(binder, *item, BOUND_EXACT, false, never);
    return *item != NULL || *never;
}

/* Whether a type has a value for a known integer, or digits of a DECIMAL. */
static bool has_value_for(const struct expression *operand,
                          const struct expression *item)
{
    int64_t integer = item->constant.integer, digits;
    unsigned scale = item->type == VDBQ_DECIMAL ? item->scale : 0;
    double real =
        operand->type == VDBQ_FLOAT ? (double)(float)integer : (double)integer;

    if (is_float(operand->type) && is_integer(item->type))
        return real < 0x1p63 && (int64_t)real == integer;
    return operand->type != VDBQ_DECIMAL || scale >= operand->scale
           || !(is_integer(item->type) || item->type == VDBQ_DECIMAL)
           || !__builtin_mul_overflow(
               integer, decimal_power(operand->scale - scale), &digits);
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
        *item = coerce_cast(binder, *item, VDBQ_TEXT);
    if (*item == NULL || *never)
        return *never;
    if (is_integer(operand->type) && is_float((*item)->type)
        && !(*item)->constant.null)
        return integer_item(binder, item, never);
    *never = !(*item)->constant.null && !has_value_for(operand, *item);
    if (*never)
        return true;
    return expression_coerce(binder, &left, item, (*item)->at)
           != VDBQ_TYPE_NONE;
}
