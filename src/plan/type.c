/* SPDX-License-Identifier: MIT */
/*
 * Operators get their types, and operands of different types are converted:
 *
 *   operands                   meet as      + - * / give   % gives
 *   integers, BOOLEAN          integers     BIGINT         BIGINT
 *   DECIMAL with these         DECIMAL      DECIMAL, / DOUBLE  DECIMAL
 *   FLOAT with FLOAT           FLOAT        FLOAT          DOUBLE
 *   FLOAT with a literal       FLOAT        FLOAT          DOUBLE
 *   DECIMAL with a literal     DECIMAL      DECIMAL, / DOUBLE  DECIMAL
 *   all other numbers          DOUBLE       DOUBLE         DOUBLE
 *   DATE with TIMESTAMP        TIMESTAMP
 *   text with a literal text   what the text is read as
 *
 * A literal that is too large for a FLOAT stays what it is. Remainders are
 * those of integers: floats are cut to BIGINT first. Whatever meets NULL in
 * arithmetic or a comparison is NULL. Dates move by whole days.
 */
#include "plan/plan_inner.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct expression *logic(struct binder *binder,
                                enum ast_operator operator,
                                struct expression *left,
                                struct expression *right,
                                const struct ast_expression *tree);

/* ----------------------------------------------------------- constants -- */

struct expression *expression_new(struct binder *binder,
                                  enum expression_kind kind, int type,
                                  struct position at)
{
    struct expression *e = arena_alloc(binder->arena, sizeof *e);

    if (e == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    e->kind = kind;
    e->type = type;
    e->machine = type == VDBQ_TEXT ? TYPE_I32
                                   : type_machine((enum vdbq_type)type);
    e->at = at;
    return e;
}

static struct expression *constant(struct binder *binder, int type,
                                   struct position at)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_CONSTANT, type, at);

    if (e != NULL)
        e->literal = true;
    return e;
}

struct expression *expression_null(struct binder *binder, int type,
                                   struct position at)
{
    struct expression *e = constant(binder, type, at);

    if (e == NULL)
        return NULL;
    e->null = true;
    range_constant(e);
    return e;
}

struct expression *expression_integer(struct binder *binder, int64_t value,
                                      struct position at)
{
    struct expression *e = constant(binder, VDBQ_BIGINT, at);

    if (e == NULL)
        return NULL;
    e->integer = value;
    range_constant(e);
    return e;
}

struct expression *expression_truth(struct binder *binder, bool value,
                                    struct position at)
{
    struct expression *e = expression_integer(binder, value, at);

    if (e != NULL)
        e->type = VDBQ_INTEGER;
    return e;
}

struct expression *expression_real(struct binder *binder, int type,
                                   double value, struct position at)
{
    struct expression *e = constant(binder, type, at);

    if (e == NULL)
        return NULL;
    e->real = value;
    range_constant(e);
    return e;
}

struct expression *expression_text(struct binder *binder,
                                   struct vdbq_text text, struct position at)
{
    struct expression *e = constant(binder, VDBQ_TEXT, at);

    if (e == NULL)
        return NULL;
    e->text = text;
    range_constant(e);
    return e;
}

/* -------------------------------------------------------------- making -- */

static size_t size_of(const struct expression *e)
{
    return e == NULL ? 0 : e->size > 0 ? e->size : 1;
}

struct expression *expression_finish(struct binder *binder,
                                     struct expression *e)
{
    const struct expression *left = e->left, *right = e->right;
    bool constant = left->kind == EXPRESSION_CONSTANT
                    && (right == NULL || right->kind == EXPRESSION_CONSTANT)
                    && (e->condition == NULL
                        || e->condition->kind == EXPRESSION_CONSTANT);

    e->size = 1 + size_of(left) + size_of(right) + size_of(e->condition);
    if (e->size > EXPRESSION_PARTS_MAX) {
        error_at(binder->error, VDBQ_LIMIT, e->at,
                 "the expression has more than %d parts", EXPRESSION_PARTS_MAX);
        return NULL;
    }
    range_update(e);
    if (!constant)
        return e;
    e->literal = left->literal && (right == NULL || right->literal);
    return fold(binder, e) == VDBQ_OK ? e : NULL;
}

