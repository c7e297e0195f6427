/* SPDX-License-Identifier: MIT */
/*
 * Columns of build rows, each in parts by several threads.
 */
#include "exec/build_side/build_facts.h"

#include <assert.h>
#include <math.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "program/interval.h"

struct scanning {
    struct row_set_column *column;         /* values are translated in place */
    const struct order_codes *order_codes; /* NULL: none */
    uint64_t rows;                         /* of the column */
    unsigned threads;                      /* that share the rows */
    struct input_range found[PARALLEL_THREADS_MAX]; /* one a thread */
};

/* Rows [first, end). */
struct rows_part {
    uint64_t first, end; /* row, and the one behind the last */
};

/* Numbers of words for codes. */
static void translate(const struct scanning *scanning, struct rows_part part)
{
    i32 *values = scanning->column->values;
    const struct order_codes *order_codes = scanning->order_codes;
    for (uint64_t i = part.first; i < part.end && !stop_at(i); i++)
        values[i] = (u32)values[i] < order_codes->count
                        ? order_codes->order_codes[(u32)values[i]]
                        : 0;
}

/* Puts 0 where a NULL is; whether there is one, and something else. */
static void clear_nulls(const struct scanning *scanning, struct rows_part part,
                        struct input_range *found)
{
    const struct row_set_column *column = scanning->column;
    uint64_t count = 0;
    for (uint64_t i = part.first; column->nulls != NULL && i < part.end; i++) {
        if (column->nulls[i] == 0)
            continue;
        count++;
        if (column->width == sizeof(i32))
            ((i32 *)column->values)[i] = 0;
        else
            ((i64 *)column->values)[i] = 0;
    }
    found->null = count > 0;
    found->not_null = count < part.end - part.first;
}

/* The least and the greatest of a type; with NULLs among them, which are 0
 * now, they are passed over. */
#define EXTREMES(T)                                                            \
    static void extremes_##T(const struct row_set_column *column,              \
                             struct rows_part part, struct input_range *found) \
    {                                                                          \
        const T *values = column->values;                                      \
        const uint8_t *nulls = found->null ? column->nulls : NULL;             \
        uint64_t i = part.first;                                               \
        while (nulls != NULL && nulls[i] != 0)                                 \
            i++;                                                               \
        T low = values[i], high = low;                                         \
        for (; i < part.end; i++) {                                            \
            if (nulls != NULL && nulls[i] != 0)                                \
                continue;                                                      \
            low = values[i] < low ? values[i] : low;                           \
            high = values[i] > high ? values[i] : high;                        \
        }                                                                      \
        found->value.low = low;                                                \
        found->value.high = high;                                              \
    }

EXTREMES(i32)
EXTREMES(i64)

/* Floats: any, with one that is no number. */
static void reals(const struct row_set_column *column, struct rows_part part,
                  struct input_range *found)
{
    struct interval *value = &found->value;
    value->low_real = INFINITY;
    value->high_real = -INFINITY;
    for (uint64_t i = part.first; i < part.end; i++) {
        double real = row_set_real(column, i);
        if (row_set_is_null(column, i))
            continue;
        value->nan |= isnan(real);
        value->low_real = real < value->low_real ? real : value->low_real;
        value->high_real = real > value->high_real ? real : value->high_real;
    }
    if (value->low_real > value->high_real)
        value->low_real = value->high_real = 0;
}

/* One thread's share: translates the values, then finds their bounds. */
static void scan_part(void *context, unsigned i)
{
    struct scanning *scanning = context;
    assert(i < scanning->threads);
    const struct row_set_column *column = scanning->column;
    struct input_range *found = &scanning->found[i];
    struct rows_part part = { .first = scanning->rows / scanning->threads * i,
                              .end = i + 1 < scanning->threads
                                         ? scanning->rows / scanning->threads
                                               * (i + 1)
                                         : scanning->rows };
    if (scanning->order_codes != NULL)
        translate(scanning, part);
    clear_nulls(scanning, part, found);
    if (!found->not_null)
        return;
    if (column->type == VDBQ_FLOAT || column->type == VDBQ_DOUBLE)
        reals(column, part, found);
    else if (column->width == sizeof(i32))
        extremes_i32(column, part, found);
    else
        extremes_i64(column, part, found);
}

struct input_range build_facts(struct row_set_column *column, uint64_t rows,
                               const struct order_codes *order_codes,
                               unsigned threads)
{
    struct scanning scanning = {
        .column = column,
        .order_codes = order_codes != NULL && order_codes->order_codes != NULL
                           ? order_codes
                           : NULL,
        .rows = rows,
        .threads = parallel_threads(threads, rows)
    };
    struct input_range all = { 0 };
    assert(scanning.threads > 0 && scanning.threads <= PARALLEL_THREADS_MAX);
    parallel_run(scanning.threads, scan_part, &scanning);
    for (unsigned i = 0; i < scanning.threads; i++) {
        const struct input_range *part = &scanning.found[i];
        if (part->not_null)
            all.value = all.not_null ? interval_join(&all.value, &part->value)
                                     : part->value;
        all.not_null |= part->not_null;
        all.null |= part->null;
    }
    return all;
}
