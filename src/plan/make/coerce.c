/* SPDX-License-Identifier: MIT */
/*
 * Operands of different types meet in one: coerce.h.
 */
#include "plan/make/coerce.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/tree/binder.h"
#include "base/type.h"

/* ------------------------------------------------------------- numbers -- */

/* The value of a literal as a FLOAT; infinite where it is too large. */
static double as_float(const struct expression *literal)
{
    double value = literal->constant.real;

    if (!is_float(literal->type))
        return (double)(float)literal->constant.integer;
    if (fabs(value) > (double)FLT_MAX && !isinf(value))
        return value > 0 ? INFINITY : -INFINITY;
    return (double)(float)value;
}

/* Whether a constant takes the type of a FLOAT. What is just above FLT_MAX,
 * and would be rounded to it, may stay what it is. */
static bool takes_float(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->literal
           && (isinf(e->constant.real) || !isinf(as_float(e)));
}

struct expression *coerce_cast(struct binder *binder, struct expression *e,
                               int type)
{
    if (e->type == type)
        return e;
    if (is_null_constant(e))
        return expression_null(binder, type, e->at);
    if (type == VDBQ_FLOAT && e->kind == EXPRESSION_CONSTANT && e->literal)
        return expression_real(binder, VDBQ_FLOAT, as_float(e), e->at);
    return expression_cast_plain(binder, e, type, e->at);
}

/* A literal like 0.05 as the DECIMAL that it reads as; itself where it has
 * too many digits. */
static struct expression *literal_decimal(struct binder *binder,
                                          struct expression *e)
{
    char digits[64], *point;
    unsigned scale;

    if (e->kind != EXPRESSION_CONSTANT || !e->literal || e->type != VDBQ_DOUBLE
        || e->constant.null || !(fabs(e->constant.real) < 1e9))
        return e;
    snprintf(digits, sizeof digits, "%.9f", e->constant.real);
    if (fabs(strtod(digits, NULL) - e->constant.real)
        > fabs(e->constant.real) * 1e-14)
        return e;
    point = strchr(digits, '.');
    scale = (unsigned)strlen(point + 1);
    while (scale > 0 && point[scale] == '0')
        scale--;
    memmove(point, point + 1, scale);
    point[scale] = '\0';
    return expression_renamed(
        binder, expression_integer(binder, strtoll(digits, NULL, 10), e->at),
        VDBQ_DECIMAL, scale);
}

bool coerce_literals(struct binder *binder, struct expression **left,
                     struct expression **right)
{
    if ((*left)->type == VDBQ_DECIMAL)
        *right = literal_decimal(binder, *right);
    if (*right != NULL && (*right)->type == VDBQ_DECIMAL)
        *left = literal_decimal(binder, *left);
    return *left != NULL && *right != NULL;
}

bool coerce_scales(struct binder *binder, struct expression **left,
                   struct expression **right, struct position at)
{
    unsigned scale =
        (*left)->scale > (*right)->scale ? (*left)->scale : (*right)->scale;

    *left = expression_scale(binder, *left, scale, at);
    if (*left != NULL)
        *right = expression_scale(binder, *right, scale, at);
    return *left != NULL && *right != NULL;
}

/* Of a DECIMAL whose digits nobody counted there may be as many as fit. */
static unsigned digits_of(const struct expression *e)
{
    return e->type == VDBQ_DECIMAL && e->precision == 0 ? DECIMAL_DIGITS_MAX
                                                        : e->precision;
}

unsigned coerce_precision(const struct expression *left,
                          const struct expression *right)
{
    unsigned a = digits_of(left), b = digits_of(right);

    return a > b ? a : b;
}

static int common_float(const struct expression *left,
                        const struct expression *right)
{
    bool left_float = left->type == VDBQ_FLOAT;
    bool right_float = right->type == VDBQ_FLOAT;

    if (left_float && (right_float || takes_float(right)))
        return VDBQ_FLOAT;
    return right_float && takes_float(left) ? VDBQ_FLOAT : VDBQ_DOUBLE;
}

static int coerce_numbers(struct binder *binder, struct expression **left,
                          struct expression **right, struct position at)
{
    int type;

    if (!coerce_literals(binder, left, right))
        return VDBQ_TYPE_NONE;
    if (is_float((*left)->type) || is_float((*right)->type)) {
        type = common_float(*left, *right);
        *left = coerce_cast(binder, *left, type);
        *right = *left ? coerce_cast(binder, *right, type) : NULL;
        return *right != NULL ? type : VDBQ_TYPE_NONE;
    }
    if ((*left)->type == VDBQ_DECIMAL || (*right)->type == VDBQ_DECIMAL)
        return coerce_scales(binder, left, right, at) ? VDBQ_DECIMAL
                                                      : VDBQ_TYPE_NONE;
    return (*left)->type == (*right)->type ? (*left)->type : VDBQ_BIGINT;
}

/* Integers that meet in BIGINT as values, not only to be compared. */
static bool widen_both(struct binder *binder, struct expression **left,
                       struct expression **right)
{
    *left = coerce_cast(binder, *left, VDBQ_BIGINT);
    *right = *left ? coerce_cast(binder, *right, VDBQ_BIGINT) : NULL;
    return *right != NULL;
}

