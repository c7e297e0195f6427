/* SPDX-License-Identifier: MIT */
/*
 * Comparisons of two sides as bounds: what is bounded is of one side, and the
 * bound of the other. Integers of both sides in one sum are parted, where no
 * sum that arises can overflow: a.x - b.y < 5 is a.x < b.y + 5. Floats are
 * not, for sums of floats are rounded; but rounding keeps the order, so that
 * a.x <= b.y + 5 holds for every pair that is to be found.
 */
#include "plan/condition/bounds.h"

#include <math.h>

#include "plan/operator/compare.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"
#include "plan/condition/join_key.h"
#include "plan/tree/binder.h"

enum { TERMS_MAX = 16 };
static const int64_t CONSTANT_MAX = INT64_MAX / 4;

/* What is compared with 0. */
struct term {
    struct expression *e;
    bool minus;
    int sides;
};
struct sum {
    struct term terms[TERMS_MAX];
    unsigned count;
    int64_t constant;
};

/* A comparison; `size`: of the left operand's absolute value. */
struct comparison {
    size_t part;
    enum ast_operator operator;
    struct expression *left, *right;
    bool half;
    bool negative; /* ... with what is the right one times -1 */
};

static bool can_bound(const struct expression *a, const struct expression *b)
{
    if (a->type == VDBQ_TEXT || b->type == VDBQ_TEXT || a->faults || b->faults)
        return false;
    return is_float(a->type) || is_float(b->type) ? a->type == b->type : true;
}

/* Adds `bounded operator by`. */
static enum vdbq_status add(struct bounds *bounds,
                            const struct comparison *from,
                            enum ast_operator operator, bool exact,
                            struct expression *bounded, struct expression *by)
{
    struct bound bound = { .part = from->part,
                           .half = from->half,
                           .exact = exact,
                           .is_low = operator== AST_GT || operator== AST_GE,
                           .is_open = operator== AST_GT || operator== AST_LT,
                           .bounded = bounded,
                           .by = by };

    if (bounded == NULL || by == NULL)
        return bounds->binder->error->status;
    bound.is_right = expression_sides(bounded, bounds->middle) == SIDE_RIGHT;
    if (!can_bound(bounded, by))
        return VDBQ_OK;
    return vector_append(&bounds->found, &bound, 1)
               ? VDBQ_OK
               : error_no_memory(bounds->binder->error);
}

/* Whether one of two expressions reads one side, and the other one the other. */
static bool are_apart(const struct bounds *bounds, struct expression *one,
                      struct expression *other)
{
    int sides = expression_sides(one, bounds->middle);

    return (sides == SIDE_LEFT || sides == SIDE_RIGHT)
           && expression_sides(other, bounds->middle)
                  == (SIDE_LEFT | SIDE_RIGHT) - sides;
}

/* ---------------------------------------------------------------- sums -- */

/* An integer without the casts that keep it. */
static struct expression *plain(struct expression *e)
{
    while (e->kind == EXPRESSION_CAST && !is_float(e->type)
           && !is_float(e->left->type) && e->left->type != VDBQ_TEXT)
        e = e->left;
    return e;
}

static bool add_constant(struct sum *sum, const struct expression *e,
                         bool minus)
{
    if (e->constant.null || e->constant.integer > CONSTANT_MAX
        || e->constant.integer < -CONSTANT_MAX)
        return false;
    sum->constant += minus ? -e->constant.integer : e->constant.integer;
    return sum->constant <= CONSTANT_MAX && sum->constant >= -CONSTANT_MAX;
}

/* False: some term needs both sides, or there are too many. */
static bool add_terms(struct sum *sum, unsigned middle, struct expression *e,
                      bool minus)
{
    bool is_sum;
    int sides;

    e = plain(e);
    is_sum = e->kind == EXPRESSION_OPERATOR
             && (e->operation.op == AST_ADD || e->operation.op == AST_SUB);
    if (is_sum)
        return add_terms(sum, middle, e->left, minus)
               && add_terms(sum, middle, e->right,
                            minus != (e->operation.op == AST_SUB));
    if (e->kind == EXPRESSION_CONSTANT)
        return add_constant(sum, e, minus);
    sides = expression_sides(e, middle);
    if (sides == (SIDE_LEFT | SIDE_RIGHT) || sum->count == TERMS_MAX)
        return false;
    sum->terms[sum->count++] = (struct term){ e, minus, sides };
    return true;
}

