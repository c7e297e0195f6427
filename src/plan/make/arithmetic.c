/* SPDX-License-Identifier: MIT */
/*
 * Operators of numbers and dates get their types, once these are
 * coerced to one (coerce.h):
 *
 *   operands                   + - * / give          % gives
 *   integers, BOOLEAN          BIGINT                BIGINT
 *   coerced to DECIMAL         DECIMAL, / DOUBLE     DECIMAL
 *   coerced to FLOAT           FLOAT                 DOUBLE
 *   coerced to DOUBLE          DOUBLE                DOUBLE
 *
 * Where one is a float, the remainder is that of integers: both are cut to
 * BIGINT, each by itself. Whatever meets NULL in arithmetic or a comparison is
 * NULL. Dates move by whole days.
 */
#include "plan/make/arithmetic.h"

#include <assert.h>
#include <string.h>

#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/tree/binder.h"

/* ---------------------------------------------------------- arithmetic -- */

static bool is_zero(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && !e->constant.null
           && is_number(e->type)
           && (is_float(e->type) ? e->constant.real == 0
                                 : e->constant.integer == 0);
}

/* A number without its fraction. */
static struct expression *cut_off(struct binder *binder, struct expression *e,
                                  struct position at)
{
    if (e->type == VDBQ_DECIMAL)
        e = expression_cast_plain(binder, e, VDBQ_DOUBLE, at);
    return expression_cast_plain(binder, e, VDBQ_BIGINT, at);
}

/* The remainder of two numbers of which one is a float. */
static struct expression *real_remainder(struct binder *binder,
                                         struct expression *left,
                                         struct expression *right,
                                         const struct ast_expression *tree)
{
    struct expression *rest;

    left = cut_off(binder, left, tree->at);
    right = left ? cut_off(binder, right, tree->at) : NULL;
    rest =
        expression_operation(binder, AST_MOD, VDBQ_BIGINT, left, right, tree);
    return rest ? expression_cast_plain(binder, rest, VDBQ_DOUBLE, tree->at)
                : NULL;
}

/* Numbers of which none is a float and one is a DECIMAL. */
static struct expression *decimal_arithmetic(struct binder *binder,
                                             enum ast_operator operator,
                                             struct expression * left,
                                             struct expression *right,
                                             const struct ast_expression *tree)
{
    unsigned scale = left->scale > right->scale ? left->scale : right->scale;
    struct expression *e;

    if (operator== AST_MUL)
        scale = left->scale + right->scale;
    if (operator== AST_DIV || scale> 18) {
        left = expression_cast_plain(binder, left, VDBQ_DOUBLE, tree->at);
        right =
            left ? expression_cast_plain(binder, right, VDBQ_DOUBLE, tree->at)
                 : NULL;
        return expression_operation(binder, operator, VDBQ_DOUBLE, left, right,
                                    tree);
    }
    if (operator!= AST_MUL && !coerce_scales(binder, &left, &right, tree->at))
        return NULL;
    e = expression_operation(binder, operator, VDBQ_DECIMAL, left, right, tree);
    if (e != NULL) {
        e->precision = 18;
        e->scale = scale;
    }
    return e;
}

static struct expression *number_arithmetic(struct binder *binder,
                                            enum ast_operator operator,
                                            struct expression * left,
                                            struct expression *right,
                                            const struct ast_expression *tree)
{
    bool is_decimal;
    int type;

    if (!coerce_literals(binder, &left, &right))
        return NULL;
    is_decimal = left->type == VDBQ_DECIMAL || right->type == VDBQ_DECIMAL;
    if (is_decimal && !is_float(left->type) && !is_float(right->type))
        return decimal_arithmetic(binder, operator, left, right, tree);
    if (operator== AST_MOD &&(is_float(left->type) || is_float(right->type)))
        return real_remainder(binder, left, right, tree);
    type = coerce_compared(binder, &left, &right, tree->at);
    if (type == VDBQ_TYPE_NONE)
        return NULL;
    return expression_operation(binder, operator,
                                is_float(type) ? type : VDBQ_BIGINT, left,
                                right, tree);
}

/* The type that arithmetic with a NULL has. */
static int null_type(const struct expression *left,
                     const struct expression *right, enum ast_operator operator)
{
    bool dates = left->type == VDBQ_DATE && right->type == VDBQ_DATE;

    if (!dates && (left->type == VDBQ_DATE || right->type == VDBQ_DATE))
        return VDBQ_DATE;
    if (is_float(left->type) || is_float(right->type))
        return
        operator== AST_MOD || left->type == VDBQ_DOUBLE || right->type == VDBQ_DOUBLE
            ? VDBQ_DOUBLE
            : VDBQ_FLOAT;
    return VDBQ_BIGINT;
}

