/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with ranges encloses what the machine computes: all pairs of small
 * ranges of integers and of some floats, with infinities, and the limits of the
 * types.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cl/types.h"
#include "program/interval.h"

/* What the machine gives; by 0 it is 0. */
static int64_t machine_value(enum arithmetic arithmetic, int64_t x, int64_t y)
{
    switch (arithmetic) {
    case ARITHMETIC_ADD:
        return x + y;
    case ARITHMETIC_SUB:
        return x - y;
    case ARITHMETIC_MUL:
        return x * y;
    case ARITHMETIC_DIV:
        return y == 0 ? 0 : x / y;
    default:
        return y == 0 ? 0 : x % y;
    }
}

/* Every value is inside; the bounds are values, but for remainders. */
static void check_pair(enum arithmetic arithmetic, const struct interval *a,
                       const struct interval *b)
{
    struct interval_result result =
        interval_arithmetic(arithmetic, TYPE_I64, a, b);
    int64_t low = INT64_MAX, high = INT64_MIN;
    bool divides = arithmetic >= ARITHMETIC_DIV;
    for (int64_t x = a->low; x <= a->high; x++)
        for (int64_t y = b->low; y <= b->high; y++) {
            int64_t value = machine_value(arithmetic, x, y);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    assert_false(result.overflows || result.invalid);
    assert_int_equal(result.by_zero, divides && b->low <= 0 && b->high >= 0);
    assert_true(result.value.low <= low && result.value.high >= high);
    if (arithmetic != ARITHMETIC_MOD)
        assert_true(result.value.low == low && result.value.high == high);
}

static void small_ranges(void **unused)
{
    enum { LEAST = -7, MOST = 7 };
    (void)unused;
    for (int a = LEAST; a <= MOST; a++)
        for (int b = a; b <= MOST; b++)
            for (int c = LEAST; c <= MOST; c++)
                for (int d = c; d <= MOST; d++) {
                    struct interval x = { .low = a, .high = b };
                    struct interval y = { .low = c, .high = d };
                    for (int k = ARITHMETIC_ADD; k <= ARITHMETIC_MOD; k++)
                        check_pair((enum arithmetic)k, &x, &y);
                }
}

static struct interval_result of(enum arithmetic arithmetic, int type,
                                 struct interval a, struct interval b)
{
    return interval_arithmetic(arithmetic, type, &a, &b);
}

/* What does not fit is said, and the rest is cut to the type. */
static void limits(void **unused)
{
    const struct interval any = interval_any(TYPE_I64);
    const struct interval narrow = interval_any(TYPE_I32);
    const struct interval least = { .low = INT64_MIN, .high = INT64_MIN };
    const struct interval minus = { .low = -1, .high = -1 };
    struct interval_result result;
    (void)unused;
    for (int k = ARITHMETIC_ADD; k <= ARITHMETIC_DIV; k++) {
        result = of((enum arithmetic)k, TYPE_I64, any, any);
        assert_true(result.overflows);
        assert_true(result.value.low == INT64_MIN);
        assert_true(result.value.high == INT64_MAX);
    }
    assert_true(of(ARITHMETIC_DIV, TYPE_I32, narrow, minus).overflows);
    assert_false(of(ARITHMETIC_DIV, TYPE_I64, narrow, minus).overflows);
    result = of(ARITHMETIC_MOD, TYPE_I64, any, any);
    assert_false(result.overflows);
    assert_true(result.value.low == -INT64_MAX
                && result.value.high == INT64_MAX);
    result = of(ARITHMETIC_MOD, TYPE_I64, least, minus);
    assert_true(result.value.low == 0 && result.value.high == 0);
    assert_true(interval_size(TYPE_I64, &least).overflows);
    assert_int_equal(interval_size(TYPE_I64, &narrow).value.high, 2147483648);
}

/* ------------------------------------------------------------- floats -- */

static const double some[] = { (double)-INFINITY, -1e308, -2.5, -0.0, 0.5, 3,
                               (double)INFINITY };
enum { SOME = sizeof some / sizeof some[0] };

static double real_value(enum arithmetic arithmetic, double x, double y)
{
    switch (arithmetic) {
    case ARITHMETIC_ADD:
        return x + y;
    case ARITHMETIC_SUB:
        return x - y;
    case ARITHMETIC_MUL:
        return x * y;
    default:
        return x / y;
    }
}

/* A range of some[a] to some[b], and one to be met by it. */
static void check_reals(enum arithmetic arithmetic, int a, int b, int c, int d)
{
    struct interval_result result =
        of(arithmetic, TYPE_F64,
           (struct interval){ .low_real = some[a], .high_real = some[b] },
           (struct interval){ .low_real = some[c], .high_real = some[d] });
    for (int x = a; x <= b; x++)
        for (int y = c; y <= d; y++) {
            double value = real_value(arithmetic, some[x], some[y]);
            if (isnan(value))
                assert_true(result.value.nan || result.by_zero);
            else
                assert_true(value >= result.value.low_real
                            && value <= result.value.high_real);
        }
}

static void floats(void **unused)
{
    (void)unused;
    for (int a = 0; a < SOME; a++)
        for (int b = a; b < SOME; b++)
            for (int c = 0; c < SOME; c++)
                for (int d = c; d < SOME; d++)
                    for (int k = ARITHMETIC_ADD; k <= ARITHMETIC_DIV; k++)
                        check_reals((enum arithmetic)k, a, b, c, d);
}

/* The same of single floats, whose results are rounded once more. */
static void single_floats(void **unused)
{
    static const float singles[] = { -FLT_MAX, -0.1f, -FLT_MIN, 0,      FLT_MIN,
                                     1e-30f,   0.1f,  3e7f,     FLT_MAX };
    enum { SINGLES = sizeof singles / sizeof singles[0] };
    (void)unused;
    for (int x = 0; x < SINGLES * SINGLES; x++) {
        volatile float a = singles[x / SINGLES], b = singles[x % SINGLES];
        for (int k = ARITHMETIC_ADD; k <= ARITHMETIC_DIV; k++) {
            volatile float value =
                (float)real_value((enum arithmetic)k, (double)a, (double)b);
            struct interval_result result =
                of((enum arithmetic)k, TYPE_F32,
                   (struct interval){ .low_real = (double)a,
                                      .high_real = (double)FLT_MAX },
                   (struct interval){ .low_real = (double)b,
                                      .high_real = (double)b });
            assert_true(isnan((double)value)
                        || ((double)value >= result.value.low_real
                            && (double)value <= result.value.high_real));
        }
    }
}

/* What is no number has no bounds, and widens nothing. */
static void no_numbers(void **unused)
{
    const struct interval none = interval_real((double)NAN);
    const struct interval one = interval_real(1), seven = interval_real(7);
    struct interval both = interval_join(&one, &none);
    (void)unused;
    both = interval_join(&both, &seven);
    assert_true(both.nan && both.low_real <= 1 && both.high_real >= 7);
    assert_false(isnan(both.low_real) || isnan(both.high_real));
    assert_true(of(ARITHMETIC_ADD, TYPE_F64, both, one).value.nan);
    assert_true(interval_cast(TYPE_I64, TYPE_F64, &both).overflows);
}

/* -------------------------------------------------------------- casts -- */

static void casts(void **unused)
{
    const struct interval any = interval_any(TYPE_I64);
    const struct interval real = { .low_real = -2.9, .high_real = 1e12 };
    struct interval_result result = interval_cast(TYPE_I32, TYPE_I64, &any);
    (void)unused;
    assert_true(result.overflows);
    assert_int_equal(result.value.low, INT32_MIN);
    assert_int_equal(result.value.high, INT32_MAX);
    result = interval_cast(TYPE_I32, TYPE_F64, &real);
    assert_true(result.overflows);
    assert_int_equal(result.value.low, -2);
    assert_int_equal(result.value.high, INT32_MAX);
    assert_false(interval_cast(TYPE_I64, TYPE_F64, &real).overflows);
    assert_false(interval_cast(TYPE_F32, TYPE_I64, &any).overflows);
    result = interval_cast(TYPE_F64, TYPE_I64, &any);
    assert_true(result.value.low_real == -9223372036854775808.0
                && result.value.high_real == 9223372036854775808.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ranges), cmocka_unit_test(limits),
        cmocka_unit_test(floats),       cmocka_unit_test(no_numbers),
        cmocka_unit_test(casts),        cmocka_unit_test(single_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