static struct expression *plus(struct binder *binder, struct expression *sum,
                               struct expression *e, bool minus)
{
    struct ast_expression place = { .at = e->at };

    if (sum == NULL && !minus)
        return e;
    if (sum == NULL)
        sum = expression_integer(binder, 0, e->at);
    if (sum != NULL && !is_integer(sum->type))
        sum = expression_number(binder, sum, VDBQ_BIGINT, e->at);
    if (sum != NULL && !is_integer(e->type))
        e = expression_number(binder, e, VDBQ_BIGINT, e->at);
    return sum && e ? expression_operator(binder, minus ? AST_SUB : AST_ADD,
                                          sum, e, &place)
                    : NULL;
}

/* The terms of one side, or (`others`) all that are not of it and the
 * constant; times -1 where `minus`. */
static struct expression *sum_of(struct binder *binder, const struct sum *sum,
                                 int side, bool others, bool minus)
{
    struct expression *made = NULL, *e;
    int64_t constant = minus ? -sum->constant : sum->constant;

    for (unsigned i = 0; i < 2 * sum->count; i++) {
        const struct term *term = &sum->terms[i % sum->count];
        bool is_negative = i >= sum->count;
        if ((term->sides == side) == others
            || (term->minus != minus) != is_negative)
            continue;
        made = plus(binder, made, term->e, is_negative);
        if (made == NULL)
            return NULL;
    }
    if (!others || constant == 0)
        return made;
    e = expression_integer(binder, constant < 0 ? -constant : constant,
                           made->at);
    return e ? plus(binder, made, e, constant < 0) : NULL;
}

/* `sum operator 0` as what it says about one side's terms. */
static enum vdbq_status add_side(struct bounds *bounds,
                                 const struct comparison *from,
                                 const struct sum *sum, int side)
{
    struct binder *binder = bounds->binder;
    struct expression *bounded, *by;
    bool minus = false;

    for (unsigned i = sum->count; i-- > 0;)
        if (sum->terms[i].sides == side)
            minus = sum->terms[i].minus;
    bounded = sum_of(binder, sum, side, false, minus);
    by = bounded ? sum_of(binder, sum, side, true, !minus) : NULL;
    return add(bounds, from,
               minus ? compare_mirrored(from->operator) : from->operator, true,
               bounded, by);
}

static enum vdbq_status add_sum(struct bounds *bounds,
                                const struct comparison *from)
{
    struct sum sum = { .count = 0 };
    enum vdbq_status status;
    int sides = 0;

    if (!add_terms(&sum, bounds->middle, from->left, false)
        || !add_terms(&sum, bounds->middle, from->right, !from->negative))
        return VDBQ_OK;
    for (unsigned i = 0; i < sum.count; i++)
        sides |= sum.terms[i].sides;
    if (sides != (SIDE_LEFT | SIDE_RIGHT))
        return VDBQ_OK;
    status = add_side(bounds, from, &sum, SIDE_RIGHT);
    return status == VDBQ_OK ? add_side(bounds, from, &sum, SIDE_LEFT) : status;
}

/* -------------------------------------------------------------- floats -- */

/* The nearest value that is farther than those that round to `value`. */
static double beyond(int type, double value, bool below)
{
    double end = below ? -INFINITY : INFINITY;

    return type == VDBQ_FLOAT ? (double)nextafterf((float)value, (float)end)
                              : nextafter(value, end);
}

/* x - y < c. */
static enum vdbq_status add_difference(struct bounds *bounds,
                                       const struct comparison *from)
{
    struct binder *binder = bounds->binder;
    const struct expression *e = from->left;
    struct ast_expression place = { .at = e->at };
    bool below = from->operator== AST_GT || from->operator== AST_GE;
    bool is_open = from->operator== AST_GT || from->operator== AST_LT;
    enum ast_operator operator= below ? AST_GE : AST_LE;
    struct expression *c, *by;
    enum vdbq_status status;
    double value;

    if (e->kind != EXPRESSION_OPERATOR || e->operation.op != AST_SUB
        || from->right->kind != EXPRESSION_CONSTANT
        || !are_apart(bounds, e->left, e->right))
        return VDBQ_OK;
    value = from->negative ? -from->right->constant.real
                           : from->right->constant.real;
    value = is_open ? value : beyond(e->type, value, below);
    if (!isfinite(value))
        return VDBQ_OK;
    c = expression_real(binder, e->type, value, e->at);
    by = c ? expression_operator(binder, AST_ADD, e->right, c, &place) : NULL;
    status = add(bounds, from, operator, false, e->left, by);
    by = c ? expression_operator(binder, AST_SUB, e->left, c, &place) : NULL;
    return status == VDBQ_OK ? add(bounds, from, compare_mirrored(operator),
                                   false, e->right, by)
                             : status;
}

