/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with ranges. Every function here may give more values than there
 * can be, never fewer:
 *
 * Integers are computed exactly; where the exact bounds leave 64 bits or the
 * type, the answer is any value. Floats: the operations round to the nearest,
 * which never changes the order of two exact results, so bounds that are
 * computed from the operands' bounds and rounded alike enclose every result.
 * A float's operation done in double and then rounded is the same as done in
 * float (double has more than twice its digits). Where a bound is infinite or
 * something may be no number, the answer is any value.
 */
#include "program/dataflow/interval.h"

#include <float.h>
#include <math.h>

static bool is_real(int type)
{
    return type == TYPE_F32 || type == TYPE_F64;
}

struct interval interval_any(int type)
{
    struct interval any = { INT64_MIN, INT64_MAX, (double)-INFINITY,
                            (double)INFINITY, true };
    if (type == TYPE_I32) {
        any.low = INT32_MIN;
        any.high = INT32_MAX;
    }
    return any;
}

/* -------------------------------------------------------------- truth -- */

struct interval interval_truth(struct verdict verdict)
{
    return (struct interval){ .low = verdict.may_fail ? 0 : 1,
                              .high = verdict.may_hold ? 1 : 0 };
}

struct verdict interval_verdict(const struct interval *range)
{
    return (struct verdict){ .may_hold = range->low != 0 || range->high != 0,
                             .may_fail = range->low <= 0 && range->high >= 0 };
}

/* Whether some value of a can be less than some of b; or not greater. */
static bool can_be_less(int type, const struct interval *a,
                        const struct interval *b)
{
    return is_real(type) ? a->low_real < b->high_real : a->low < b->high;
}

static bool can_be_at_most(int type, const struct interval *a,
                           const struct interval *b)
{
    return is_real(type) ? a->low_real <= b->high_real : a->low <= b->high;
}

struct verdict interval_compare(enum interval_relation relation, int type,
                                const struct interval *a,
                                const struct interval *b)
{
    struct verdict verdict;
    switch (relation) {
    case RELATION_EQ:
        verdict.may_hold =
            can_be_at_most(type, a, b) && can_be_at_most(type, b, a);
        verdict.may_fail = can_be_less(type, a, b) || can_be_less(type, b, a);
        break;
    case RELATION_LT:
        verdict.may_hold = can_be_less(type, a, b);
        verdict.may_fail = can_be_at_most(type, b, a);
        break;
    default:
        verdict.may_hold = can_be_at_most(type, a, b);
        verdict.may_fail = can_be_less(type, b, a);
        break;
    }
    if (is_real(type))
        verdict.may_fail |= a->nan || b->nan;
    return verdict;
}

/* --------------------------------------------------------- arithmetic -- */

/* One exact result; true: it does not fit 64 bits. */
static bool exact(enum arithmetic arithmetic, int64_t x, int64_t y,
                  int64_t *result)
{
    switch (arithmetic) {
    case ARITHMETIC_ADD:
        return __builtin_add_overflow(x, y, result);
    case ARITHMETIC_SUB:
        return __builtin_sub_overflow(x, y, result);
    default:
        return __builtin_mul_overflow(x, y, result);
    }
}

/* The extremes are at the corners, for each of the three operations. */
static struct interval integers(enum arithmetic arithmetic, int type,
                                const struct interval *a,
                                const struct interval *b, bool *overflows)
{
    const int64_t x[2] = { a->low, a->high }, y[2] = { b->low, b->high };
    const struct interval any = interval_any(type);
    struct interval range = { .low = INT64_MAX, .high = INT64_MIN };
    for (int i = 0; i < 4; i++) {
        int64_t corner = 0;
        *overflows |= exact(arithmetic, x[i / 2], y[i % 2], &corner);
        range.low = corner < range.low ? corner : range.low;
        range.high = corner > range.high ? corner : range.high;
    }
    *overflows |= range.low < any.low || range.high > any.high;
    return *overflows ? any : range;
}

