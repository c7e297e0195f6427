/* SPDX-License-Identifier: MIT */
/*
 * The double that is nearest to the quotient of an integer of 128 bits and a
 * product of two: what exec/rows/quotient.h computes on the host, whose integers
 * are as wide. A bit at a time, where doubles do not hold the numbers themselves.
 */
#ifndef VDBQ_CL_QUOTIENT_H
#define VDBQ_CL_QUOTIENT_H

#include "../bits.h"

/* Integers up to here are doubles. */
#define QUOTIENT_EXACT (1UL << 53)

/* An integer of 128 bits, without a sign. */
struct wide {
    u64 low, high;
};

static inline struct wide wide_doubled(struct wide x)
{
    x.high = x.high << 1 | x.low >> 63;
    x.low <<= 1;
    return x;
}

static inline u32 wide_is_less(struct wide x, struct wide y)
{
    return x.high < y.high || (x.high == y.high && x.low < y.low);
}

static inline struct wide wide_minus(struct wide x, struct wide y)
{
    u64 low = x.low - y.low;
    x.high = x.high - y.high - (x.low < y.low);
    x.low = low;
    return x;
}

static inline struct wide wide_product(u64 x, u64 y)
{
    u64 x0 = (u32)x, x1 = x >> 32, y0 = (u32)y, y1 = y >> 32;
    u64 middle = x1 * y0 + (x0 * y0 >> 32);
    u64 other = x0 * y1 + (u32)middle;
    struct wide product;
    product.low = x * y;
    product.high = x1 * y1 + (middle >> 32) + (other >> 32);
    return product;
}

/* Doubles a number that is not 0 until it has 127 bits; how often. */
static inline i32 wide_grow(struct wide *x)
{
    i32 times = 0;
    while (x->high >> 62 == 0) {
        *x = wide_doubled(*x);
        times++;
    }
    return times;
}

/* Of numbers above 0 and below 2^127. Both are brought to one length, so that the
 * quotient is between 1/2 and 2: of its bits 64 are made, and whether anything is
 * left is one more, which tells ties from what is beside them. */
static inline f64 wide_quotient(struct wide size, struct wide divisor)
{
    i32 exponent = wide_grow(&divisor);
    u64 whole = 0;
    exponent -= wide_grow(&size);
    for (u32 i = 0; i < 64; i++) {
        whole <<= 1;
        if (!wide_is_less(size, divisor)) {
            size = wide_minus(size, divisor);
            whole |= 1;
        }
        size = wide_doubled(size);
    }
    whole |= (size.low | size.high) != 0;
    return (f64)whole * f64_of_bits((u64)(exponent - 63 + 1023) << 52);
}

/* Of a sum with a sign, of which the upper half is given apart, and x * y, which
 * is above 0 and below 2^127, as the sum's size is. */
static inline f64 quotient_of_sum(u64 low, u64 high, u64 x, u64 y)
{
    struct wide size, divisor = wide_product(x, y), zero;
    f64 value;
    u32 below = high >> 63 != 0;
    zero.low = zero.high = 0;
    size.low = low;
    size.high = high;
    if (below)
        size = wide_minus(zero, size);
    if (size.low == 0 && size.high == 0)
        return 0;
    if (size.high == 0 && size.low <= QUOTIENT_EXACT && divisor.high == 0 &&
        divisor.low <= QUOTIENT_EXACT)
        value = (f64)size.low / (f64)divisor.low;
    else
        value = wide_quotient(size, divisor);
    return below ? -value : value;
}

#endif
