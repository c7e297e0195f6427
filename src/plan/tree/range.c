/* SPDX-License-Identifier: MIT */
/*
 * What registers can hold. Bounds of integers are computed exactly, in 128
 * bits; those of floats in the type's own rounding, which never changes the
 * order of two numbers. From the bounds follows which opcode will do: 32 bits,
 * 64 bits, or 64 bits with a check.
 */
#include "plan/plan_inner.h"

#include <float.h>
#include <math.h>

__extension__ typedef __int128 wide;

struct bounds {
    wide low, high;
};
struct real_bounds {
    double low, high;
};

static void range_arithmetic(struct expression *e);
static void range_real_arithmetic(struct expression *e);
static void set_integer(struct expression *e, struct bounds bounds);
static bool fits(struct bounds bounds, int64_t low, int64_t high);
static void range_cast(struct expression *expression);
static void widen_harmless(struct expression *e, int64_t low, int64_t high);
static struct bounds bounds_of(const struct expression *e);

static bool is_narrow(int type)
{
    return type == VDBQ_TEXT || type_machine((enum vdbq_type)type) == TYPE_I32;
}

struct range range_full(int type)
{
    struct range range = { .low = INT64_MIN,
                           .high = INT64_MAX,
                           .low_real = -INFINITY,
                           .high_real = INFINITY };

    if (is_narrow(type)) {
        range.low = type == VDBQ_TEXT || type == VDBQ_BOOLEAN ? 0 : INT32_MIN;
        range.high = type == VDBQ_BOOLEAN ? 1 : INT32_MAX;
    }
    return range;
}

void range_constant(struct expression *expression)
{
    struct range *range = &expression->range;

    expression->nullable = expression->null;
    if (is_float(expression->type)) {
        range->low_real = range->high_real =
            expression->null ? 0 : expression->real;
        return;
    }
    if (expression->null)
        expression->integer = 0;
    if (expression->type == VDBQ_TEXT) {
        *range = range_full(VDBQ_TEXT);
        return;
    }
    range->low = range->high = expression->integer;
    if (fits(bounds_of(expression), INT32_MIN, INT32_MAX))
        expression->machine = TYPE_I32;
}

/* A NULL is stored as 0. */
void range_column(struct node_column *column, const struct column_facts *facts)
{
    struct range *range = &column->range;
    bool zero = facts->empty || facts->null_count > 0;

    column->nullable = facts->null_count > 0;
    if (column->type == VDBQ_TEXT) {
        *range = range_full(VDBQ_TEXT);
        return;
    }
    range->low = facts->empty ? 0 : facts->minimum;
    range->high = facts->empty ? 0 : facts->maximum;
    range->low_real = facts->empty ? 0 : facts->minimum_real;
    range->high_real = facts->empty ? 0 : facts->maximum_real;
    if (zero && range->low > 0)
        range->low = 0;
    if (zero && range->high < 0)
        range->high = 0;
    if (zero)
        range->low_real = fmin(range->low_real, 0);
    if (zero)
        range->high_real = fmax(range->high_real, 0);
}

