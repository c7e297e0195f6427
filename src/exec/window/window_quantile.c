/* SPDX-License-Identifier: MIT */
/*
 * What a partition has one value of, written to all of its rows, or to the row that
 * is given of it (window_firsts.c). Quantiles are values at places among those that
 * are not NULL, which come first in the order; folds are in window_fold.c.
 */
#include "exec/window/window_inner.h"

#include <assert.h>
#include <math.h>

#include "base/threads/stop.h"
#include "exec/window/window_firsts.h"

struct quantiles {
    const struct window *window;
    const struct step_window_function *function;
    const struct row_set_column *values;
    struct row_set_column *result;
    bool nulls[PARALLEL_THREADS_MAX]; /* of each share: it has written one */
};

/* How many of the rows [begin, end) in the order have a value. */
static uint32_t count_values(const struct quantiles *all, uint32_t begin,
                             uint32_t end)
{
    uint32_t low = begin, high = end;

    assert(begin < end);
    if (all->values->nulls == NULL)
        return end - begin;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (row_set_is_null(all->values, all->window->order[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low - begin;
}

/* The share of values that are not behind the one that is asked for. */
static double share_of(const struct step_window_function *function)
{
    double share;
    memcpy(&share, &function->offset, sizeof share);
    assert(share >= 0 && share <= 1);
    return share;
}

uint64_t window_quantile_place(const struct step_window_function *function,
                               double n)
{
    double share = share_of(function), before = (n - 1) * share, place;

    if (function->function == WINDOW_QUANTILE_BELOW)
        return (uint64_t)floor(before);
    if (function->function == WINDOW_QUANTILE_ABOVE)
        return (uint64_t)ceil(before);
    assert(function->function == WINDOW_QUANTILE_VALUE);
    place = n - floor(n - share * n);
    return place < 1 ? 0 : (uint64_t)place - 1;
}

double window_quantile_part(const struct step_window_function *function,
                            double n)
{
    double before = (n - 1) * share_of(function);
    return before - floor(before);
}

static struct partition_value quantile_of(const struct quantiles *all,
                                          uint32_t begin, uint32_t end)
{
    uint32_t count = count_values(all, begin, end), place;

    if (count == 0)
        return (struct partition_value){ .null = true };
    if (all->function->function == WINDOW_QUANTILE_PART)
        return partition_real(
            window_quantile_part(all->function, (double)count));
    place = (uint32_t)window_quantile_place(all->function, (double)count);
    assert(place < count);
    return (struct partition_value){ .source =
                                         all->window->order[begin + place] };
}

static struct partition_value value_of(const struct quantiles *all,
                                       uint32_t begin, uint32_t end)
{
    return window_is_fold(all->function->function)
               ? window_fold(all->window, all->values, begin, end)
               : quantile_of(all, begin, end);
}

/* Writes it to a row of the result; whether it is NULL. */
static bool write_one(const struct quantiles *all,
                      const struct partition_value *value, uint32_t row)
{
    struct row_set_column *result = all->result;

    if (value->null)
        result->nulls[row] = 1;
    else if (value->computed)
        ((uint64_t *)result->values)[row] = value->bits;
    else
        window_copy(all->values, value->source, result, row);
    return value->null;
}

/* One thread's share: rows in their order, partition by partition. */
static void write_rows(void *context, unsigned share)
{
    struct quantiles *all = context;
    const struct window *window = all->window;
    uint32_t at = window_share(window, share);
    uint32_t stop = window_share(window, share + 1);
    uint64_t since = 0;

    while (at < stop) {
        uint32_t first = window_begin(window, at, SORT_PARTITION);
        uint32_t end = window_end(window, at, SORT_PARTITION);
        uint32_t behind = end < stop ? end : stop;
        struct partition_value value = value_of(all, first, end);
        if (stop_after(&since, 1 + behind - first))
            return;
        for (; at < behind && !stop_at(at); at++)
            all->nulls[share] |= write_one(all, &value, window->order[at]);
        at = behind;
    }
}

/* One thread's share: partitions, in the order of their first rows. */
static void write_firsts(void *context, unsigned share)
{
    struct quantiles *all = context;
    const struct window_firsts *firsts = all->window->firsts;
    uint64_t count = firsts->count, threads = all->window->threads;
    uint32_t end = (uint32_t)(count * (share + 1) / threads);

    for (uint32_t i = (uint32_t)(count * share / threads);
         i < end && !stop_at(i); i++) {
        uint32_t partition = firsts->partitions[i];
        struct partition_value value = value_of(all, firsts->begins[partition],
                                                firsts->begins[partition + 1]);
        all->nulls[share] |= write_one(all, &value, i);
    }
}

void window_partition_values(struct window *window,
                             const struct step_window_function *function,
                             struct row_set_column *result)
{
    struct quantiles all = {
        .window = window,
        .function = function,
        .values = &window->rows->columns[function->aggregate.column],
        .result = result
    };

    parallel_run(window->threads,
                 window->firsts != NULL ? write_firsts : write_rows, &all);
    for (unsigned i = 0; i < window->threads; i++)
        window->any_nulls |= all.nulls[i];
}
