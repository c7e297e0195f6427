/* SPDX-License-Identifier: MIT */
/*
 * Quotients of 128-bit integers: dividends are made of the quotient that must
 * come, so that what is expected needs no division.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "cl/window/quotient.h"
#include "exec/rows/quotient.h"
#include "fixtures/random_rows.h"

static uint64_t random_bits(unsigned bits)
{
    uint64_t all =
        (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);
    return bits == 0 ? 0 : all >> (64 - bits);
}

/* (m + 1/2) * divisor + rest has the quotient m, m + 1, or the even one. */
static void halves_go_to_the_even(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200000; round++) {
        u128 half = ((u128)random_bits(random_below(9)) << 60
                     | random_bits(1 + random_below(60)))
                    + 1;
        uint64_t m = random_bits(52) | UINT64_C(1) << 52;
        int64_t rest = (int64_t)random_below(3) - 1;
        i128 dividend = (i128)(half * (2 * m + 1)) + rest;
        uint64_t up = rest > 0 || (rest == 0 && m % 2 == 1);
        unsigned shift = random_below(55);
        double expected = (double)(m + up);

        if (half == 1 && rest != 0)
            continue;
        assert_true(quotient(dividend, 2 * half) == expected);
        assert_true(quotient(-dividend, 2 * half) == -expected);
        if (half >> (126 - shift) == 0)
            assert_true(quotient(dividend, (2 * half) << shift)
                        == ldexp(expected, -(int)shift));
    }
}

static void small_and_great_ones(void **state)
{
    i128 most = (i128)(~(u128)0 >> 1);

    (void)state;
    assert_true(quotient(0, 3) == 0 && !signbit(quotient(0, (u128)1 << 100)));
    assert_true(quotient(1, 3) == 1.0 / 3 && quotient(-1, 10) == -0.1);
    assert_true(quotient(most, 1) == 0x1p127);
    assert_true(quotient(-most - 1, 1) == -0x1p127);
    assert_true(quotient(1, (u128)1 << 126) == 0x1p-126);
    assert_true(quotient(-most - 1, (u128)most) == -1);
    /* (2^53 + 1) + 1 / 2: two roundings would give 2^53. */
    assert_true(quotient(((i128)1 << 54) + 3, 2) == 0x1p53 + 2);
}

/* Integers that are made of halves of 64 bits give the same. */
static void halves_of_integers_give_the_same(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200000; round++) {
        uint64_t x = random_bits(1 + random_below(63)) | 1;
        uint64_t y = random_bits(1 + random_below(62)) | 1;
        u128 size = (u128)random_bits(random_below(64)) << 63
                    | random_bits(1 + random_below(63));
        i128 sum = random_below(2) ? (i128)size : -(i128)size;
        if (random_below(4) == 0) /* a tie, or almost */
            sum = (i128)((u128)x * y * (random_bits(53) * 2 + 1) / 2 >> 1);
        double value =
            quotient_of_sum((uint64_t)sum, (uint64_t)(sum >> 64), x, y);
        assert_true(bits_of_f64(value)
                    == bits_of_f64(quotient(sum, (u128)x * y)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(halves_go_to_the_even),
                                        cmocka_unit_test(small_and_great_ones),
                                        cmocka_unit_test(
                                            halves_of_integers_give_the_same) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
