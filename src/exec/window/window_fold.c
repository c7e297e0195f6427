/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are folded into one, from a partition's first row to its last: bits
 * of whole numbers, the product of DOUBLEs. NULLs do not count; without a value the
 * result is NULL.
 */
#include "exec/window/window_inner.h"

#include <assert.h>

#include "base/threads/stop.h"

/* What the fold of no value is, which changes none. */
static uint64_t fold_begin(enum window_function function)
{
    return function == WINDOW_BIT_AND ? UINT64_MAX : 0;
}

static uint64_t fold_bits(enum window_function function, uint64_t so_far,
                          uint64_t value)
{
    switch (function) {
    case WINDOW_BIT_AND:
        return so_far & value;
    case WINDOW_BIT_OR:
        return so_far | value;
    default:
        assert(function == WINDOW_BIT_XOR);
        return so_far ^ value;
    }
}

struct partition_value window_fold(const struct window *window,
                                   enum window_function function,
                                   const struct row_set_column *values,
                                   uint32_t begin, uint32_t end)
{
    struct partition_value made = { .null = true,
                                    .computed = true,
                                    .bits = fold_begin(function) };
    double product = 1;

    assert(values->width == sizeof(uint64_t));
    for (uint32_t at = begin; at < end && !stop_at(at); at++) {
        uint32_t row = window->order[at];
        if (row_set_is_null(values, row))
            continue;
        made.null = false;
        if (function == WINDOW_PRODUCT)
            product *= ((const double *)values->values)[row];
        else
            made.bits = fold_bits(function, made.bits,
                                  ((const uint64_t *)values->values)[row]);
    }
    return function == WINDOW_PRODUCT && !made.null ? partition_real(product)
                                                    : made;
}