static void range_operator(struct expression *expression)
{
    enum ast_operator operator= expression->operator;

    if (operator<= AST_MOD) {
        if (is_float(expression->type))
            range_real_arithmetic(expression);
        else
            range_arithmetic(expression);
        expression->nullable |=
            expression->null_at_zero || expression->null_at_nan;
        expression->faults |= expression->checked;
        return;
    }
    if (operator== AST_IS || operator== AST_IS_NOT)
        expression->nullable = false;
    expression->machine = TYPE_I32;
    expression->range = (struct range){ .high = 1 };
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What either may be. */
static void range_choice(struct expression *e)
{
    const struct range *left = &e->left->range, *right = &e->right->range;
    bool wide = e->left->machine == TYPE_I64 || e->right->machine == TYPE_I64;

    e->nullable = e->left->nullable || e->right->nullable;
    e->range =
        (struct range){ .low = lesser(left->low, right->low),
                        .high =
                            left->high > right->high ? left->high : right->high,
                        .low_real = fmin(left->low_real, right->low_real),
                        .high_real = fmax(left->high_real, right->high_real),
                        .nan = left->nan || right->nan };
    if (!is_float(e->type))
        e->machine = wide ? TYPE_I64 : TYPE_I32;
}

static void range_math(struct expression *e)
{
    e->checked = op_facts(e->op)->effect == EFFECT_FAULT;
    e->faults |= e->checked;
    e->range = range_full(e->type);
    e->range.nan = e->null_at_nan || e->left->range.nan
                   || (e->right != NULL && e->right->range.nan);
    e->null_at_nan |= e->range.nan;
    e->nullable |= e->null_at_nan;
}

static void range_lookup(struct expression *e)
{
    e->nullable |= e->function->nulls;
    e->faults |= e->function->fails;
    e->range = range_full(e->type);
}

void range_update(struct expression *e)
{
    if (e->kind > EXPRESSION_CHECK)
        return;
    e->nullable = (e->left != NULL && e->left->nullable)
                  || (e->right != NULL && e->right->nullable);
    e->faults = (e->left != NULL && e->left->faults)
                || (e->right != NULL && e->right->faults)
                || (e->condition != NULL && e->condition->faults);
    switch (e->kind) {
    case EXPRESSION_OPERATOR:
        range_operator(e);
        break;
    case EXPRESSION_CAST:
        range_cast(e);
        break;
    case EXPRESSION_CHOICE:
        range_choice(e);
        break;
    case EXPRESSION_MATH:
        range_math(e);
        break;
    case EXPRESSION_LOOKUP:
        range_lookup(e);
        break;
    case EXPRESSION_CHECK:
        e->faults = true;
        e->range = e->left->range;
        e->machine = e->left->machine;
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------ integers -- */

static struct bounds bounds_of(const struct expression *e)
{
    return (struct bounds){ e->range.low, e->range.high };
}

static bool fits(struct bounds bounds, int64_t low, int64_t high)
{
    return bounds.low >= low && bounds.high <= high;
}

static void include(struct bounds *bounds, wide value)
{
    if (value < bounds->low)
        bounds->low = value;
    if (value > bounds->high)
        bounds->high = value;
}

static wide larger(wide a, wide b)
{
    return a > b ? a : b;
}

static wide magnitude(struct bounds bounds)
{
    return larger(larger(bounds.low, -bounds.low),
                  larger(bounds.high, -bounds.high));
}

static struct bounds product(struct bounds left, struct bounds right)
{
    wide first = left.low * right.low;
    struct bounds bounds = { first, first };

    include(&bounds, left.low * right.high);
    include(&bounds, left.high * right.low);
    include(&bounds, left.high * right.high);
    return bounds;
}

/* Division by 0 leaves 0. */
static struct bounds quotient(struct bounds left, struct bounds right)
{
    struct bounds bounds = { 0, 0 };
    wide most = magnitude(left);

    if (right.low <= 0 && right.high >= 0) {
        bounds.low = left.low >= 0 && right.low >= 0 ? 0 : -most;
        bounds.high = most;
        return bounds;
    }
    bounds.low = bounds.high = left.low / right.low;
    include(&bounds, left.low / right.high);
    include(&bounds, left.high / right.low);
    include(&bounds, left.high / right.high);
    return bounds;
}

/* A remainder has the sign of what is divided, and is nearer to 0 than what
 * divides; by 0 it is 0. */
static struct bounds remainder_of(struct bounds left, struct bounds right)
{
    wide most = larger(magnitude(right) - 1, 0);
    struct bounds bounds = { 0, 0 };

    if (left.low < 0)
        bounds.low = -most > left.low ? -most : left.low;
    if (left.high > 0)
        bounds.high = most < left.high ? most : left.high;
    return bounds;
}

static void range_arithmetic(struct expression *e)
{
    struct bounds left = bounds_of(e->left), right = bounds_of(e->right);
    struct bounds bounds = { 0, 0 };

    switch (e->operator) {
    case AST_ADD:
        bounds =
            (struct bounds){ left.low + right.low, left.high + right.high };
        break;
    case AST_SUB:
        bounds =
            (struct bounds){ left.low - right.high, left.high - right.low };
        break;
    case AST_MUL:
        bounds = product(left, right);
        break;
    case AST_DIV:
        bounds = quotient(left, right);
        break;
    default:
        bounds = remainder_of(left, right);
        break;
    }
    e->null_at_zero = (e->operator== AST_DIV || e->operator== AST_MOD)
                      && right.low <= 0 && right.high >= 0;
    set_integer(e, bounds);
}

/* Sets the range of an operation's result, cut to 64 bits, and the width in
 * which it is computed. */
static void set_integer(struct expression *e, struct bounds bounds)
{
    bool narrow = e->left->machine == TYPE_I32 && e->right->machine == TYPE_I32;

    e->checked = !fits(bounds, INT64_MIN, INT64_MAX);
    e->machine =
        narrow && fits(bounds, INT32_MIN, INT32_MAX) ? TYPE_I32 : TYPE_I64;
    e->range.low = bounds.low < INT64_MIN   ? INT64_MIN
                   : bounds.low > INT64_MAX ? INT64_MAX
                                            : (int64_t)bounds.low;
    e->range.high = bounds.high > INT64_MAX   ? INT64_MAX
                    : bounds.high < INT64_MIN ? INT64_MIN
                                              : (int64_t)bounds.high;
    widen_harmless(e, INT64_MIN, INT64_MAX);
}

/* Where a check must not fail for a NULL, its operand is made 0 (plan rule
 * 4), so that the result is no longer bounded by what was computed above. */
static void widen_harmless(struct expression *e, int64_t low, int64_t high)
{
    if (!e->checked || !e->nullable)
        return;
    e->range.low = low;
    e->range.high = high;
}

/* -------------------------------------------------------------- floats -- */

static struct real_bounds real_bounds_of(const struct expression *e)
{
    return (struct real_bounds){ e->range.low_real, e->range.high_real };
}

static bool has_zero(struct real_bounds bounds)
{
    return bounds.low <= 0 && bounds.high >= 0;
}

static bool has_infinity(struct real_bounds bounds)
{
    return isinf(bounds.low) || isinf(bounds.high);
}

static void include_real(struct real_bounds *bounds, double value)
{
    if (isnan(value)) /* of 0 * inf, inf / inf: the corners around say all */
        value = 0;
    bounds->low = fmin(bounds->low, value);
    bounds->high = fmax(bounds->high, value);
}

static struct real_bounds sum(struct real_bounds left, struct real_bounds right)
{
    struct real_bounds bounds = { left.low + right.low,
                                  left.high + right.high };

    if (isnan(bounds.low))
        bounds.low = -INFINITY;
    if (isnan(bounds.high))
        bounds.high = INFINITY;
    return bounds;
}

static struct real_bounds real_product(struct real_bounds left,
                                       struct real_bounds right)
{
    struct real_bounds bounds = { INFINITY, -INFINITY };

    include_real(&bounds, left.low * right.low);
    include_real(&bounds, left.low * right.high);
    include_real(&bounds, left.high * right.low);
    include_real(&bounds, left.high * right.high);
    return bounds;
}

static struct real_bounds real_quotient(struct real_bounds left,
                                        struct real_bounds right)
{
    struct real_bounds bounds = { INFINITY, -INFINITY };

    if (has_zero(right))
        return (struct real_bounds){ -INFINITY, INFINITY };
    include_real(&bounds, left.low / right.low);
    include_real(&bounds, left.low / right.high);
    include_real(&bounds, left.high / right.low);
    include_real(&bounds, left.high / right.high);
    return bounds;
}

/* Whether two infinities of different signs can meet in a sum. */
static bool infinities_meet(struct real_bounds left, struct real_bounds right)
{
    return (left.high == INFINITY && right.low == -INFINITY)
           || (left.low == -INFINITY && right.high == INFINITY);
}

/* A float's bounds are computed as doubles and then rounded: that gives the
 * same for one operation. */
static void set_real(struct expression *e, struct real_bounds bounds)
{
    bool single = e->type == VDBQ_FLOAT;

    e->machine = single ? TYPE_F32 : TYPE_F64;
    e->range.low_real = single ? (double)(float)bounds.low : bounds.low;
    e->range.high_real = single ? (double)(float)bounds.high : bounds.high;
}

static void range_real_arithmetic(struct expression *e)
{
    struct real_bounds left = real_bounds_of(e->left);
    struct real_bounds right = real_bounds_of(e->right);
    struct real_bounds opposite = { -right.high, -right.low };
    bool nan = false;

    switch (e->operator) {
    case AST_ADD:
        nan = infinities_meet(left, right);
        set_real(e, sum(left, right));
        break;
    case AST_SUB:
        nan = infinities_meet(left, opposite);
        set_real(e, sum(left, opposite));
        break;
    case AST_MUL:
        nan = (has_zero(left) && has_infinity(right))
              || (has_infinity(left) && has_zero(right));
        set_real(e, real_product(left, right));
        break;
    default:
        nan = has_infinity(left) && has_infinity(right);
        e->null_at_zero = has_zero(right);
        set_real(e, real_quotient(left, right));
        break;
    }
    e->null_at_nan = nan;
    e->range.nan = nan || e->left->range.nan || e->right->range.nan;
}

/* --------------------------------------------------------------- casts -- */

/* What of a float is left in an integer type; `low` and `high` are its
 * bounds, which a double may round outwards. */
static int64_t cut(double value, int64_t low, int64_t high)
{
    if (value <= (double)low)
        return low;
    if (value >= (double)high)
        return high;
    return (int64_t)value;
}

static void cast_to_integer(struct expression *e)
{
    const struct range *from = &e->left->range;
    bool narrow = is_narrow(e->type);
    int64_t low = narrow ? INT32_MIN : INT64_MIN;
    int64_t high = narrow ? INT32_MAX : INT64_MAX;

    e->machine = narrow ? TYPE_I32 : TYPE_I64;
    if (is_float(e->left->type)) {
        double end = narrow ? 2147483648.0 : 9223372036854775808.0;
        e->checked =
            from->nan || !(from->low_real > -end) || !(from->high_real < end);
        e->range.low = cut(from->low_real, low, high);
        e->range.high = cut(from->high_real, low, high);
        widen_harmless(e, low, high);
        return;
    }
    if (!narrow)
        e->machine = e->left->machine;
    e->checked = narrow && e->left->machine != TYPE_I32
                 && !fits(bounds_of(e->left), low, high);
    e->range.low = from->low < low ? low : from->low > high ? high : from->low;
    e->range.high = from->high > high  ? high
                    : from->high < low ? low
                                       : from->high;
    widen_harmless(e, low, high);
}

static void cast_to_real(struct expression *e)
{
    const struct expression *left = e->left;
    const struct range *from = &left->range;
    struct real_bounds bounds = real_bounds_of(left);
    bool single = e->type == VDBQ_FLOAT;

    if (!is_float(left->type) && single)
        bounds = (struct real_bounds){ (double)(float)from->low,
                                       (double)(float)from->high };
    else if (!is_float(left->type))
        bounds = (struct real_bounds){ (double)from->low, (double)from->high };
    e->checked =
        left->type == VDBQ_DOUBLE && single
        && !(bounds.low >= -(double)FLT_MAX && bounds.high <= (double)FLT_MAX);
    if (e->checked && e->nullable)
        bounds = (struct real_bounds){ -INFINITY, INFINITY };
    set_real(e, bounds);
    e->range.nan = from->nan;
}

static void range_cast(struct expression *expression)
{
    expression->nullable = expression->left->nullable;
    if (is_float(expression->type))
        cast_to_real(expression);
    else
        cast_to_integer(expression);
    expression->faults = expression->left->faults || expression->checked;
}
