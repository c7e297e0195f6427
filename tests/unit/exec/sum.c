/* SPDX-License-Identifier: MIT */
/*
 * Sums of floats: values in any order, cut anyhow and merged anyhow, have the
 * same sum, and it is as near to the exact one as cl/sum.h says. The exact one
 * is an integer of 2240 bits in units of 2^-1074. Sums of integers that a GPU's
 * work-group takes apart have room for their parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "exec/launch/launch_tables.h"
#include "exec/rows/quotient.h"
#include "exec/rows/sum.h"
#include "fixtures/random_rows.h"

enum { VALUES = 3000, PARTS = 5 };

static uint64_t random_word(void)
{
    return (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);
}

/* ------------------------------------------------------- the exact way -- */

enum { WORDS = 70 };

/* A sum in units of 2^-1074, in words of 32 bits, the lowest first; carries
 * are not passed on until its value is asked for. */
struct exact {
    int64_t words[WORDS];
};

static void exact_add(struct exact *exact, double value)
{
    int exponent;
    int64_t digits = (int64_t)ldexp(frexp(value, &exponent), 53);
    int shift = exponent - 53 + 1074;

    if (shift < 0) { /* below the normal numbers its lowest bits are 0 */
        digits /= INT64_C(1) << -shift;
        shift = 0;
    }
    u128 size = (u128)(digits < 0 ? -digits : digits) << shift % 32;
    for (int i = 0; i < 3; i++) {
        int64_t word = (int64_t)(uint32_t)(size >> 32 * i);
        exact->words[shift / 32 + i] += digits < 0 ? -word : word;
    }
}

/* Passes carries on; the sum's sign is then the highest word's. */
static void exact_carry(struct exact *exact)
{
    for (int i = 0; i + 1 < WORDS; i++) {
        int64_t carry = exact->words[i] >> 32;
        exact->words[i] &= UINT32_MAX;
        exact->words[i + 1] += carry;
    }
}

/* What is left of the exact sum without another value, as a double of a few
 * correct digits: words from the highest on. */
static double exact_less(struct exact exact, double value)
{
    double left = 0, sign = 1;

    exact_add(&exact, -value);
    exact_carry(&exact);
    if (exact.words[WORDS - 1] < 0) {
        sign = -1;
        for (int i = 0; i < WORDS; i++)
            exact.words[i] = -exact.words[i];
        exact_carry(&exact);
    }
    for (int i = WORDS; i-- > 0;)
        left += ldexp((double)exact.words[i], 32 * i - 1074);
    return sign * left;
}

/* ---------------------------------------------------------- any values -- */

/* A number of all magnitudes, of few, or of one. */
static double random_number(unsigned kind)
{
    uint64_t bits = random_word();
    double value;

    if (kind == 0)
        bits &= ~(UINT64_C(0x7fe) << 52); /* subnormal, or hardly above */
    if (kind == 1)
        bits |= UINT64_C(0x7c0) << 52; /* up to the greatest */
    if (kind == 2)
        bits = (bits & ~(UINT64_C(0x7f0) << 52)) | UINT64_C(0x3f0) << 52;
    value = f64_of_bits(bits);
    return isfinite(value) ? value : 1;
}

static void fill(double *values, unsigned count, unsigned kind)
{
    for (unsigned i = 0; i < count; i++)
        values[i] = random_number(kind);
}

static void shuffle(double *values, unsigned count)
{
    for (unsigned i = count; i > 1; i--) {
        unsigned other = random_below(i);
        double value = values[i - 1];
        values[i - 1] = values[other];
        values[other] = value;
    }
}

/* Adds them in pieces, one at a time or many, to several sums; then these are
 * merged. */
static struct sum sum_pieces(const double *values, unsigned count)
{
    struct sum parts[PARTS] = { { .top = 0 } };
    unsigned first = random_below(PARTS);

    for (unsigned at = 0, piece; at < count; at += piece) {
        struct sum *part = &parts[random_below(PARTS)];
        piece = 1 + random_below(random_below(2) ? 9 : 700);
        piece = piece < count - at ? piece : count - at;
        if (random_below(2))
            sum_add_all(part, values + at, piece);
        else
            for (unsigned i = 0; i < piece; i++)
                sum_add(part, values[at + i]);
        if (random_below(4) == 0)
            sum_carry(part);
    }
    for (unsigned i = 0; i < PARTS; i++)
        if (i != first)
            sum_merge(&parts[first], &parts[i]);
    return parts[first];
}

