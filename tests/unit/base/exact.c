/* SPDX-License-Identifier: MIT */
/* Doubles and decimal digits beside printf() and strtod(): base/exact.h. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/exact.h"

enum { ROUNDS = 20000, DIGITS_MOST = 17 };

static uint64_t next(void)
{
    static uint64_t bits = 88172645463325252u;
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    return bits;
}

/* Every count of digits is what printf() writes of it, and the longest are there in
 * each size that is promised. */
static void expect_digits(double value)
{
    for (int count = 1; count <= DIGITS_MOST; count++) {
        char expected[64], room[64];
        uint64_t digits;
        int point;
        bool has = exact_digits(value, count, &digits, &point);
        if (count > 15 && value >= 1e-14 && value < 1e15)
            assert_true(has);
        if (!has)
            continue;
        snprintf(expected, sizeof expected, "%.*e", count - 1, value);
        snprintf(room, sizeof room, "%" PRIu64 "e%+03d", digits, point - 1);
        if (count > 1) {
            memmove(room + 2, room + 1, strlen(room));
            room[1] = '.';
        }
        assert_string_equal(room, expected);
    }
}

static void digits_are_those_of_printf(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        int tens = (int)(next() % 34) - 17;
        double fraction = (double)(next() >> 11) * 0x1p-53;
        expect_digits(fraction * pow(10, tens));
        /* neighbours of powers of ten: one digit more, or rounded to it */
        expect_digits(nextafter(pow(10, tens), next() % 2 ? 0 : 1e300));
        /* ties: few bits behind the point */
        expect_digits((double)(next() >> 24) / 256 + 1);
        expect_digits(ldexp(1, (int)(next() % 100) - 50));
    }
}

static void zero_and_other_sizes(void **state)
{
    uint64_t digits = 42;
    int point;
    (void)state;
    assert_true(exact_digits(0, 1, &digits, &point));
    assert_int_equal(digits, 0);
    assert_false(exact_digits(1e15, 17, &digits, &point));
    assert_false(exact_digits(5e-324, 1, &digits, &point));
    assert_false(exact_digits((double)NAN, 1, &digits, &point));
    assert_false(exact_digits((double)INFINITY, 1, &digits, &point));
}

static void expect_double(uint64_t digits, int exponent)
{
    char text[64];
    double value = 0, expected;
    bool has = exact_double(digits, exponent, &value);
    snprintf(text, sizeof text, "%" PRIu64 "e%d", digits, exponent);
    expected = strtod(text, NULL);
    assert_int_equal(has, abs(exponent) < 28);
    if (has)
        assert_memory_equal(&value, &expected, sizeof value);
}

static void doubles_are_those_of_strtod(void **state)
{
    (void)state;
    for (int exponent = -30; exponent <= 30; exponent++) {
        expect_double(1, exponent);
        expect_double(UINT64_MAX, exponent);
        for (int i = 0; i < ROUNDS / 10; i++)
            expect_double((next() | 1ull << 63) >> next() % 64, exponent);
    }
    for (int i = 0; i < ROUNDS; i++) {
        /* half way between two doubles, and past it by very little */
        uint64_t tie = (next() >> 13 | 1ull << 51) * 10 + 5;
        expect_double(tie, -1);
        expect_double(tie * 100 + 1, -3);
        expect_double((next() >> 11 | 1ull << 53) * 2 + 1, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_those_of_printf),
        cmocka_unit_test(zero_and_other_sizes),
        cmocka_unit_test(doubles_are_those_of_strtod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