void expression_place(const struct binder *binder, struct expression *e,
                      const struct ast_expression *tree)
{
    if (binder->views > 0)
        return;
    e->begin = tree->begin;
    e->end = tree->end;
}

/* An operator whose operands have their types. */
static struct expression *operation(struct binder *binder,
                                    enum ast_operator operator, int type,
                                    struct expression *left,
                                    struct expression *right,
                                    const struct ast_expression *tree)
{
    struct expression *e;

    if (left == NULL || (right == NULL && operator != AST_NOT))
        return NULL;
    e = expression_new(binder, EXPRESSION_OPERATOR, type, tree->at);
    if (e == NULL)
        return NULL;
    e->operator = operator;
    e->left = left;
    e->right = right;
    expression_place(binder, e, tree);
    return expression_finish(binder, e);
}

struct expression *expression_number(struct binder *binder,
                                     struct expression *operand, int type,
                                     struct position at)
{
    struct expression *e = expression_new(binder, EXPRESSION_CAST, type, at);

    if (e == NULL)
        return NULL;
    e->left = operand;
    return expression_finish(binder, e);
}

struct expression *expression_check(struct binder *binder,
                                    struct expression *operand,
                                    struct expression *refused,
                                    const char *message)
{
    struct expression *e = expression_new(binder, EXPRESSION_CHECK,
                                          operand->type, operand->at);

    if (e == NULL)
        return NULL;
    e->left = operand;
    e->condition = refused;
    e->call = message;
    e->precision = operand->precision;
    e->scale = operand->scale;
    return expression_finish(binder, e);
}

struct expression *expression_math(struct binder *binder, enum opcode op,
                                   int type, struct expression *left,
                                   struct expression *right, bool nan,
                                   struct position at)
{
    struct expression *e = expression_new(binder, EXPRESSION_MATH, type, at);

    if (e == NULL)
        return NULL;
    e->op = op;
    e->left = left;
    e->right = right;
    e->null_at_nan = nan;
    if (is_null_constant(left) || (right && is_null_constant(right)))
        return expression_null(binder, type, at);
    return expression_finish(binder, e);
}

int known_truth(const struct expression *e)
{
    if (e->kind != EXPRESSION_CONSTANT || e->null)
        return -1;
    return is_float(e->type) ? e->real != 0 : e->integer != 0;
}

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
               ? expression_null(binder, other->type, e->at) : e;
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
    if (expression_meet(binder, &left, &right, at) == VDBQ_TYPE_NONE)
        return NULL;
    e = expression_new(binder, EXPRESSION_CHOICE, left->type, at);
    if (e == NULL)
        return NULL;
    e->condition = condition;
    e->left = left;
    e->right = right;
    e->precision = left->precision;
    e->scale = left->scale;
    return expression_finish(binder, e);
}

/* ------------------------------------------------------------- meeting -- */

/* The value of a literal as a FLOAT; infinite where it is too large. */
static double as_float(const struct expression *literal)
{
    double value = literal->real;

    if (!is_float(literal->type))
        return (double)(float)literal->integer;
    if (fabs(value) > (double)FLT_MAX && !isinf(value))
        return value > 0 ? INFINITY : -INFINITY;
    return (double)(float)value;
}

/* Whether a constant takes the type of a FLOAT. What is just above FLT_MAX,
 * and would be rounded to it, may stay what it is. */
static bool takes_float(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->literal
           && (isinf(e->real) || !isinf(as_float(e)));
}

static struct expression *as_type(struct binder *binder,
                                  struct expression *e, int type)
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
    char digits[64];
    const char *point;
    struct ast_type type = { .type = VDBQ_DECIMAL, .precision = 18 };

    if (e->kind != EXPRESSION_CONSTANT || !e->literal
        || e->type != VDBQ_DOUBLE || !(fabs(e->real) < 1e9))
        return e;
    snprintf(digits, sizeof digits, "%.9f", e->real);
    if (fabs(strtod(digits, NULL) - e->real) > fabs(e->real) * 1e-14)
        return e;
    point = strchr(digits, '.');
    type.scale = (unsigned)strlen(point + 1);
    while (type.scale > 0 && point[type.scale] == '0')
        type.scale--;
    return expression_cast(binder, e, type, e->at);
}