static void order_and_cuts_change_nothing(void **state)
{
    static double values[VALUES];

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        unsigned count = random_below(VALUES), kind = random_below(4);
        struct sum all = { .top = 0 };
        fill(values, count, kind);
        for (unsigned i = 0; round % 8 == 0 && i < 3 && i < count; i++)
            values[i] = i < 1 ? -(double)INFINITY : (double)INFINITY;
        if (round % 16 == 0 && count > 0)
            values[count - 1] = (double)NAN;
        sum_add_all(&all, values, count);
        for (unsigned again = 0; again < 4; again++) {
            struct sum other;
            shuffle(values, count);
            other = sum_pieces(values, count);
            assert_memory_equal(&all, &other, sizeof all);
        }
    }
}

static void sums_are_as_near_as_promised(void **state)
{
    static double values[VALUES];

    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        unsigned count = random_below(VALUES), kind = round % 4;
        struct exact exact = { { 0 } };
        double most = 0, value, left, error;
        struct sum sum;
        fill(values, count, kind);
        for (unsigned i = 0; i < count; i++) {
            exact_add(&exact, values[i]);
            most = fmax(most, fabs(values[i]));
        }
        sum = sum_pieces(values, count);
        value = sum_value(&sum);
        if (isinf(value)) {
            left = exact_less(exact, copysign(DBL_MAX, value));
            assert_true(left * copysign(1, value) > 0);
            continue;
        }
        error = count * ldexp(most, -64);
        left = fabs(exact_less(exact, value));
        assert_true(left <= (error + ldexp(fabs(value), -53)) * 1.0001);
        if (kind != 0)
            continue; /* digits may be dropped */
        assert_true(left <= ldexp(fabs(value), -53));
        assert_true(sum_rest(&sum) == exact_less(exact, value));
    }
}

/* A sum that is merged with itself is that of twice as many values. */
static void there_may_be_any_number_of_values(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 100; round++) {
        struct sum sum = { .top = 0 };
        double values[8], once;
        fill(values, 8, 2);
        for (unsigned i = 0; i < 8; i++)
            values[i] = round % 2 ? fabs(values[i]) : values[i];
        sum_add_all(&sum, values, 8);
        once = sum_value(&sum);
        for (int twice = 1; twice <= 58; twice++) {
            struct sum same = sum;
            sum_merge(&sum, &same);
            assert_true(sum_value(&sum) == ldexp(once, twice));
        }
    }
}

static void what_is_no_number_stays(void **state)
{
    static const double some[] = { 1e300, 1, -1e300, 0x1p-1074, 3, -0.0 };
    struct sum sum = { .top = 0 };

    (void)state;
    for (unsigned i = 0; i < 6; i++)
        sum_add(&sum, some[i]);
    assert_true(sum_value(&sum) == 0); /* 4 is below 2^-64 of 1e300 */
    sum = (struct sum){ .top = 0 };
    sum_add(&sum, -0.0);
    assert_true(sum_value(&sum) == 0 && !signbit(sum_value(&sum)));
    sum_add(&sum, DBL_MAX);
    sum_add(&sum, DBL_MAX);
    assert_true(sum_value(&sum) == (double)INFINITY);
    sum_add(&sum, -DBL_MAX);
    assert_true(sum_value(&sum) == DBL_MAX);
    sum_add(&sum, -(double)INFINITY);
    assert_true(sum_value(&sum) == -(double)INFINITY);
    sum_add(&sum, (double)INFINITY);
    assert_true(isnan(sum_value(&sum)));
}

/* Of values the lowest bits, and those above them of 32-bit integers. */
static void parts_of_integers_have_room(void **state)
{
    (void)state;
    for (uint64_t rows = 1; rows <= LAUNCH_COPY_ROWS; rows++) {
        uint64_t bits = launch_low_bits(rows);
        assert_in_range(bits, LAUNCH_LOW_BITS, 24);
        assert_true(((UINT64_C(1) << bits) - 1) * rows <= UINT32_MAX);
        assert_true((UINT64_C(1) << (31 - bits)) * rows
                    <= (uint64_t)INT32_MAX + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_cuts_change_nothing),
        cmocka_unit_test(sums_are_as_near_as_promised),
        cmocka_unit_test(there_may_be_any_number_of_values),
        cmocka_unit_test(what_is_no_number_stays),
        cmocka_unit_test(parts_of_integers_have_room)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
