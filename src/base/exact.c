/* SPDX-License-Identifier: MIT */
/*
 * A double is mantissa * 2^exponent, so that value * 10^power is
 * (mantissa * 5^power) * 2^(exponent + power): the product fits into 128 bits,
 * and what is shifted out of it tells how to round. Read the other way, digits are
 * multiplied with a power of five or divided by it, and the C compiler's
 * conversion rounds the quotient.
 */
#include "base/exact.h"

#include <assert.h>
#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
    MANTISSA_BITS = 53,
    FIVES = 28,     /* powers of five below 2^64                      */
    POWER_MAX = 32, /* 2^53 * 5^32 is below 2^128                     */
    DIGITS_MOST = 17
};

/* Values between these have products of 128 bits, and shifts above 0. */
static const double least = 1e-14, most = 1e15;

static const uint64_t fives[FIVES] = {
    1,
    5,
    25,
    125,
    625,
    3125,
    15625,
    78125,
    390625,
    1953125,
    9765625,
    48828125,
    244140625,
    1220703125,
    6103515625,
    30517578125,
    152587890625,
    762939453125,
    3814697265625,
    19073486328125,
    95367431640625,
    476837158203125,
    2384185791015625,
    11920928955078125,
    59604644775390625,
    298023223876953125,
    1490116119384765625,
    7450580596923828125,
};

/* 5^power, up to POWER_MAX. */
static wide five(int power)
{
    assert(power >= 0 && power <= POWER_MAX);
    return power < FIVES ? fives[power]
                         : (wide)fives[FIVES - 1] * fives[power - FIVES + 1];
}

/* product / 2^shift, rounded as printf() does: of two the even one. */
static uint64_t shifted(wide product, int shift)
{
    wide half = (wide)1 << (shift - 1);
    wide rest = product & (half - 1 + half);
    uint64_t whole = (uint64_t)(product >> shift);

    return whole + (rest > half || (rest == half && whole % 2 == 1));
}

/* floor(log10(2^exponent)), of the exponents between `least` and `most`. */
static int tens_below(int exponent)
{
    enum { LOG10_2 = 30103, SCALE = 100000, ABOVE_ZERO = 20 };

    return (exponent * LOG10_2 + ABOVE_ZERO * SCALE) / SCALE - ABOVE_ZERO;
}

bool exact_digits(double value, int count, uint64_t *digits, int *point)
{
    uint64_t bits, mantissa;
    uint64_t too_many = (uint64_t)(five(count) << count);
    int exponent, power;

    assert(count >= 1 && count <= DIGITS_MOST);
    *digits = 0;
    *point = 0;
    if (!(value >= least && value < most))
        return value == 0;
    memcpy(&bits, &value, sizeof bits);
    mantissa = (bits & ((1ull << (MANTISSA_BITS - 1)) - 1))
               | 1ull << (MANTISSA_BITS - 1);
    exponent = (int)(bits >> (MANTISSA_BITS - 1)) - (1022 + MANTISSA_BITS);
    *point = tens_below(exponent + MANTISSA_BITS - 1) + 1;
    /* the value can have a digit more than its power of two has */
    for (power = count - *point; power >= 0; power--, ++*point) {
        *digits = shifted(mantissa * five(power), -exponent - power);
        if (*digits < too_many)
            return true;
    }
    return false;
}

bool exact_double(uint64_t digits, int exponent, double *value)
{
    enum { QUOTIENT_BITS = 63 };
    int shift;
    wide product, quotient;

    assert(digits > 0);
    if (exponent <= -FIVES || exponent >= FIVES)
        return false;
    if (exponent >= 0) {
        *value = ldexp((double)(digits * five(exponent)), exponent);
        return true;
    }
    /* the quotient has 63 bits at least, the last of them set where it goes on */
    shift = __builtin_clzll(digits) + QUOTIENT_BITS;
    product = (wide)digits << shift;
    quotient = product / five(-exponent);
    quotient |= quotient * five(-exponent) != product;
    *value = ldexp((double)quotient, exponent - shift);
    return true;
}