/* --------------------------------------------------------------- others -- */

bool is_text_constant(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->type == VDBQ_TEXT;
}

int coerce_refuse(struct binder *binder, const struct expression *left,
                  const struct expression *right, struct position at)
{
    error_at(binder->error, VDBQ_TYPE, at, "a %s and a %s do not go together",
             type_name((enum vdbq_type)left->type),
             type_name((enum vdbq_type)right->type));
    error_hint(binder->error, "CAST(... AS %s) converts",
               type_name((enum vdbq_type)left->type));
    return VDBQ_TYPE_NONE;
}

/* A text that is written takes the type of what it meets. */
static bool read_literal(struct binder *binder, struct expression **literal,
                         const struct expression *other)
{
    *literal = is_number(other->type) && other->type != VDBQ_BOOLEAN
                   ? expression_text_number(binder, *literal)
                   : coerce_cast(binder, *literal, other->type);
    return *literal != NULL;
}

bool coerce_texts(struct binder *binder, struct expression **left,
                  struct expression **right)
{
    if ((*left)->type == VDBQ_TEXT)
        *left = expression_known(binder, *left);
    if (*left != NULL && (*right)->type == VDBQ_TEXT)
        *right = expression_known(binder, *right);
    return *left != NULL && *right != NULL;
}

/* Types that are not both numbers. */
static int coerce_others(struct binder *binder, struct expression **left,
                         struct expression **right, struct position at)
{
    int a = (*left)->type, b = (*right)->type;

    if (a == b)
        return a;
    if ((a == VDBQ_DATE && b == VDBQ_TIMESTAMP)
        || (a == VDBQ_TIMESTAMP && b == VDBQ_DATE)) {
        *left = coerce_cast(binder, *left, VDBQ_TIMESTAMP);
        *right = *left ? coerce_cast(binder, *right, VDBQ_TIMESTAMP) : NULL;
        return *right != NULL ? VDBQ_TIMESTAMP : VDBQ_TYPE_NONE;
    }
    if (!coerce_texts(binder, left, right))
        return VDBQ_TYPE_NONE;
    if (is_text_constant(*right) && !is_text_constant(*left)) {
        if (!read_literal(binder, right, *left))
            return VDBQ_TYPE_NONE;
    } else if (is_text_constant(*left) && !is_text_constant(*right)) {
        if (!read_literal(binder, left, *right))
            return VDBQ_TYPE_NONE;
    } else {
        return coerce_refuse(binder, *left, *right, at);
    }
    return coerce_compared(binder, left, right, at);
}

/* NULL takes the other's type; of two, nothing changes. */
static int coerce_null(struct binder *binder, struct expression **left,
                       struct expression **right)
{
    bool left_is =
        is_null_constant(*left)
        && (!is_null_constant(*right) || (*left)->type == VDBQ_INTEGER);
    struct expression **null = left_is ? left : right;
    const struct expression *other = null == left ? *right : *left;
    struct expression *e = expression_null(binder, other->type, (*null)->at);

    if (e == NULL)
        return VDBQ_TYPE_NONE;
    e->precision = other->precision;
    e->scale = other->scale;
    *null = e;
    return other->type;
}

/* ------------------------------------------------------------------ all -- */

int coerce_compared(struct binder *binder, struct expression **left,
                    struct expression **right, struct position at)
{
    if (is_null_constant(*left) || is_null_constant(*right))
        return coerce_null(binder, left, right);
    if (is_number((*left)->type) && is_number((*right)->type))
        return coerce_numbers(binder, left, right, at);
    return coerce_others(binder, left, right, at);
}

int expression_coerce(struct binder *binder, struct expression **left,
                      struct expression **right, struct position at)
{
    int type = coerce_compared(binder, left, right, at);

    if (type == VDBQ_BIGINT && (*left)->type != (*right)->type
        && !widen_both(binder, left, right))
        return VDBQ_TYPE_NONE;
    return type;
}

/* -------------------------------------------------------------- choices -- */

/* What a condition that is known chooses; a NULL has the other's type. */
static struct expression *chosen(struct binder *binder,
                                 const struct expression *condition,
                                 struct expression *left,
                                 struct expression *right)
{
    bool holds = known_truth(condition) == 1;
    struct expression *e = holds ? left : right;
    const struct expression *other = holds ? right : left;

    return is_null_constant(e)
                   && (e->type == VDBQ_INTEGER || !is_null_constant(other))
               ? expression_null(binder, other->type, e->at)
               : e;
}

struct expression *expression_choice(struct binder *binder,
                                     struct expression *condition,
                                     struct expression *left,
                                     struct expression *right,
                                     struct position at)
{
    struct expression *e;

    if (condition->kind == EXPRESSION_CONSTANT)
        return chosen(binder, condition, left, right);
    if (expression_coerce(binder, &left, &right, at) == VDBQ_TYPE_NONE)
        return NULL;
    e = expression_new(binder, EXPRESSION_CHOICE, left->type, at);
    if (e == NULL)
        return NULL;
    e->condition = condition;
    e->left = left;
    e->right = right;
    e->precision = coerce_precision(left, right);
    e->scale = left->scale;
    return expression_finish(binder, e);
}
