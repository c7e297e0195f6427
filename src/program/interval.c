/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with ranges. Every function here may give more values than there
 * can be, never fewer:
 *
 * Integers are computed exactly, in 128 bits, and then cut to the type: what
 * does not fit fails, or is said by `overflows`. Floats: the operations round
 * to the nearest, which never changes the order of two exact results, so bounds
 * that are computed from the operands' bounds and rounded alike enclose every
 * result. A float's operation done in double and then rounded is the same as
 * done in float (double has more than twice its digits). Bounds are never
 * not-a-number: what is none is told apart (`nan`), and no bound of the rest.
 */
#include "program/interval.h"

#include "cl/types.h"

#include <assert.h>
#include <float.h>
#include <math.h>

__extension__ typedef __int128 wide;

static bool is_real(int type)
{
    return type == TYPE_F32 || type == TYPE_F64;
}

struct interval interval_real(double value)
{
    bool nan = isnan(value);

    return (struct interval){ .low_real = nan ? 0 : value,
                              .high_real = nan ? 0 : value,
                              .nan = nan };
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

/* ----------------------------------------------------------- integers -- */

/* Exact bounds; `low` > `high`: of nothing. */
struct bounds {
    wide low, high;
};

bool interval_fits(const struct interval *a, int64_t low, int64_t high)
{
    return a->low >= low && a->high <= high;
}

static wide lower(wide a, wide b)
{
    return a < b ? a : b;
}

static wide higher(wide a, wide b)
{
    return a > b ? a : b;
}

static void include(struct bounds *bounds, wide value)
{
    bool first = bounds->low > bounds->high;

    bounds->low = first ? value : lower(bounds->low, value);
    bounds->high = first ? value : higher(bounds->high, value);
}

/* What of the bounds is left in a type. */
static struct interval_result cut(int type, struct bounds bounds)
{
    const struct interval any = interval_any(type);
    wide low = lower(higher(bounds.low, any.low), any.high);
    wide high = lower(higher(bounds.high, any.low), any.high);

    assert(low >= any.low && high <= any.high);
    return (struct interval_result){
        .value = { .low = (int64_t)low, .high = (int64_t)high },
        .overflows = low != bounds.low || high != bounds.high
    };
}

/* The extremes of a product are at the corners. */
static struct bounds product(const struct interval *a, const struct interval *b)
{
    struct bounds bounds = { 1, 0 };

    include(&bounds, (wide)a->low * b->low);
    include(&bounds, (wide)a->low * b->high);
    include(&bounds, (wide)a->high * b->low);
    include(&bounds, (wide)a->high * b->high);
    return bounds;
}

/* Takes in what is divided by the divisors from `first` to `last`, which have
 * one sign: the extremes are at the corners. */
static void divide(const struct interval *a, wide first, wide last,
                   struct bounds *bounds)
{
    if (first > last)
        return;
    include(bounds, a->low / first);
    include(bounds, a->low / last);
    include(bounds, a->high / first);
    include(bounds, a->high / last);
}

/* By 0 it is 0. */
static struct bounds quotient(const struct interval *a,
                              const struct interval *b)
{
    struct bounds bounds = { 1, 0 };

    if (b->low <= 0 && b->high >= 0)
        include(&bounds, 0);
    divide(a, b->low, lower(b->high, -1), &bounds);
    divide(a, higher(b->low, 1), b->high, &bounds);
    return bounds;
}

/* A remainder has the sign of what is divided, and is nearer to 0 than what
 * divides; by 0 it is 0. Where all that is divided has one quotient, remainders
 * keep its order. */
static struct bounds remainder_of(const struct interval *a,
                                  const struct interval *b)
{
    wide by = b->low, most = higher(higher(-(wide)b->low, b->high) - 1, 0);
    struct bounds bounds = { 0, 0 };

    if (by == b->high && by != 0 && a->low / by == a->high / by)
        return (struct bounds){ a->low % by, a->high % by };
    if (a->low < 0)
        bounds.low = higher(a->low, -most);
    if (a->high > 0)
        bounds.high = lower(a->high, most);
    return bounds;
}

static struct interval_result integers(enum arithmetic arithmetic, int type,
                                       const struct interval *a,
                                       const struct interval *b)
{
    bool divides = arithmetic == ARITHMETIC_DIV || arithmetic == ARITHMETIC_MOD;
    struct interval_result result;
    struct bounds bounds;

    switch (arithmetic) {
    case ARITHMETIC_ADD:
        bounds =
            (struct bounds){ (wide)a->low + b->low, (wide)a->high + b->high };
        break;
    case ARITHMETIC_SUB:
        bounds =
            (struct bounds){ (wide)a->low - b->high, (wide)a->high - b->low };
        break;
    case ARITHMETIC_MUL:
        bounds = product(a, b);
        break;
    case ARITHMETIC_DIV:
        bounds = quotient(a, b);
        break;
    default:
        bounds = remainder_of(a, b);
        break;
    }
    result = cut(type, bounds);
    result.by_zero = divides && b->low <= 0 && b->high >= 0;
    return result;
}

struct interval_result interval_size(int type, const struct interval *a)
{
    struct bounds bounds = { a->low, a->high };

