/* SPDX-License-Identifier: MIT */
/*
 * Operators get their types, and operands of different types are converted:
 *
 *   operands                   meet as      + - * / give   % gives
 *   integers                   integers     BIGINT         BIGINT
 *   FLOAT with FLOAT           FLOAT        FLOAT          DOUBLE
 *   FLOAT with a literal       FLOAT        FLOAT          DOUBLE
 *   all others                 DOUBLE       DOUBLE         DOUBLE
 *
 * A literal that is too large for a FLOAT stays what it is. Remainders are
 * those of integers: operands of % are cut to BIGINT first. Whatever meets
 * NULL in arithmetic or a comparison is NULL.
 */
#include "plan/plan_inner.h"

#include <assert.h>
#include <float.h>
#include <math.h>

static struct expression *new_expression(struct binder *binder,
                                         enum expression_kind kind, int type,
                                         struct position at);
static struct expression *arithmetic(struct binder *binder,
                                     enum ast_operator operator,
                                     struct expression *left,
                                     struct expression *right,
                                     const struct ast_expression *tree);
static struct expression *minus(struct binder *binder,
                                struct expression *operand,
                                const struct ast_expression *tree);
static struct expression *logic(struct binder *binder,
                                enum ast_operator operator,
                                struct expression *left,
                                struct expression *right,
                                const struct ast_expression *tree);
static struct expression *compare(struct binder *binder,
                                  enum ast_operator operator,
                                  struct expression *left,
                                  struct expression *right,
                                  const struct ast_expression *tree);
static struct expression *finish(struct binder *binder,
                                 struct expression *expression);
static bool is_null(const struct expression *e);
static int meeting_type(const struct expression *left,
                        const struct expression *right);
static struct expression *meet(struct binder *binder,
                               struct expression *operand, int type);

/* ----------------------------------------------------------- constants -- */

struct expression *expression_null(struct binder *binder, int type,
                                   struct position at)
{
    struct expression *e =
        new_expression(binder, EXPRESSION_CONSTANT, type, at);

    if (e == NULL)
        return NULL;
    e->null = true;
    e->literal = true;
    range_constant(e);
    return e;
}

struct expression *expression_integer(struct binder *binder, int64_t value,
                                      struct position at)
{
    struct expression *e =
        new_expression(binder, EXPRESSION_CONSTANT, TYPE_I64, at);

    if (e == NULL)
        return NULL;
    e->integer = value;
    e->literal = true;
    range_constant(e);
    return e;
}

struct expression *expression_real(struct binder *binder, int type,
                                   double value, struct position at)
{
    struct expression *e =
        new_expression(binder, EXPRESSION_CONSTANT, type, at);

    if (e == NULL)
        return NULL;
    e->real = value;
    e->literal = true;
    range_constant(e);
    return e;
}

/* ----------------------------------------------------------- operators -- */

bool is_float(int type)
{
    return type == TYPE_F32 || type == TYPE_F64;
}

bool is_comparison(enum ast_operator operator)
{
    return operator >= AST_EQ && operator <= AST_GE;
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
    default:
        break;
    }
    if (operator <= AST_MOD)
        return arithmetic(binder, operator, left, right, tree);
    return compare(binder, operator, left, right, tree);
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
    e = new_expression(binder, EXPRESSION_OPERATOR, type, tree->at);
    if (e == NULL)
        return NULL;
    e->operator = operator;
    e->left = left;
    e->right = right;
    e->begin = tree->begin;
    e->end = tree->end;
    range_operator(e);
    return finish(binder, e);
}

/* The remainder of two numbers of which one is a float. */
static struct expression *real_remainder(struct binder *binder,
                                         struct expression *left,
                                         struct expression *right,
                                         const struct ast_expression *tree)
{
    struct expression *rest;

    left = expression_cast(binder, left, TYPE_I64, tree->at);
    right = expression_cast(binder, right, TYPE_I64, tree->at);
    rest = operation(binder, AST_MOD, TYPE_I64, left, right, tree);
    return expression_cast(binder, rest, TYPE_F64, tree->at);
}

static bool is_zero(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && !e->null
           && (is_float(e->type) ? e->real == 0 : e->integer == 0);
}