/* Numbers, one of them a DECIMAL and none a float: the same scale. */
static bool meet_decimals(struct binder *binder, struct expression **left,
                          struct expression **right, struct position at)
{
    unsigned scale = (*left)->scale > (*right)->scale ? (*left)->scale
                                                      : (*right)->scale;

    *left = expression_scale(binder, *left, scale, at);
    if (*left != NULL)
        *right = expression_scale(binder, *right, scale, at);
    return *left != NULL && *right != NULL;
}

static int meeting_float(const struct expression *left,
                         const struct expression *right)
{
    bool left_float = left->type == VDBQ_FLOAT;
    bool right_float = right->type == VDBQ_FLOAT;

    if (left_float && (right_float || takes_float(right)))
        return VDBQ_FLOAT;
    return right_float && takes_float(left) ? VDBQ_FLOAT : VDBQ_DOUBLE;
}

static int meet_numbers(struct binder *binder, struct expression **left,
                        struct expression **right, struct position at)
{
    int type;

    if ((*left)->type == VDBQ_DECIMAL)
        *right = literal_decimal(binder, *right);
    if (*right != NULL && (*right)->type == VDBQ_DECIMAL)
        *left = literal_decimal(binder, *left);
    if (*left == NULL || *right == NULL)
        return VDBQ_TYPE_NONE;
    if (is_float((*left)->type) || is_float((*right)->type)) {
        type = meeting_float(*left, *right);
        *left = as_type(binder, *left, type);
        *right = *left ? as_type(binder, *right, type) : NULL;
        return *right != NULL ? type : VDBQ_TYPE_NONE;
    }
    if ((*left)->type == VDBQ_DECIMAL || (*right)->type == VDBQ_DECIMAL)
        return meet_decimals(binder, left, right, at) ? VDBQ_DECIMAL
                                                      : VDBQ_TYPE_NONE;
    return (*left)->type == (*right)->type ? (*left)->type : VDBQ_BIGINT;
}

/* Integers that meet in BIGINT as values, not only to be compared. */
static bool widen_both(struct binder *binder, struct expression **left,
                       struct expression **right)
{
    *left = as_type(binder, *left, VDBQ_BIGINT);
    *right = *left ? as_type(binder, *right, VDBQ_BIGINT) : NULL;
    return *right != NULL;
}

static bool is_literal_text(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->type == VDBQ_TEXT;
}

static int refuse_meeting(struct binder *binder,
                          const struct expression *left,
                          const struct expression *right, struct position at)
{
    error_at(binder->error, VDBQ_TYPE, at,
             "a %s and a %s do not go together",
             vdbq_type_name((enum vdbq_type)left->type),
             vdbq_type_name((enum vdbq_type)right->type));
    error_hint(binder->error, "CAST(... AS %s) converts",
               vdbq_type_name((enum vdbq_type)left->type));
    return VDBQ_TYPE_NONE;
}

/* A literal text takes the type of what it meets. */
static bool read_literal(struct binder *binder, struct expression **literal,
                         const struct expression *other)
{
    *literal = is_number(other->type)
                   ? expression_text_number(binder, *literal)
                   : as_type(binder, *literal, other->type);
    return *literal != NULL;
}

static int meet(struct binder *binder, struct expression **left,
                struct expression **right, struct position at);

/* Texts of parameters that meet another type are read when it is planned. */
static bool texts_known(struct binder *binder, struct expression **left,
                        struct expression **right)
{
    if ((*left)->type == VDBQ_TEXT)
        *left = expression_known(binder, *left);
    if (*left != NULL && (*right)->type == VDBQ_TEXT)
        *right = expression_known(binder, *right);
    return *left != NULL && *right != NULL;
}

