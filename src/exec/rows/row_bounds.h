/* SPDX-License-Identifier: MIT */
/*
 * The least and the greatest value of a column of rows.
 */
#ifndef VDBQ_EXEC_ROW_BOUNDS_H
#define VDBQ_EXEC_ROW_BOUNDS_H

#include "exec/rows/row_set.h"

struct row_bounds {
    int64_t low, high; /* low > high: there is no value */
};

/* The bounds of the first `rows` values of a column, which are integers to the
 * machine; NULLs are passed over. So many threads look at most. */
struct row_bounds row_bounds(const struct row_set_column *column, uint64_t rows,
                             unsigned threads);

#endif
