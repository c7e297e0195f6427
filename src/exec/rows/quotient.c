/* SPDX-License-Identifier: MIT */
/*
 * Quotients that are rounded once: see quotient.h.
 */
#include "exec/rows/quotient.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

/* Integers up to here are doubles. */
#define EXACT_MAX ((u128)1 << 53)

/* Zero bits above the highest one of a number that is not 0. */
static int zeros_above(u128 number)
{
    uint64_t high = (uint64_t)(number >> 64);
    assert(number != 0);
    return high != 0 ? __builtin_clzll(high)
                     : 64 + __builtin_clzll((uint64_t)number);
}

/* Long division, as many bits at a time as there is room for, until the
 * quotient has 64 bits: those of a double and more. Whether anything is left
 * is one more bit, which tells ties from what is beside them. */
static double divide_long(u128 dividend, u128 divisor)
{
    u128 whole = dividend / divisor, left = dividend % divisor;
    int exponent = 0, room = zeros_above(divisor);

    assert(dividend > 0 && room > 0);
    while (whole >> 63 == 0) {
        int shift = whole == 0 ? 64 : zeros_above(whole) - 64;
        if (shift > room)
            shift = room;
        left <<= shift;
        whole = whole << shift | left / divisor;
        left %= divisor;
        exponent -= shift;
    }
    return ldexp((double)(whole | (left != 0)), exponent);
}

double quotient(i128 dividend, u128 divisor)
{
    u128 size = dividend < 0 ? -(u128)dividend : (u128)dividend;
    double value;

    assert(divisor > 0 && divisor >> 127 == 0);
    if (size == 0)
        return 0;
    if (size <= EXACT_MAX && divisor <= EXACT_MAX)
        value = (double)size / (double)divisor;
    else
        value = divide_long(size, divisor);
    return dividend < 0 ? -value : value;
}
