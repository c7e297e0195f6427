/* SPDX-License-Identifier: MIT */
/*
 * The order of values, written once for host and kernels. An order is a signed
 * integer: of integers it is the value, floats become integers that compare as
 * they do, with 0.0 and -0.0 equal and every NaN above all numbers. A code is
 * an unsigned number of the same order.
 */
#ifndef VDBQ_CL_ORDER_H
#define VDBQ_CL_ORDER_H

#include "bits.h"

/* A float's bits as an integer in the same order, and back: -0.0 comes just
 * before 0.0, NaNs beyond the infinities. */
static inline i32 order_flip_32(i32 bits)
{
    return bits ^ (i32)((u32)(bits >> 31) >> 1);
}

static inline i64 order_flip_64(i64 bits)
{
    return bits ^ (i64)((u64)(bits >> 63) >> 1);
}

#define ORDER_NAN_F32 0x7fffffff
#define ORDER_NAN_F64 0x7fffffffffffffffL

/* Adding 0.0 makes -0.0 a 0.0. NaN is asked of the sum: asked of the value,
 * loops over many are not made vectors of by gcc (ten times slower). */
static inline i32 order_f32(f32 value)
{
    f32 sum = value + 0.0f;
    i32 order = order_flip_32((i32)bits_of_f32(sum));
    return sum != sum ? ORDER_NAN_F32 : order;
}

static inline i64 order_f64(f64 value)
{
    f64 sum = value + 0.0;
    i64 order = order_flip_64((i64)bits_of_f64(sum));
    return sum != sum ? ORDER_NAN_F64 : order;
}

/* The way back; a NaN's is one NaN. */
static inline f32 order_to_f32(i32 order)
{
    u32 bits = order == ORDER_NAN_F32 ? 0x7fc00000u : (u32)order_flip_32(order);
    return f32_of_bits(bits);
}

static inline f64 order_to_f64(i64 order)
{
    u64 bits = order == ORDER_NAN_F64 ? 0x7ff8000000000000UL
                                      : (u64)order_flip_64(order);
    return f64_of_bits(bits);
}

/* Between an order and its code. */
static inline u64 order_code(i64 order)
{
    return (u64)order ^ 0x8000000000000000UL;
}

static inline i64 order_of_code(u64 code)
{
    return (i64)(code ^ 0x8000000000000000UL);
}

/* The code of a value of a type of the machine: an integer, or a float's
 * bits (of F32 the lower 32). */
static inline u64 value_code(u32 type, u64 value)
{
    if (type == TYPE_F64)
        return order_code(order_f64(f64_of_bits(value)));
    if (type == TYPE_F32)
        return order_code(order_f32(f32_of_bits((u32)value)));
    return order_code((i64)value);
}

/* The value of a code, as value_code() takes it; a NaN's is one NaN. */
static inline u64 code_value(u32 type, u64 code)
{
    i64 order = order_of_code(code);
    if (type == TYPE_F64)
        return bits_of_f64(order_to_f64(order));
    if (type == TYPE_F32)
        return bits_of_f32(order_to_f32((i32)order));
    return (u64)order;
}

#endif
