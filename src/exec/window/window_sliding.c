/* SPDX-License-Identifier: MIT */
/*
 * Frames that slide: see window_sliding.h.
 */
#include "exec/window/window_sliding.h"

#include <assert.h>

#include "cl/types.h"
#include "exec/aggregate/aggregate_state.h"

bool window_can_slide(const struct aggregate *aggregate)
{
    return aggregate->kind == AGGREGATE_ROWS
           || aggregate->kind == AGGREGATE_NARROW
           || aggregate->kind == AGGREGATE_WIDE
           || aggregate->kind == AGGREGATE_REAL;
}

/* -------------------------------------------------------------- values -- */

/* Whether a row is not passed over. */
static bool counts(const struct aggregate_rows *rows, uint32_t row)
{
    const struct vdbq_vector *argument = rows->argument, *filter = rows->filter;

    if (argument != NULL && argument->nulls != NULL && argument->nulls[row])
        return false;
    return filter == NULL
           || (((const int32_t *)filter->values)[row] != 0
               && (filter->nulls == NULL || !filter->nulls[row]));
}

static double real_at(const struct aggregate *aggregate,
                      const struct aggregate_rows *rows, uint32_t row)
{
    const void *values = rows->argument->values;

    return aggregate->type == TYPE_F64 ? ((const double *)values)[row]
                                       : (double)((const float *)values)[row];
}

/* ---------------------------------------------------------------- sums -- */

/* Adds a value: one that needs higher units is the first of their peaks. */
static void add_real(struct sum *sum, double value, uint64_t *peaks)
{
    uint64_t bits = bits_of_f64(value);
    bool is_number = sum_special(bits) == 0;

    if (is_number && sum_top(bits) > sum->top)
        *peaks = 0;
    *peaks += is_number && sum_top(bits) >= sum->top;
    sum_add(sum, value);
}

/* Takes a value away; false: the sum's units are too high for those left, or its
 * marks of what is no number may be wrong. */
static bool drop_real(struct sum *sum, double value, uint64_t *peaks)
{
    uint64_t bits = bits_of_f64(value), digits[3];

    if (sum_special(bits) != 0)
        return false;
    assert(sum_top(bits) <= sum->top);
    *peaks -= sum_top(bits) == sum->top;
    sum_digits(value * sum_scale(sum->top), digits);
    for (unsigned k = 0; k < 3; k++)
        sum->limbs[k] -= (int64_t)digits[k];
    return *peaks > 0 || sum->top == 0;
}

/* Adds a BIGINT, or takes it away: of 128 bits, where the least one has an
 * opposite. */
static void change_wide(struct wide_state *state, int64_t value, bool drop)
{
    i128 change = drop ? -(i128)value : (i128)value;

    wide_merge(state, (uint64_t)change, (int64_t)(change >> 64));
}

/* -------------------------------------------------------------- frames -- */

/* Adds a row to the record, or takes it away; false: as drop_real(). */
static bool change_row(const struct aggregate *aggregate,
                       const struct aggregate_rows *rows,
                       struct window_sliding *sliding, uint32_t row, bool drop)
{
    uint8_t *record = (uint8_t *)sliding->record;
    void *state = record + aggregate->at;
    struct narrow_state *narrow = state;
    struct sum *sum = &((struct real_state *)state)->sum;

    if (!counts(rows, row)) {
        aggregate_skip(aggregate, record, drop ? UINT64_MAX : 1);
        return true;
    }
    if (aggregate->kind == AGGREGATE_NARROW) {
        int64_t value = ((const int32_t *)rows->argument->values)[row];
        narrow->sum += drop ? -value : value;
        narrow_carry(narrow);
    } else if (aggregate->kind == AGGREGATE_WIDE) {
        change_wide(state, ((const int64_t *)rows->argument->values)[row],
                    drop);
    } else if (aggregate->kind == AGGREGATE_REAL && drop) {
        return drop_real(sum, real_at(aggregate, rows, row), &sliding->peaks);
    } else if (aggregate->kind == AGGREGATE_REAL) {
        add_real(sum, real_at(aggregate, rows, row), &sliding->peaks);
    }
    return true;
}

bool window_slide(const struct aggregate *aggregate,
                  const struct aggregate_rows *rows,
                  struct window_sliding *sliding, uint32_t begin, uint32_t end)
{
    bool usable = true;
    unsigned changes = 0;

    assert(begin <= end);
    if (!sliding->slides || begin < sliding->begin || end < sliding->end
        || begin > sliding->end)
        return false;
    for (; sliding->end < end; sliding->end++) {
        change_row(aggregate, rows, sliding, sliding->end, false);
        if (++changes % SUM_DIGITS_MAX == 0)
            aggregate_carry(aggregate, (uint8_t *)sliding->record);
    }
    for (; usable && sliding->begin < begin; sliding->begin++)
        usable = change_row(aggregate, rows, sliding, sliding->begin, true);
    aggregate_carry(aggregate, (uint8_t *)sliding->record);
    return usable;
}

void window_slides_from(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows,
                        struct window_sliding *sliding)
{
    const struct real_state *state =
        (const void *)((uint8_t *)sliding->record + aggregate->at);
    uint32_t row = sliding->begin;

    sliding->slides = true;
    sliding->peaks = 0;
    if (aggregate->kind != AGGREGATE_REAL || state->sum.top == 0)
        return;
    for (; row < sliding->end; row++)
        if (counts(rows, row)) {
            uint64_t bits = bits_of_f64(real_at(aggregate, rows, row));
            sliding->peaks +=
                sum_special(bits) == 0 && sum_top(bits) == state->sum.top;
        }
}
