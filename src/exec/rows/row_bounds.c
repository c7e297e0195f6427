/* SPDX-License-Identifier: MIT */
/*
 * Bounds of columns: see row_bounds.h. Loops run over many values without a way
 * out in between.
 */
#include "exec/rows/row_bounds.h"

#include <assert.h>

#include "base/threads/parallel.h"

PARALLEL_CLONES
static void bounds_i32(const int32_t *values, uint64_t rows,
                       struct row_bounds *to)
{
    int32_t low = values[0], high = values[0];
    for (uint64_t i = 1; i < rows; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    *to = (struct row_bounds){ low, high };
}

PARALLEL_CLONES
static void bounds_i64(const int64_t *values, uint64_t rows,
                       struct row_bounds *to)
{
    int64_t low = values[0], high = values[0];
    for (uint64_t i = 1; i < rows; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    *to = (struct row_bounds){ low, high };
}

/* As bounds_i32(), of a column where a value may be NULL. */
static void bounds_nulls(const struct row_set_column *column, uint64_t first,
                         uint64_t end, struct row_bounds *to)
{
    *to = (struct row_bounds){ INT64_MAX, INT64_MIN };
    for (uint64_t i = first; i < end; i++) {
        int64_t value = row_set_integer(column, i);
        if (column->nulls[i] != 0)
            continue;
        to->low = value < to->low ? value : to->low;
        to->high = value > to->high ? value : to->high;
    }
}

struct bounding {
    const struct row_set_column *column; /* whose bounds are asked for */
    uint64_t rows;                       /* of the column */
    unsigned threads;                    /* that share the rows */
    struct row_bounds bounds[PARALLEL_THREADS_MAX]; /* one a thread */
};

/* One thread's share of the rows. */
static void bound_share(void *context, unsigned share)
{
    assert(share < ((const struct bounding *)context)->threads);
    struct bounding *all = context;
    const struct row_set_column *column = all->column;
    uint64_t first = all->rows * share / all->threads;
    uint64_t end = all->rows * (share + 1) / all->threads;
    struct row_bounds *to = &all->bounds[share];
    if (column->nulls != NULL || first == end)
        bounds_nulls(column, first, end, to);
    else if (column->width == sizeof(int32_t))
        bounds_i32((const int32_t *)column->values + first, end - first, to);
    else
        bounds_i64((const int64_t *)column->values + first, end - first, to);
}

struct row_bounds row_bounds(const struct row_set_column *column, uint64_t rows,
                             unsigned threads)
{
    struct bounding all = { .column = column,
                            .rows = rows,
                            .threads = parallel_threads(threads, rows) };
    struct row_bounds bounds = { INT64_MAX, INT64_MIN };
    assert(column->type != VDBQ_FLOAT && column->type != VDBQ_DOUBLE);
    assert(all.threads > 0 && all.threads <= PARALLEL_THREADS_MAX);
    parallel_run(all.threads, bound_share, &all);
    for (unsigned i = 0; i < all.threads; i++) {
        const struct row_bounds *part = &all.bounds[i];
        bounds.low = part->low < bounds.low ? part->low : bounds.low;
        bounds.high = part->high > bounds.high ? part->high : bounds.high;
    }
    return bounds;
}