    if (a->low < 0)
        bounds = (struct bounds){ a->high < 0 ? -(wide)a->high : 0,
                                  higher(-(wide)a->low, a->high) };
    return cut(type, bounds);
}

/* -------------------------------------------------------------- floats -- */

static bool has_zero(const struct interval *a)
{
    return a->low_real <= 0 && a->high_real >= 0;
}

static bool has_infinity(const struct interval *a)
{
    return isinf(a->low_real) || isinf(a->high_real);
}

static void include_real(struct interval *range, double value)
{
    if (isnan(value)) /* of 0 * inf, inf / inf: the corners around say all */
        value = 0;
    range->low_real = fmin(range->low_real, value);
    range->high_real = fmax(range->high_real, value);
}

static struct interval real_sum(const struct interval *a,
                                const struct interval *b)
{
    struct interval range = { .low_real = a->low_real + b->low_real,
                              .high_real = a->high_real + b->high_real };

    if (isnan(range.low_real))
        range.low_real = (double)-INFINITY;
    if (isnan(range.high_real))
        range.high_real = (double)INFINITY;
    return range;
}

static struct interval real_product(const struct interval *a,
                                    const struct interval *b)
{
    struct interval range = { .low_real = (double)INFINITY,
                              .high_real = (double)-INFINITY };

    include_real(&range, a->low_real * b->low_real);
    include_real(&range, a->low_real * b->high_real);
    include_real(&range, a->high_real * b->low_real);
    include_real(&range, a->high_real * b->high_real);
    return range;
}

static struct interval real_quotient(const struct interval *a,
                                     const struct interval *b)
{
    struct interval range = { .low_real = (double)INFINITY,
                              .high_real = (double)-INFINITY };

    if (has_zero(b))
        return (struct interval){ .low_real = (double)-INFINITY,
                                  .high_real = (double)INFINITY };
    include_real(&range, a->low_real / b->low_real);
    include_real(&range, a->low_real / b->high_real);
    include_real(&range, a->high_real / b->low_real);
    include_real(&range, a->high_real / b->high_real);
    return range;
}

/* Whether two infinities of different signs can meet in a sum. */
static bool infinities_meet(const struct interval *a, const struct interval *b)
{
    return (isinf(a->high_real) && a->high_real > 0 && isinf(b->low_real)
            && b->low_real < 0)
           || (isinf(a->low_real) && a->low_real < 0 && isinf(b->high_real)
               && b->high_real > 0);
}

/* A float as a double. GCC 12 takes two such conversions side by side, there and
 * back, for none where it may join them to vectors. */
static double widened(float value)
{
    volatile float alone = value;
    return (double)alone;
}

/* The bounds as a type has them. */
static struct interval rounded(int type, struct interval range)
{
    if (type == TYPE_F32) {
        range.low_real = widened((float)range.low_real);
        range.high_real = widened((float)range.high_real);
    }
    return range;
}

static struct interval_result reals(enum arithmetic arithmetic, int type,
                                    const struct interval *a,
                                    const struct interval *b)
{
    const struct interval negative = { .low_real = -b->high_real,
                                       .high_real = -b->low_real };
    struct interval_result result = { .overflows = false };

    assert(arithmetic != ARITHMETIC_MOD);
    switch (arithmetic) {
    case ARITHMETIC_ADD:
        result.invalid = infinities_meet(a, b);
        result.value = real_sum(a, b);
        break;
    case ARITHMETIC_SUB:
        result.invalid = infinities_meet(a, &negative);
        result.value = real_sum(a, &negative);
        break;
    case ARITHMETIC_MUL:
        result.invalid = (has_zero(a) && has_infinity(b))
                         || (has_infinity(a) && has_zero(b));
        result.value = real_product(a, b);
        break;
    default:
        result.invalid = has_infinity(a) && has_infinity(b);
        result.by_zero = has_zero(b);
        result.value = real_quotient(a, b);
        break;
    }
    result.value = rounded(type, result.value);
    result.value.nan = result.invalid || a->nan || b->nan;
    return result;
}

struct interval_result interval_arithmetic(enum arithmetic arithmetic, int type,
                                           const struct interval *a,
                                           const struct interval *b)
{
    return is_real(type) ? reals(arithmetic, type, a, b)
                         : integers(arithmetic, type, a, b);
}

/* -------------------------------------------------------------- casts -- */

/* What of a float is left in an integer type, whose bounds a double may round
 * outwards. */
static int64_t whole(double value, const struct interval *any)
{
    if (value <= (double)any->low)
        return any->low;
    if (value >= (double)any->high)
        return any->high;
    return (int64_t)value;
}

static struct interval_result real_to_integer(int to, const struct interval *a)
{
    const struct interval any = interval_any(to);
    double end = to == TYPE_I32 ? 2147483648.0 : 9223372036854775808.0;