/* -------------------------------------------------------- comparisons -- */

/* A comparison that has a side for each operand. */
static enum vdbq_status add_direct(struct bounds *bounds,
                                   const struct comparison *from)
{
    enum vdbq_status status;

    if (from->negative || !are_apart(bounds, from->left, from->right))
        return VDBQ_OK;
    status = add(bounds, from, from->operator, true, from->left, from->right);
    return status == VDBQ_OK
               ? add(bounds, from, compare_mirrored(from->operator), true,
                     from->right, from->left)
               : status;
}

static enum vdbq_status add_comparison(struct bounds *bounds,
                                       const struct comparison *from)
{
    enum vdbq_status status = VDBQ_OK;

    if (from->left->type == VDBQ_TEXT || from->right->type == VDBQ_TEXT)
        return VDBQ_OK;
    if (is_float(from->left->type))
        status = add_difference(bounds, from);
    else
        status = add_sum(bounds, from);
    return status == VDBQ_OK ? add_direct(bounds, from) : status;
}

/* Both halves of l = r, or of |l| < r. */
static enum vdbq_status add_halves(struct bounds *bounds,
                                   struct comparison from,
                                   enum ast_operator operator, bool negative)
{
    enum vdbq_status status;

    from.half = true;
    from.operator= operator;
    status = add_comparison(bounds, &from);
    from.operator= compare_mirrored(operator);
    from.negative = negative;
    return status == VDBQ_OK ? add_comparison(bounds, &from) : status;
}

static bool is_constant(struct expression *e, int value)
{
    e = plain(e);
    if (e->kind != EXPRESSION_CONSTANT || e->constant.null
        || e->type == VDBQ_TEXT)
        return false;
    return is_float(e->type) ? e->constant.real == value
                             : e->constant.integer == value;
}

static bool is_minus(struct expression *e, const struct expression *of)
{
    e = plain(e);
    if (e->kind != EXPRESSION_OPERATOR)
        return false;
    if (e->operation.op == AST_SUB)
        return is_constant(e->left, 0) && expression_same(plain(e->right), of);
    return e->operation.op == AST_MUL
           && ((is_constant(e->left, -1) && expression_same(e->right, of))
               || (is_constant(e->right, -1) && expression_same(e->left, of)));
}

/* What it is the absolute value of: x where x < 0 chooses -x, else x. */
static struct expression *size_operand(struct expression *e)
{
    struct expression *test, *of;

    e = plain(e);
    if (e->kind != EXPRESSION_CHOICE)
        return NULL;
    of = plain(e->right);
    test = e->condition;
    return test->kind == EXPRESSION_OPERATOR && test->operation.op == AST_LT
                   && is_constant(test->right, 0)
                   && expression_same(plain(test->left), of)
                   && is_minus(e->left, of)
               ? of
               : NULL;
}

enum vdbq_status bounds_add(struct bounds *bounds, size_t part,
                            struct expression *e)
{
    struct comparison from = { .part = part };
    struct expression *of;

    if (e->faults || e->kind != EXPRESSION_OPERATOR
        || !is_comparison(e->operation.op) || e->operation.op == AST_NEQ
        || expression_sides(e, bounds->middle) != (SIDE_LEFT | SIDE_RIGHT))
        return VDBQ_OK;
    from.operator= e->operation.op;
    from.left = e->left;
    from.right = e->right;
    if (e->operation.op == AST_EQ)
        return add_halves(bounds, from, AST_LE, false);
    if (e->operation.op == AST_GT || e->operation.op == AST_GE) {
        from.operator= compare_mirrored(e->operation.op);
        from.left = e->right;
        from.right = e->left;
    }
    of = size_operand(from.left);
    if (of == NULL)
        return add_comparison(bounds, &from);
    from.left = of;
    return add_halves(bounds, from, from.operator, true);
}