/* Types that are not both numbers. */
static int meet_others(struct binder *binder, struct expression **left,
                       struct expression **right, struct position at)
{
    int a = (*left)->type, b = (*right)->type;

    if (a == b)
        return a;
    if ((a == VDBQ_DATE && b == VDBQ_TIMESTAMP)
        || (a == VDBQ_TIMESTAMP && b == VDBQ_DATE)) {
        *left = as_type(binder, *left, VDBQ_TIMESTAMP);
        *right = *left ? as_type(binder, *right, VDBQ_TIMESTAMP) : NULL;
        return *right != NULL ? VDBQ_TIMESTAMP : VDBQ_TYPE_NONE;
    }
    if (!texts_known(binder, left, right))
        return VDBQ_TYPE_NONE;
    if (is_literal_text(*right) && !is_literal_text(*left)) {
        if (!read_literal(binder, right, *left))
            return VDBQ_TYPE_NONE;
    } else if (is_literal_text(*left) && !is_literal_text(*right)) {
        if (!read_literal(binder, left, *right))
            return VDBQ_TYPE_NONE;
    } else {
        return refuse_meeting(binder, *left, *right, at);
    }
    return meet(binder, left, right, at);
}

/* NULL takes the other's type; of two, nothing changes. */
static int meet_null(struct binder *binder, struct expression **left,
                     struct expression **right)
{
    bool left_is = is_null_constant(*left)
                   && (!is_null_constant(*right)
                       || (*left)->type == VDBQ_INTEGER);
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

/* To be compared: integers of any width stay as they are. */
static int meet(struct binder *binder, struct expression **left,
                struct expression **right, struct position at)
{
    if (is_null_constant(*left) || is_null_constant(*right))
        return meet_null(binder, left, right);
    if (is_number((*left)->type) && is_number((*right)->type))
        return meet_numbers(binder, left, right, at);
    return meet_others(binder, left, right, at);
}

int expression_meet(struct binder *binder, struct expression **left,
                    struct expression **right, struct position at)
{
    int type = meet(binder, left, right, at);

    if (type == VDBQ_BIGINT && (*left)->type != (*right)->type
        && !widen_both(binder, left, right))
        return VDBQ_TYPE_NONE;
    return type;
}

/* ---------------------------------------------------------- arithmetic -- */

static bool is_zero(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && !e->null
           && (is_float(e->type) ? e->real == 0 : e->integer == 0);
}

/* The remainder of two numbers of which one is a float. */
static struct expression *real_remainder(struct binder *binder,
                                         struct expression *left,
                                         struct expression *right,
                                         const struct ast_expression *tree)
{
    struct expression *rest;

    left = expression_cast_plain(binder, left, VDBQ_BIGINT, tree->at);
    right = left ? expression_cast_plain(binder, right, VDBQ_BIGINT, tree->at)
                 : NULL;
    rest = operation(binder, AST_MOD, VDBQ_BIGINT, left, right, tree);
    return rest ? expression_cast_plain(binder, rest, VDBQ_DOUBLE, tree->at)
                : NULL;
}

/* Numbers of which none is a float and one is a DECIMAL. */
static struct expression *decimal_arithmetic(struct binder *binder,
                                             enum ast_operator operator,
                                             struct expression *left,
                                             struct expression *right,
                                             const struct ast_expression *tree)
{
    unsigned scale = left->scale > right->scale ? left->scale : right->scale;
    struct expression *e;

    if (operator == AST_MUL)
        scale = left->scale + right->scale;
    if (operator == AST_DIV || scale > 18) {
        left = expression_cast_plain(binder, left, VDBQ_DOUBLE, tree->at);
        right = left ? expression_cast_plain(binder, right, VDBQ_DOUBLE,
                                             tree->at) : NULL;
        return operation(binder, operator, VDBQ_DOUBLE, left, right, tree);
    }
    if (operator != AST_MUL
        && !meet_decimals(binder, &left, &right, tree->at))
        return NULL;
    e = operation(binder, operator, VDBQ_DECIMAL, left, right, tree);
    if (e != NULL) {
        e->precision = 18;
        e->scale = scale;
    }
    return e;
}

static struct expression *number_arithmetic(struct binder *binder,
                                            enum ast_operator operator,
                                            struct expression *left,
                                            struct expression *right,
                                            const struct ast_expression *tree)
{
    bool is_decimal;
    int type;

    if (left->type == VDBQ_DECIMAL)
        right = literal_decimal(binder, right);
    if (right != NULL && right->type == VDBQ_DECIMAL)
        left = literal_decimal(binder, left);
    if (left == NULL || right == NULL)
        return NULL;
    is_decimal = left->type == VDBQ_DECIMAL || right->type == VDBQ_DECIMAL;
    if (is_decimal && !is_float(left->type) && !is_float(right->type))
        return decimal_arithmetic(binder, operator, left, right, tree);
    type = meet(binder, &left, &right, tree->at);
    if (type == VDBQ_TYPE_NONE)
        return NULL;
    if (operator == AST_MOD && is_float(type))
        return real_remainder(binder, left, right, tree);
    return operation(binder, operator, is_float(type) ? type : VDBQ_BIGINT,
                     left, right, tree);
}

/* The type that arithmetic with a NULL has. */
static int null_type(const struct expression *left,
                     const struct expression *right,
                     enum ast_operator operator)
{
    bool dates = left->type == VDBQ_DATE && right->type == VDBQ_DATE;

