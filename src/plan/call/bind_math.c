/* SPDX-License-Identifier: MIT */
/*
 * Functions of numbers: opcodes of the machine, or made of other expressions.
 */
#include "cl/hash.h"
#include "base/os/os.h"
#include "plan/call/scalar.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/make/coerce.h"
#include "plan/operator/bits.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

static const double PI = 0x1.921fb54442d18p1;

static struct expression *as_double(struct binder *binder,
                                    const struct call *call, unsigned i)
{
    struct expression *e = call->arguments[i];

    if (!is_number(e->type))
        return refuse_argument(binder, call, e);
    return expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
}

/* One opcode of DOUBLEs; what is not a number is NULL. */
struct expression *scalar_opcode(struct binder *binder, const struct call *call)
{
    struct expression *left = as_double(binder, call, 0), *right = NULL;

    if (left != NULL && call->count > 1)
        right = as_double(binder, call, 1);
    if (left == NULL || (call->count > 1 && right == NULL))
        return NULL;
    return expression_math(binder, call->function->op, VDBQ_DOUBLE, left, right,
                           true, call->tree->at);
}

static struct expression *logarithm(struct binder *binder,
                                    const struct call *call, enum opcode op,
                                    struct expression *e)
{
    return expression_math(binder, op, VDBQ_DOUBLE, e, NULL, true,
                           call->tree->at);
}

/* ln(x) / ln(base) of two doubles; NULL where the base is not above 1. */
static struct expression *log_to_base(struct binder *binder,
                                      const struct call *call,
                                      struct expression *base,
                                      struct expression *x)
{
    struct position at = call->tree->at;
    struct expression *one = expression_real(binder, VDBQ_DOUBLE, 1, at);
    struct expression *null = expression_null(binder, VDBQ_DOUBLE, at);
    struct expression *above =
        one && null ? expression_operator(binder, AST_GT, base, one, call->tree)
                    : NULL;

    base = above ? logarithm(binder, call, OP_LN_F64, base) : NULL;
    base = base ? expression_choice(binder, above, base, null, at) : NULL;
    x = base ? logarithm(binder, call, OP_LN_F64, x) : NULL;
    return x ? expression_operator(binder, AST_DIV, x, base, call->tree) : NULL;
}

struct expression *scalar_log(struct binder *binder, const struct call *call)
{
    struct expression *first = as_double(binder, call, 0), *second;

    if (first == NULL || call->count == 1)
        return first ? logarithm(binder, call, OP_LOG10_F64, first) : NULL;
    second = as_double(binder, call, 1);
    return second ? log_to_base(binder, call, first, second) : NULL;
}

/* ------------------------------------------- made of other expressions -- */

/* A text that is written, as the number that it is. */
static struct expression *number_of(struct binder *binder, struct expression *e)
{
    e = expression_known(binder, e);
    return e != NULL && is_text_constant(e) && !e->constant.null
               ? expression_text_number(binder, e)
               : e;
}

/* Of floats what is left of the first, fractions and all; % cuts them off. */
struct expression *scalar_mod(struct binder *binder, const struct call *call)
{
    struct expression *left = number_of(binder, call->arguments[0]);
    struct expression *right =
        left ? number_of(binder, call->arguments[1]) : NULL;

    if (right == NULL)
        return NULL;
    if ((!is_float(left->type) && !is_float(right->type))
        || !is_number(left->type) || !is_number(right->type))
        return expression_operator(binder, AST_MOD, left, right, call->tree);
    left = expression_cast_plain(binder, left, VDBQ_DOUBLE, left->at);
    right = left ? expression_cast_plain(binder, right, VDBQ_DOUBLE, right->at)
                 : NULL;
    return right ? expression_math(binder, OP_MOD_F64, VDBQ_DOUBLE, left, right,
                                   true, call->tree->at)
                 : NULL;
}

/* Without its sign, which -0.0 has, too. */
struct expression *scalar_abs(struct binder *binder, const struct call *call)
{
    struct expression *e = call->arguments[0], *zero, *minus, *test;