static int64_t lower(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t higher(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Takes in what is divided by the divisors from `first` to `last`, which have
 * one sign: the extremes are at the corners. */
static void divide(const struct interval *a, int64_t first, int64_t last,
                   struct interval *range)
{
    const int64_t x[2] = { a->low, a->high }, y[2] = { first, last };
    for (int i = 0; first <= last && i < 4; i++) {
        int64_t corner = x[i / 2] / y[i % 2];
        range->low = lower(range->low, corner);
        range->high = higher(range->high, corner);
    }
}

/* Only the least value divided by -1 does not fit. */
static struct interval quotients(int type, const struct interval *a,
                                 const struct interval *b, bool *overflows)
{
    const struct interval any = interval_any(type);
    struct interval range = { .low = INT64_MAX, .high = INT64_MIN };
    *overflows = a->low == any.low && b->low <= -1 && b->high >= -1;
    if (*overflows)
        return any;
    if (b->low <= 0 && b->high >= 0)
        range.low = range.high = 0;
    divide(a, b->low, lower(b->high, -1), &range);
    divide(a, higher(b->low, 1), b->high, &range);
    return range;
}

/* One less than the largest magnitude, of any but 0. */
static int64_t remainder_most(const struct interval *b)
{
    int64_t below = b->low < 0 ? -(b->low + 1) : 0;
    int64_t above = b->high > 0 ? b->high - 1 : 0;
    return higher(below, above);
}

/* Where all that is divided has one quotient, remainders keep its order. */
static struct interval remainders(const struct interval *a,
                                  const struct interval *b)
{
    int64_t by = b->low, most = remainder_most(b);
    bool one = by == b->high && by != 0 && by != -1;
    struct interval range = { 0 };
    if (one && a->low / by == a->high / by)
        return (struct interval){ .low = a->low % by, .high = a->high % by };
    if (a->low < 0)
        range.low = higher(a->low, -most);
    if (a->high > 0)
        range.high = lower(a->high, most);
    return range;
}

static double rounded(enum arithmetic arithmetic, int type, double x, double y)
{
    double result = arithmetic == ARITHMETIC_ADD   ? x + y
                    : arithmetic == ARITHMETIC_SUB ? x - y
                    : arithmetic == ARITHMETIC_MUL ? x * y
                                                   : x / y;
    return type == TYPE_F32 ? (double)(float)result : result;
}

static bool is_finite(const struct interval *range)
{
    return !range->nan && isfinite(range->low_real)
           && isfinite(range->high_real);
}

static struct interval reals(enum arithmetic arithmetic, int type,
                             const struct interval *a, const struct interval *b)
{
    const double x[2] = { a->low_real, a->high_real };
    const double y[2] = { b->low_real, b->high_real };
    struct interval range = { .low_real = (double)INFINITY,
                              .high_real = (double)-INFINITY };
    bool zero = arithmetic == ARITHMETIC_DIV && y[0] <= 0 && y[1] >= 0;
    if (!is_finite(a) || !is_finite(b) || zero)
        return interval_any(type);
    for (int i = 0; i < 4; i++) {
        double corner = rounded(arithmetic, type, x[i / 2], y[i % 2]);
        range.low_real = corner < range.low_real ? corner : range.low_real;
        range.high_real = corner > range.high_real ? corner : range.high_real;
    }
    return range;
}

struct interval interval_arithmetic(enum arithmetic arithmetic, int type,
                                    const struct interval *a,
                                    const struct interval *b, bool *overflows)
{
    *overflows = false;
    if (is_real(type))
        return reals(arithmetic, type, a, b);
    if (arithmetic == ARITHMETIC_DIV)
        return quotients(type, a, b, overflows);
    if (arithmetic == ARITHMETIC_MOD)
        return remainders(a, b);
    return integers(arithmetic, type, a, b, overflows);
}

struct interval interval_size(int type, const struct interval *a,
                              bool *overflows)
{
    const struct interval any = interval_any(type);
    *overflows = a->low <= any.low;
    if (*overflows)
        return any;
    if (a->low >= 0)
        return *a;
    return (struct interval){ .low = a->high < 0 ? -a->high : 0,
                              .high = -a->low > a->high ? -a->low : a->high };
}

/* -------------------------------------------------------------- casts -- */

/* What is left of floats without their fractions. The bounds are narrower
 * than what fits: a proof is not needed for the last few values. */
static struct interval cut(int to, const struct interval *a, bool *overflows)
{
    double limit = to == TYPE_I32 ? 2147483392.0 : 9223371487098961920.0;
    *overflows = a->nan || !(a->low_real >= -limit && a->high_real <= limit);
    return *overflows ? interval_any(to)
                      : (struct interval){ .low = (int64_t)a->low_real,
                                           .high = (int64_t)a->high_real };
}

static struct interval to_real(int to, int from, const struct interval *a,
                               bool *overflows)
{
    struct interval range = *a;
    if (!is_real(from)) {
        range = (struct interval){ .low_real = (double)a->low,
                                   .high_real = (double)a->high };
        if (to == TYPE_F32) {
            range.low_real = (double)(float)a->low;
            range.high_real = (double)(float)a->high;
        }
    } else if (to == TYPE_F32) {
        *overflows = a->nan
                     || !(a->low_real >= -(double)FLT_MAX
                          && a->high_real <= (double)FLT_MAX);
        range.low_real = (double)(float)a->low_real;
        range.high_real = (double)(float)a->high_real;
    }
    return *overflows ? interval_any(to) : range;
}

struct interval interval_cast(int to, int from, const struct interval *a,
                              bool *overflows)
{
    *overflows = false;
    if (is_real(to))
        return to_real(to, from, a, overflows);
    if (is_real(from))
        return cut(to, a, overflows);
    *overflows =
        a->low < interval_any(to).low || a->high > interval_any(to).high;
    return *overflows ? interval_any(to) : *a;
}

struct interval interval_join(const struct interval *a,
                              const struct interval *b)
{
    return (struct interval){
        .low = a->low < b->low ? a->low : b->low,
        .high = a->high > b->high ? a->high : b->high,
        .low_real = a->low_real < b->low_real ? a->low_real : b->low_real,
        .high_real = a->high_real > b->high_real ? a->high_real : b->high_real,
        .nan = a->nan || b->nan
    };
}