    if (!dates && (left->type == VDBQ_DATE || right->type == VDBQ_DATE))
        return VDBQ_DATE;
    if (is_float(left->type) || is_float(right->type))
        return operator == AST_MOD || left->type == VDBQ_DOUBLE
                       || right->type == VDBQ_DOUBLE
                   ? VDBQ_DOUBLE
                   : VDBQ_FLOAT;
    return VDBQ_BIGINT;
}

/* Days: DATE - DATE, DATE + n, n + DATE, DATE - n. */
static struct expression *date_arithmetic(struct binder *binder,
                                          enum ast_operator operator,
                                          struct expression *left,
                                          struct expression *right,
                                          const struct ast_expression *tree)
{
    bool dates = left->type == VDBQ_DATE && right->type == VDBQ_DATE;
    struct expression *days;

    if (!dates && operator == AST_ADD && right->type == VDBQ_DATE) {
        struct expression *swap = left;
        left = right;
        right = swap;
    }
    if (left->type != VDBQ_DATE || (!dates && !is_integer(right->type))
        || (operator != AST_SUB && (dates || operator != AST_ADD))) {
        refuse_meeting(binder, left, right, tree->at);
        return NULL;
    }
    days = operation(binder, operator, VDBQ_BIGINT, left, right, tree);
    return dates || days == NULL
               ? days
               : expression_cast_plain(binder, days, VDBQ_DATE, tree->at);
}

static struct expression *arithmetic(struct binder *binder,
                                     enum ast_operator operator,
                                     struct expression *left,
                                     struct expression *right,
                                     const struct ast_expression *tree)
{
    bool divides = operator == AST_DIV || operator == AST_MOD;

    if (is_null_constant(left) || is_null_constant(right)
        || (divides && is_zero(right)))
        return expression_null(binder, null_type(left, right, operator),
                               tree->at);
    if (!texts_known(binder, &left, &right))
        return NULL;
    if (is_literal_text(left))
        left = expression_text_number(binder, left);
    if (left != NULL && is_literal_text(right))
        right = expression_text_number(binder, right);
    if (left == NULL || right == NULL)
        return NULL;
    if (!is_number(left->type) || !is_number(right->type))
        return date_arithmetic(binder, operator, left, right, tree);
    return number_arithmetic(binder, operator, left, right, tree);
}

/* 0 - x of an integer, and -1 * x of a float, so that 0.0 becomes -0.0. */
static struct expression *minus(struct binder *binder,
                                struct expression *operand,
                                const struct ast_expression *tree)
{
    bool real = is_float(operand->type);
    struct expression *factor;

    if (operand->kind == EXPRESSION_CONSTANT && operand->literal
        && !operand->null) {
        if (real)
            return expression_real(binder, operand->type, -operand->real,
                                   tree->at);
        if (is_integer(operand->type) && operand->integer != INT64_MIN)
            return expression_integer(binder, -operand->integer, tree->at);
    }
    factor = real ? expression_real(binder, VDBQ_DOUBLE, -1, tree->at)
                  : expression_integer(binder, 0, tree->at);
    if (factor == NULL)
        return NULL;
    return arithmetic(binder, real ? AST_MUL : AST_SUB, factor, operand, tree);
}

/* -------------------------------------------------- comparison and logic -- */

/* Texts that are both known. */
static struct expression *compare_texts(struct binder *binder,
                                        enum ast_operator operator,
                                        const struct expression *left,
                                        const struct expression *right,
                                        const struct ast_expression *tree)
{
    size_t a = left->text.length, b = right->text.length;
    int order = memcmp(left->text.bytes, right->text.bytes, a < b ? a : b);
    int sign = order != 0 ? order : (a > b) - (a < b);
    bool holds = operator == AST_EQ || operator == AST_IS ? sign == 0
                 : operator == AST_NEQ || operator == AST_IS_NOT ? sign != 0
                 : operator == AST_LT ? sign < 0
                 : operator == AST_LE ? sign <= 0
                 : operator == AST_GT ? sign > 0
                                      : sign >= 0;

    return expression_truth(binder, holds, tree->at);
}

static struct expression *compare(struct binder *binder,
                                  enum ast_operator operator,
                                  struct expression *left,
                                  struct expression *right,
                                  const struct ast_expression *tree)
{
    bool null = is_null_constant(left) || is_null_constant(right);

    if (is_comparison(operator) && null)
        return expression_null(binder, VDBQ_INTEGER, tree->at);
    if (meet(binder, &left, &right, tree->at) == VDBQ_TYPE_NONE)
        return NULL;
    if (!null && is_literal_text(left) && is_literal_text(right))
        return compare_texts(binder, operator, left, right, tree);
    return operation(binder, operator, VDBQ_INTEGER, left, right, tree);
}

static struct expression *refuse_truth(struct binder *binder,
                                       const struct expression *e)
{
    error_at(binder->error, VDBQ_TYPE, e->at,
             "a condition is true or false, not a %s",
             vdbq_type_name((enum vdbq_type)e->type));
    return NULL;
}

/* What is false AND anything, or true OR anything, is so at once. */
static struct expression *logic(struct binder *binder,
                                enum ast_operator operator,
                                struct expression *left,
                                struct expression *right,
                                const struct ast_expression *tree)
{
    int decides = operator == AST_OR;

    if (!is_number(left->type))
        return refuse_truth(binder, left);
    if (operator != AST_NOT && !is_number(right->type))
        return refuse_truth(binder, right);
    if (operator != AST_NOT
        && (known_truth(left) == decides || known_truth(right) == decides))
        return expression_truth(binder, decides, tree->at);
    return operation(binder, operator, VDBQ_INTEGER, left, right, tree);
}

static struct expression *concatenate(struct binder *binder,
                                      struct expression *left,
                                      struct expression *right,
                                      const struct ast_expression *tree)
{
    struct expression *parts[2] = { left, right };

    for (int i = 0; i < 2; i++) {
        parts[i] = as_type(binder, parts[i], VDBQ_TEXT);
        if (parts[i] == NULL)
            return NULL;
    }
    return expression_call(binder, "concat", parts, 2, tree->at);
}

struct expression *expression_operator(struct binder *binder,
                                       enum ast_operator operator,
                                       struct expression *left,
                                       struct expression *right,
                                       const struct ast_expression *tree)
{
    switch (operator) {
    case AST_PLUS:
        return left;
    case AST_MINUS:
        return minus(binder, left, tree);
    case AST_AND:
    case AST_OR:
    case AST_NOT:
        return logic(binder, operator, left, right, tree);
    case AST_CONCAT:
        return concatenate(binder, left, right, tree);
    default:
        break;
    }
    if (operator <= AST_MOD)
        return arithmetic(binder, operator, left, right, tree);
    return compare(binder, operator, left, right, tree);
}