    return (struct interval_result){
        .value = { .low = whole(a->low_real, &any),
                   .high = whole(a->high_real, &any) },
        .overflows = a->nan || !(a->low_real > -end) || !(a->high_real < end)
    };
}

static struct interval_result to_real(int to, int from,
                                      const struct interval *a)
{
    struct interval_result result = { .value = *a };

    if (!is_real(from) && to == TYPE_F32) /* rounded once */
        result.value =
            (struct interval){ .low_real = widened((float)a->low),
                               .high_real = widened((float)a->high) };
    else if (!is_real(from))
        result.value = (struct interval){ .low_real = (double)a->low,
                                          .high_real = (double)a->high };
    result.overflows = from == TYPE_F64 && to == TYPE_F32
                       && !(a->low_real >= -(double)FLT_MAX
                            && a->high_real <= (double)FLT_MAX);
    result.value = rounded(to, result.value);
    return result;
}

struct interval_result interval_cast(int to, int from, const struct interval *a)
{
    if (is_real(to))
        return to_real(to, from, a);
    if (is_real(from))
        return real_to_integer(to, a);
    return cut(to, (struct bounds){ a->low, a->high });
}

struct interval interval_join(const struct interval *a,
                              const struct interval *b)
{
    return (struct interval){ .low = a->low < b->low ? a->low : b->low,
                              .high = a->high > b->high ? a->high : b->high,
                              .low_real = fmin(a->low_real, b->low_real),
                              .high_real = fmax(a->high_real, b->high_real),
                              .nan = a->nan || b->nan };
}

bool interval_meet(struct interval *a, const struct interval *b)
{
    *a = (struct interval){ .low = a->low > b->low ? a->low : b->low,
                            .high = a->high < b->high ? a->high : b->high,
                            .low_real = fmax(a->low_real, b->low_real),
                            .high_real = fmin(a->high_real, b->high_real),
                            .nan = a->nan && b->nan };
    return a->low <= a->high && a->low_real <= a->high_real;
}