    if (!is_number(e->type))
        return refuse_argument(binder, call, e);
    if (is_float(e->type))
        return expression_math(binder,
                               e->type == VDBQ_FLOAT ? OP_ABS_F32 : OP_ABS_F64,
                               e->type, e, NULL, false, call->tree->at);
    if (e->type != VDBQ_DECIMAL)
        e = expression_cast_plain(binder, e, VDBQ_BIGINT, e->at);
    zero = e ? expression_integer(binder, 0, e->at) : NULL;
    minus = zero ? expression_operator(binder, AST_MINUS, e, NULL, call->tree)
                 : NULL;
    test =
        minus ? expression_operator(binder, AST_LT, e, zero, call->tree) : NULL;
    return test ? expression_choice(binder, test, minus, e, call->tree->at)
                : NULL;
}

struct expression *scalar_sign(struct binder *binder, const struct call *call)
{
    struct expression *e = call->arguments[0];
    struct expression *zero = expression_integer(binder, 0, e->at);
    struct expression *above, *below;

    if (zero == NULL || !is_number(e->type))
        return zero ? refuse_argument(binder, call, e) : NULL;
    above = expression_operator(binder, AST_GT, e, zero, call->tree);
    below = expression_operator(binder, AST_LT, e, zero, call->tree);
    return above && below
               ? expression_operator(binder, AST_SUB, above, below, call->tree)
               : NULL;
}

struct expression *scalar_xor(struct binder *binder, const struct call *call)
{
    return expression_bits_xor(binder, call->arguments[0], call->arguments[1],
                               call->tree->at);
}

/* The number of the row in the query, shuffled: another seed for each call, and
 * by the statement's time for each statement. */
struct expression *scalar_random(struct binder *binder, const struct call *call)
{
    struct ast_expression tree = *call->tree;
    struct call rows = { .tree = &tree, .name = "row_number" };
    struct expression *seed, *row;

    tree.column.text = rows.name;
    seed = expression_integer(
        binder,
        (int64_t)hash_mix((uint64_t)statement_time(binder), ++binder->randoms),
        call->tree->at);
    row = seed ? bind_window(binder, &rows) : NULL;
    return row ? expression_math(binder, OP_SHUFFLE_I64, VDBQ_BIGINT, row, seed,
                                 false, call->tree->at)
               : NULL;
}

struct expression *scalar_pi(struct binder *binder, const struct call *call)
{
    return expression_real(binder, VDBQ_DOUBLE, PI, call->tree->at);
}

static struct expression *times(struct binder *binder, const struct call *call,
                                double factor)
{
    struct expression *e = as_double(binder, call, 0);
    struct expression *by =
        e ? expression_real(binder, VDBQ_DOUBLE, factor, e->at) : NULL;

    return by ? expression_operator(binder, AST_MUL, e, by, call->tree) : NULL;
}

struct expression *scalar_degrees(struct binder *binder,
                                  const struct call *call)
{
    return times(binder, call, 180 / PI);
}

struct expression *scalar_radians(struct binder *binder,
                                  const struct call *call)
{
    return times(binder, call, PI / 180);
}

/* ------------------------------------------------------------ rounding -- */

struct expression *scalar_round(struct binder *binder, const struct call *call)
{
    struct expression *e = as_double(binder, call, 0), *digits;

    if (e == NULL)
        return NULL;
    digits = call->count > 1 ? call->arguments[1]
                             : expression_integer(binder, 0, e->at);
    if (digits != NULL)
        digits = expression_cast_plain(binder, digits, VDBQ_INTEGER, e->at);
    return digits ? expression_math(binder, OP_ROUND_F64, VDBQ_DOUBLE, e,
                                    digits, false, call->tree->at)
                  : NULL;
}

/* Integers are whole; other numbers become so by an opcode. */
struct expression *scalar_whole(struct binder *binder, const struct call *call)
{
    struct expression *e = call->arguments[0];

    if (is_integer(e->type))
        return e;
    e = as_double(binder, call, 0);
    return e ? expression_math(binder, call->function->op, VDBQ_DOUBLE, e, NULL,
                               false, call->tree->at)
             : NULL;
}
