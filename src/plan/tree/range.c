/* SPDX-License-Identifier: MIT */
/*
 * What registers can hold (program/interval.h), and which opcode will do
 * therefore: of 32 bits, of 64 bits, or of 64 bits with a check.
 */
#include "plan/tree/range.h"

#include <assert.h>
#include <math.h>

#include "plan/tree/node.h"

static void range_arithmetic(struct expression *e);
static void range_cast(struct expression *expression);

static bool is_narrow(int type)
{
    return type == VDBQ_TEXT || type_machine((enum vdbq_type)type) == TYPE_I32;
}

struct interval range_full(int type)
{
    struct interval range = { .low = INT64_MIN,
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
    struct interval *range = &expression->range;

    expression->nullable = expression->constant.null;
    if (is_float(expression->type)) {
        range->low_real = range->high_real =
            expression->constant.null ? 0 : expression->constant.real;
        return;
    }
    if (expression->constant.null)
        expression->constant.integer = 0;
    if (expression->type == VDBQ_TEXT) {
        *range = range_full(VDBQ_TEXT);
        return;
    }
    range->low = range->high = expression->constant.integer;
    if (interval_fits(range, INT32_MIN, INT32_MAX))
        expression->machine = TYPE_I32;
}

void range_add_zero(struct interval *range)
{
    if (range->low > 0)
        range->low = 0;
    if (range->high < 0)
        range->high = 0;
    range->low_real = fmin(range->low_real, 0);
    range->high_real = fmax(range->high_real, 0);
}

void range_column(struct node_column *column, const struct column_facts *facts)
{
    struct interval *range = &column->range;
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
    if (zero)
        range_add_zero(range);
}

static void range_operator(struct expression *expression)
{
    enum ast_operator operator= expression->operation.op;

    if (operator<= AST_MOD) {
        range_arithmetic(expression);
        return;
    }
    if (operator== AST_IS || operator== AST_IS_NOT)
        expression->nullable = false;
    expression->machine = TYPE_I32;
    expression->range = (struct interval){ .high = 1 };
}

/* What either may be. */
static void range_choice(struct expression *e)
{
    bool wide = e->left->machine == TYPE_I64 || e->right->machine == TYPE_I64;

    e->nullable = e->left->nullable || e->right->nullable;
    e->range = interval_join(&e->left->range, &e->right->range);
    if (!is_float(e->type))
        e->machine = wide ? TYPE_I64 : TYPE_I32;
}

/* The least number 2^n - 1 that is not below `high`, which is not negative. */
static int64_t all_bits(int64_t high)
{
    int64_t bits = 0;

    while (bits < high)
        bits = bits * 2 + 1;
    return bits;
}

static bool is_positive(const struct interval *range)
{
    return range->low >= 0 && range->high >= 0;
}

/* Numbers that are not negative have no bits above those of the greatest. */
static void range_bits(struct expression *e)
{
    int64_t left = e->left->range.high, right = e->right->range.high;
    int64_t less = left < right ? left : right;
    bool one = is_positive(&e->left->range), other;

    other = is_positive(&e->right->range);
    if (e->math.op == OP_BIT_AND_I64 && (one || other)) {
        e->range.low = 0;
        e->range.high = one && other ? less : one ? left : right;
        return;
    }
    if (!one || !other || e->math.op == OP_SHIFT_LEFT_I64)
        return;
    e->range.low = 0;
    e->range.high = e->math.op == OP_SHIFT_RIGHT_I64
                        ? left
                        : all_bits(left > right ? left : right);
}

static bool are_within(const struct interval *range, int64_t low, int64_t high)
{
    return range->low >= low && range->low <= high && range->high >= low
           && range->high <= high;
}

/* A month more is 28 to 31 days more; dates that stay within the years 1 to 9999 so
 * cannot fail. */
static void range_months(struct expression *e)
{
    const struct interval *days = &e->left->range, *months = &e->right->range;
    struct interval moved = { 0 };

    if (!are_within(days, DATE_DAYS_MIN, DATE_DAYS_MAX)
        || !are_within(months, INT32_MIN, INT32_MAX))
        return;
    moved.low = days->low + months->low * (months->low < 0 ? 31 : 28);
    moved.high = days->high + months->high * (months->high < 0 ? 28 : 31);
    if (!are_within(&moved, DATE_DAYS_MIN, DATE_DAYS_MAX))
        return;
    e->checked = false;
    e->range = moved;
}

static void range_math(struct expression *e)
{
    e->checked = op_facts(e->math.op)->effect == EFFECT_FAULT;
    e->range = range_full(e->type);
    if (e->math.op == OP_ADD_MONTHS_I32)
        range_months(e);
    e->faults |= e->checked;
    if (e->math.op >= OP_BIT_AND_I64 && e->math.op <= OP_SHIFT_RIGHT_I64)
        range_bits(e);
    e->range.nan = e->null_at_nan || e->left->range.nan
                   || (e->right != NULL && e->right->range.nan);
    e->null_at_nan |= e->range.nan;
    e->nullable |= e->null_at_nan;
}

static void range_lookup(struct expression *e)
{
    e->nullable |= e->lookup.nulls;
    e->faults |= e->lookup.fails;
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

/* --------------------------------------------------------- arithmetic -- */

static_assert((int)ARITHMETIC_ADD == (int)AST_ADD
                  && (int)ARITHMETIC_MOD == (int)AST_MOD,
              "one order of operators");

/* Where a check must not fail for a NULL, its operand is made 0 (plan rule
 * 4), so that the result is no longer bounded by what was computed. */
static void widen_harmless(struct expression *e)
{
    bool nan = e->range.nan;

    if (!e->checked || !e->nullable)
        return;
    e->range = interval_any(e->machine);
    e->range.nan = nan;
}

/* The type of the machine in which an operation is computed. */
static int computed_in(const struct expression *e, const struct interval *range)
{
    bool narrow = e->left->machine == TYPE_I32 && e->right->machine == TYPE_I32;

    if (is_float(e->type))
        return type_machine((enum vdbq_type)e->type);
    return narrow && interval_fits(range, INT32_MIN, INT32_MAX) ? TYPE_I32
                                                                : TYPE_I64;
}

static void range_arithmetic(struct expression *e)
{
    int type =
        is_float(e->type) ? type_machine((enum vdbq_type)e->type) : TYPE_I64;
    struct interval_result result =
        interval_arithmetic((enum arithmetic)e->operation.op, type,
                            &e->left->range, &e->right->range);

    e->range = result.value;
    e->machine = computed_in(e, &result.value);
    e->checked = result.overflows;
    widen_harmless(e);
    e->null_at_zero = result.by_zero;
    e->null_at_nan = result.invalid;
    e->nullable |= e->null_at_zero || e->null_at_nan;
    e->faults |= e->checked;
}

/* --------------------------------------------------------------- casts -- */

/* A wider integer is made where one is needed. */
static void range_cast(struct expression *e)
{
    const struct expression *left = e->left;
    int from = is_float(left->type) ? type_machine((enum vdbq_type)left->type)
                                    : left->machine;
    int to = is_narrow(e->type)  ? TYPE_I32
             : is_float(e->type) ? type_machine((enum vdbq_type)e->type)
                                 : TYPE_I64;
    struct interval_result result = interval_cast(to, from, &left->range);

    e->nullable = left->nullable;
    e->range = result.value;
    e->machine = to == TYPE_I64 && !is_float(left->type) ? from : to;
    e->checked = result.overflows;
    widen_harmless(e);
    e->faults = left->faults || e->checked;
}