/* Days: DATE - DATE, DATE + n, n + DATE, DATE - n. */
static struct expression *date_arithmetic(struct binder *binder,
                                          enum ast_operator operator,
                                          struct expression * left,
                                          struct expression *right,
                                          const struct ast_expression *tree)
{
    bool dates = left->type == VDBQ_DATE && right->type == VDBQ_DATE;
    struct expression *days;

    if (!dates && operator== AST_ADD && right->type == VDBQ_DATE) {
        struct expression *swap = left;
        left = right;
        right = swap;
    }
    if (left->type != VDBQ_DATE || (!dates && !is_integer(right->type))
        || (operator!= AST_SUB &&(dates || operator!= AST_ADD))) {
        coerce_refuse(binder, left, right, tree->at);
        return NULL;
    }
    days =
        expression_operation(binder, operator, VDBQ_BIGINT, left, right, tree);
    return dates || days == NULL
               ? days
               : expression_cast_plain(binder, days, VDBQ_DATE, tree->at);
}

struct expression *expression_arithmetic(struct binder *binder,
                                         enum ast_operator operator,
                                         struct expression * left,
                                         struct expression *right,
                                         const struct ast_expression *tree)
{
    bool divides = operator== AST_DIV || operator== AST_MOD;

    assert(operator<= AST_MOD);
    if (is_null_constant(left) || is_null_constant(right)
        || (divides && is_zero(right)))
        return expression_null(binder, null_type(left, right, operator),
                               tree->at);
    if (!coerce_texts(binder, &left, &right))
        return NULL;
    if (is_text_constant(left))
        left = expression_text_number(binder, left);
    if (left != NULL && is_text_constant(right))
        right = expression_text_number(binder, right);
    if (left == NULL || right == NULL)
        return NULL;
    if (!is_number(left->type) || !is_number(right->type))
        return date_arithmetic(binder, operator, left, right, tree);
    return number_arithmetic(binder, operator, left, right, tree);
}

struct expression *expression_calculate(struct binder *binder,
                                        enum ast_operator operator,
                                        struct expression * left, int64_t right,
                                        struct position at)
{
    struct ast_expression place = { .at = at };
    struct expression *e;

    if (left == NULL)
        return NULL;
    e = is_comparison(operator) && is_float(left->type)
            ? expression_real(binder, VDBQ_DOUBLE, (double)right, at)
            : expression_integer(binder, right, at);
    if (e == NULL)
        return NULL;
    if (is_comparison(operator))
        return expression_operation(binder, operator, VDBQ_INTEGER, left, e,
                                    &place);
    return expression_arithmetic(binder, operator, left, e, &place);
}

/* Minus a literal, whose digits get the sign. */
static struct expression *minus_real(struct binder *binder,
                                     const struct expression *literal,
                                     struct position at)
{
    struct vdbq_text digits = literal->constant.text;
    struct expression *e =
        expression_real(binder, literal->type, -literal->constant.real, at);
    char *bytes = e != NULL && digits.length > 0 && digits.bytes[0] != '-'
                      ? arena_alloc(binder->arena, digits.length + 1)
                      : NULL;

    if (bytes == NULL)
        return e;
    bytes[0] = '-';
    memcpy(bytes + 1, digits.bytes, digits.length);
    e->constant.text = (struct vdbq_text){ bytes, digits.length + 1 };
    return e;
}

/* 0 - x of an integer, and -1 * x of a float, so that 0.0 becomes -0.0. */
struct expression *expression_minus(struct binder *binder,
                                    struct expression *operand,
                                    const struct ast_expression *tree)
{
    bool real = is_float(operand->type);
    struct expression *factor;

    if (operand->kind == EXPRESSION_CONSTANT && operand->literal
        && !operand->constant.null) {
        if (real)
            return minus_real(binder, operand, tree->at);
        if (is_integer(operand->type) && operand->constant.integer != INT64_MIN)
            return expression_integer(binder, -operand->constant.integer,
                                      tree->at);
    }
    factor = real ? expression_real(binder, VDBQ_DOUBLE, -1, tree->at)
                  : expression_integer(binder, 0, tree->at);
    if (factor == NULL)
        return NULL;
    return expression_arithmetic(binder, real ? AST_MUL : AST_SUB, factor,
                                 operand, tree);
}
