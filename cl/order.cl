/* SPDX-License-Identifier: MIT */
/*
 * Values as unsigned numbers of the same order, as kernels make them; the
 * host's text is src/exec/rows/order.h, which says what they are.
 */

#include "types.h"

static u64 order_of_i64(i64 value)
{
    return (u64)value ^ 0x8000000000000000UL;
}

static u64 order_of_f32(f32 value)
{
    i32 bits = as_int(value + 0.0f);
    bits ^= (i32)((u32)(bits >> 31) >> 1);
    return order_of_i64((i64)(isnan(value) ? 0x7fffffff : bits));
}

static u64 order_of_f64(f64 value)
{
    i64 bits = as_long(value + 0.0);
    bits ^= (i64)((u64)(bits >> 63) >> 1);
    return order_of_i64(isnan(value) ? 0x7fffffffffffffffL : bits);
}
