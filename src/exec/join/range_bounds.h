/* SPDX-License-Identifier: MIT */
/*
 * The bounds of a range join, row by row: order codes of their values, all
 * included.
 */
#ifndef VDBQ_EXEC_RANGE_BOUNDS_H
#define VDBQ_EXEC_RANGE_BOUNDS_H

#include "exec/rows/order.h"
#include "exec/rows/row_set.h"
#include "exec/sort/sort.h"

/* Where the bounds of rows are. */
struct range_bounds {
    const struct row_set_column *low, *high; /* NULL: no bound */
    int low_type, high_type;
    bool low_open, high_open;
};

/* The order code of a value: codes compare as the values do. */
static inline int64_t range_code_at(const struct row_set_column *column,
                                    int type, uint64_t row)
{
    return order_of_code(order_at(type, column->values, row));
}

/* Moves a lower bound that is left out to the next code inside; false: there is
 * none. */
static inline bool range_close_low(int64_t *code, bool open)
{
    if (open && *code == INT64_MAX)
        return false;
    *code += open;
    return true;
}

/* Turns an open upper bound into a closed one. */
static inline bool range_close_high(int64_t *code, bool open)
{
    if (open && *code == INT64_MIN)
        return false;
    *code -= open;
    return true;
}

/* Which columns give the bounds; a side without one is unbounded. */
static inline struct range_bounds
range_bounds_of(const struct step_range_join *range, const struct row_set *rows)
{
    struct range_bounds bounds = { .low_open = range->low_open,
                                   .high_open = range->high_open };
    if (range->low >= 0) {
        bounds.low = &rows->columns[range->low];
        bounds.low_type = sort_type(bounds.low->type);
    }
    if (range->high >= 0) {
        bounds.high = &rows->columns[range->high];
        bounds.high_type = sort_type(bounds.high->type);
    }
    return bounds;
}

/* The bounds of a row; false: nothing is between them. */
static inline bool range_bounds_at(const struct range_bounds *bounds,
                                   uint64_t row, int64_t *low, int64_t *high)
{
    *low = INT64_MIN;
    *high = INT64_MAX;
    if (bounds->low != NULL) {
        *low = range_code_at(bounds->low, bounds->low_type, row);
        if (row_set_is_null(bounds->low, row)
            || !range_close_low(low, bounds->low_open))
            return false;
    }
    if (bounds->high != NULL) {
        *high = range_code_at(bounds->high, bounds->high_type, row);
        if (row_set_is_null(bounds->high, row)
            || !range_close_high(high, bounds->high_open))
            return false;
    }
    return *low <= *high;
}

#endif
