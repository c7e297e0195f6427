/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are folded into one, from a partition's first row to its last: the
 * product of DOUBLEs. NULLs do not count; without a value the result is NULL.
 */
#include "exec/window/window_inner.h"

#include <assert.h>

#include "base/threads/stop.h"

struct partition_value window_fold(const struct window *window,
                                   const struct row_set_column *values,
                                   uint32_t begin, uint32_t end)
{
    bool null = true;
    double product = 1;

    assert(values->width == sizeof(double));
    for (uint32_t at = begin; at < end && !stop_at(at); at++) {
        uint32_t row = window->order[at];
        if (row_set_is_null(values, row))
            continue;
        null = false;
        product *= ((const double *)values->values)[row];
    }
    return null ? (struct partition_value){ .null = true }
                : partition_real(product);
}
