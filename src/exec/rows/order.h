/* SPDX-License-Identifier: MIT */
/*
 * The order of values as that of signed integers: floats become integers that
 * compare as they do. 0.0 and -0.0 are equal, a NaN is above all numbers.
 */
#ifndef VDBQ_EXEC_ORDER_H
#define VDBQ_EXEC_ORDER_H

#include <stdint.h>
#include <string.h>

#include "cl/types.h"

static inline int32_t order_f32(float value)
{
    int32_t bits;
    value += 0.0f;
    memcpy(&bits, &value, sizeof bits);
    bits ^= (int32_t)((uint32_t)(bits >> 31) >> 1);
    return value != value ? INT32_MAX : bits;
}

static inline int64_t order_f64(double value)
{
    int64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    bits ^= (int64_t)((uint64_t)(bits >> 63) >> 1);
    return value != value ? INT64_MAX : bits;
}

/* The way back; a NaN's is a NaN. */
static inline float order_to_f32(int32_t order)
{
    float value;
    order ^= (int32_t)((uint32_t)(order >> 31) >> 1);
    memcpy(&value, &order, sizeof value);
    return value;
}

static inline double order_to_f64(int64_t order)
{
    double value;
    order ^= (int64_t)((uint64_t)(order >> 63) >> 1);
    memcpy(&value, &order, sizeof value);
    return value;
}

/* A value of a column of machine type TYPE_... as an unsigned number of the
 * same order. */
static inline uint64_t order_code(int type, const void *values, uint64_t row)
{
    int64_t order;
    if (type == TYPE_I64)
        order = ((const int64_t *)values)[row];
    else if (type == TYPE_F64)
        order = order_f64(((const double *)values)[row]);
    else if (type == TYPE_F32)
        order = order_f32(((const float *)values)[row]);
    else
        order = ((const int32_t *)values)[row];
    return (uint64_t)order ^ (UINT64_C(1) << 63);
}

#endif