static struct expression *arithmetic(struct binder *binder,
                                     enum ast_operator operator,
                                     struct expression *left,
                                     struct expression *right,
                                     const struct ast_expression *tree)
{
    int type = meeting_type(left, right);
    bool divides = operator == AST_DIV || operator == AST_MOD;

    if (operator == AST_MOD && is_float(type))
        type = TYPE_F64;
    if (is_null(left) || is_null(right) || (divides && is_zero(right)))
        return expression_null(binder, type, tree->at);
    if (operator == AST_MOD && is_float(type))
        return real_remainder(binder, left, right, tree);
    left = meet(binder, left, type);
    right = meet(binder, right, type);
    return operation(binder, operator, type, left, right, tree);
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
        if (operand->integer != INT64_MIN)
            return expression_integer(binder, -operand->integer, tree->at);
    }
    factor = real ? expression_real(binder, TYPE_F64, -1, tree->at)
                  : expression_integer(binder, 0, tree->at);
    if (factor == NULL)
        return NULL;
    return arithmetic(binder, real ? AST_MUL : AST_SUB, factor, operand, tree);
}

static struct expression *compare(struct binder *binder,
                                  enum ast_operator operator,
                                  struct expression *left,
                                  struct expression *right,
                                  const struct ast_expression *tree)
{
    int type = meeting_type(left, right);

    if (is_comparison(operator) && (is_null(left) || is_null(right)))
        return expression_null(binder, TYPE_I32, tree->at);
    if (!is_null(left) && !is_null(right)) {
        left = meet(binder, left, type);
        right = meet(binder, right, type);
    }
    return operation(binder, operator, TYPE_I32, left, right, tree);
}

/* 0: known to be false; 1: known to be true; -1: NULL, or not known. */
static int known_truth(const struct expression *e)
{
    if (e->kind != EXPRESSION_CONSTANT || e->null)
        return -1;
    return is_float(e->type) ? e->real != 0 : e->integer != 0;
}

/* What is false AND anything, or true OR anything, is so at once. */
static struct expression *logic(struct binder *binder,
                                enum ast_operator operator,
                                struct expression *left,
                                struct expression *right,
                                const struct ast_expression *tree)
{
    int decides = operator == AST_OR;
    struct expression *known;

    if (operator != AST_NOT
        && (known_truth(left) == decides || known_truth(right) == decides)) {
        known = expression_integer(binder, decides, tree->at);
        if (known == NULL)
            return NULL;
        known->type = TYPE_I32;
        return known;
    }
    return operation(binder, operator, TYPE_I32, left, right, tree);
}

/* ----------------------------------------------------------- conversion -- */

struct expression *expression_cast(struct binder *binder,
                                   struct expression *operand, int type,
                                   struct position at)
{
    struct expression *e;

    if (operand == NULL || operand->type == type)
        return operand;
    if (is_null(operand))
        return expression_null(binder, type, at);
    e = new_expression(binder, EXPRESSION_CAST, type, at);
    if (e == NULL)
        return NULL;
    e->left = operand;
    range_cast(e);
    return finish(binder, e);
}

static bool is_null(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->null;
}

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

static int meeting_type(const struct expression *left,
                        const struct expression *right)
{
    bool left_float = left->type == TYPE_F32;
    bool right_float = right->type == TYPE_F32;

    if (!is_float(left->type) && !is_float(right->type))
        return TYPE_I64;
    if (is_null(left))
        return is_float(right->type) ? right->type : TYPE_I64;
    if (is_null(right))
        return is_float(left->type) ? left->type : TYPE_I64;
    if (left_float && (right_float || takes_float(right)))
        return TYPE_F32;
    return right_float && takes_float(left) ? TYPE_F32 : TYPE_F64;
}

/* The operand in the type that both meet in. */
static struct expression *meet(struct binder *binder,
                               struct expression *operand, int type)
{
    if (operand->type == type || !is_float(type))
        return operand;
    if (type == TYPE_F32 && operand->kind == EXPRESSION_CONSTANT)
        return expression_real(binder, TYPE_F32, as_float(operand),
                               operand->at);
    return expression_cast(binder, operand, type, operand->at);
}

/* -------------------------------------------------------------- making -- */

static struct expression *new_expression(struct binder *binder,
                                         enum expression_kind kind, int type,
                                         struct position at)
{
    struct expression *e = arena_alloc(binder->arena, sizeof *e);

    if (e == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    e->kind = kind;
    e->type = e->machine = type;
    e->at = at;
    return e;
}

/* A new operator or cast: folded where all its operands are constant. */
static struct expression *finish(struct binder *binder,
                                 struct expression *expression)
{
    const struct expression *left = expression->left;
    const struct expression *right = expression->right;

    if (left->kind != EXPRESSION_CONSTANT)
        return expression;
    if (right != NULL && right->kind != EXPRESSION_CONSTANT)
        return expression;
    expression->literal =
        left->literal && (right == NULL || right->literal);
    return fold(binder, expression) == VDBQ_OK ? expression : NULL;
}
