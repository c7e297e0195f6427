/* SPDX-License-Identifier: MIT */
/*
 * New expressions: expression_new.h.
 */
#include "plan/make/expression_new.h"

#include <assert.h>

#include "base/type.h"
#include "plan/make/fold.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

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
    e->machine =
        type == VDBQ_TEXT ? TYPE_I32 : type_machine((enum vdbq_type)type);
    e->at = at;
    return e;
}

static struct expression *constant(struct binder *binder, int type,
                                   struct expression_constant value,
                                   struct position at)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_CONSTANT, type, at);

    if (e == NULL)
        return NULL;
    e->literal = true;
    e->constant = value;
    range_constant(e);
    return e;
}

struct expression *expression_null(struct binder *binder, int type,
                                   struct position at)
{
    return constant(binder, type, (struct expression_constant){ .null = true },
                    at);
}

struct expression *expression_integer(struct binder *binder, int64_t value,
                                      struct position at)
{
    return constant(binder, VDBQ_BIGINT,
                    (struct expression_constant){ .integer = value }, at);
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
    return constant(binder, type, (struct expression_constant){ .real = value },
                    at);
}

struct expression *expression_text(struct binder *binder, struct vdbq_text text,
                                   struct position at)
{
    return constant(binder, VDBQ_TEXT,
                    (struct expression_constant){ .text = text }, at);
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
    bool constant =
        left->kind == EXPRESSION_CONSTANT
        && (right == NULL || right->kind == EXPRESSION_CONSTANT)
        && (e->condition == NULL || e->condition->kind == EXPRESSION_CONSTANT);

    assert(e->kind >= EXPRESSION_OPERATOR && e->kind <= EXPRESSION_CHECK);
    if (!expression_fits(binder, e))
        return NULL;
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

/* The whole numbers around 0 that a type has exactly: all up to this one, or 0. */
static int64_t most_whole(int type)
{
    switch (type_machine((enum vdbq_type)type)) {
    case TYPE_I32:
        return INT32_MAX;
    case TYPE_I64:
        return INT64_MAX;
    case TYPE_F32:
        return INT64_C(1) << 24;
    case TYPE_F64:
        return INT64_C(1) << 53;
    default:
        return 0;
    }
}

/* Whether it is a known whole number that the type has, too: the cast is the number
 * itself, and needs no program. */
static bool is_known_whole(const struct expression *e, int type)
{
    int64_t most = most_whole(type);

    return e->kind == EXPRESSION_CONSTANT && !e->constant.null
           && e->type != VDBQ_TEXT && !is_float(e->type) && type != VDBQ_TEXT
           && e->constant.integer >= -most && e->constant.integer <= most;
}

/* That number as one of the type. */
static struct expression *known_whole(struct binder *binder,
                                      const struct expression *known, int type,
                                      struct position at)
{
    struct expression_constant value = known->constant;
    struct expression *e;

    if (is_float(type))
        value = (struct expression_constant){ .real = (double)value.integer };
    e = constant(binder, type, value, at);
    if (e != NULL)
        e->literal = known->literal;
    return e;
}

struct expression *expression_number(struct binder *binder,
                                     struct expression *operand, int type,
                                     struct position at)
{
    struct expression *e;

    if (is_known_whole(operand, type))
        return known_whole(binder, operand, type, at);
    e = expression_new(binder, EXPRESSION_CAST, type, at);
    if (e == NULL)
        return NULL;
    e->left = operand;
    return expression_finish(binder, e);
}

struct expression *expression_renamed(struct binder *binder,
                                      struct expression *e, int type,
                                      unsigned scale)
{
    struct expression *same =
        e != NULL ? expression_number(binder, e, type, e->at) : NULL;

    if (same == NULL)
        return NULL;
    same->type = type;
    same->scale = scale;
    same->precision = type == VDBQ_DECIMAL ? DECIMAL_DIGITS_MAX : 0;
    same->literal = false;
    return same;
}

struct expression *expression_check(struct binder *binder,
                                    struct expression *operand,
                                    struct expression *refused,
                                    const char *message)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_CHECK, operand->type, operand->at);

    if (e == NULL)
        return NULL;
    e->left = operand;
    e->condition = refused;
    e->check.message = message;
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
    e->math.op = op;
    e->left = left;
    e->right = right;
    e->null_at_nan = nan;
    if (is_null_constant(left) || (right && is_null_constant(right)))
        return expression_null(binder, type, at);
    return expression_finish(binder, e);
}

int known_truth(const struct expression *e)
{
    if (e->kind != EXPRESSION_CONSTANT || e->constant.null)
        return -1;
    return is_float(e->type) ? e->constant.real != 0 : e->constant.integer != 0;
}

struct expression *expression_operation(struct binder *binder,
                                        enum ast_operator operator, int type,
                                        struct expression *left,
                                        struct expression *right,
                                        const struct ast_expression *tree)
{
    struct expression *e;

    if (left == NULL || (right == NULL && operator!= AST_NOT))
        return NULL;
    e = expression_new(binder, EXPRESSION_OPERATOR, type, tree->at);
    if (e == NULL)
        return NULL;
    e->operation.op = operator;
    e->left = left;
    e->right = right;
    expression_place(binder, e, tree);
    return expression_finish(binder, e);
}
