/* SPDX-License-Identifier: MIT */
/*
 * Codes (cl/order.h) of the values of a column of machine type TYPE_...
 */
#ifndef VDBQ_EXEC_ORDER_H
#define VDBQ_EXEC_ORDER_H

#include <assert.h>

#include "cl/order.h"

static inline uint64_t order_at(int type, const void *values, uint64_t row)
{
    if (type == TYPE_I64)
        return order_code(((const int64_t *)values)[row]);
    if (type == TYPE_F64)
        return order_code(order_f64(((const double *)values)[row]));
    if (type == TYPE_F32)
        return order_code(order_f32(((const float *)values)[row]));
    assert(type == TYPE_I32);
    return order_code(((const int32_t *)values)[row]);
}

/* Writes the value of a code. */
static inline void order_put(int type, uint64_t code, void *values,
                             uint64_t row)
{
    int64_t order = order_of_code(code);
    if (type == TYPE_I64)
        ((int64_t *)values)[row] = order;
    else if (type == TYPE_F64)
        ((double *)values)[row] = order_to_f64(order);
    else if (type == TYPE_F32)
        ((float *)values)[row] = order_to_f32((int32_t)order);
    else
        ((int32_t *)values)[row] = (int32_t)order;
}

#endif
