/* SPDX-License-Identifier: MIT */
/*
 * Functions of windows as a device has them: see device_window_inner.h.
 */
#include "exec/window/device_window_inner.h"

#include <assert.h>

#include "base/type.h"
#include "cl/tablet.h"
#include "exec/sort/sort.h"
#include "exec/window/window.h"

/* ------------------------------------------------------------------ does -- */

static bool is_real(enum vdbq_type type)
{
    return type == VDBQ_FLOAT || type == VDBQ_DOUBLE;
}

/* Whether frames begin with the first row of the partition. */
static bool begins_partition(const struct step_frame *frame)
{
    return frame->unit == FRAME_DEFAULT || frame->begin.unbounded;
}

static bool does_aggregate(const struct step_window_function *function,
                           const struct step_column *columns)
{
    const struct step_aggregate *step = &function->aggregate;
    const struct aggregate_row *row = aggregate_row(step->function);
    switch (row->keeps) {
    case AGGREGATE_KEEPS_NOTHING:
        return !step->distinct || step->column < 0;
    case AGGREGATE_KEEPS_SUM:
        return !step->distinct && !is_real(columns[step->column].type)
               && row->gives != AGGREGATE_GIVES_REST;
    case AGGREGATE_KEEPS_BEST:
        return begins_partition(&function->frame);
    default:
        return false;
    }
}

static bool does(const struct step_window_function *function,
                 const struct step_column *columns)
{
    if (function->frame.unit == FRAME_DISTANCE || function->frame.known)
        return false;
    switch (function->function) {
    case WINDOW_ROW_NUMBER:
    case WINDOW_RANK:
    case WINDOW_DENSE_RANK:
    case WINDOW_LAG:
    case WINDOW_LEAD:
    case WINDOW_FIRST:
    case WINDOW_LAST:
    case WINDOW_NTH:
        return true;
    case WINDOW_AGGREGATE:
        return does_aggregate(function, columns);
    default:
        return false;
    }
}

/* A window of first rows may give others, too: the group above it takes the first
 * ones. */
bool device_window_does(const struct step_window *step,
                        const struct step_column *columns)
{
    for (size_t i = 0; i < step->functions.count; i++)
        if (!does(vector_at(&step->functions, i), columns))
            return false;
    return true;
}

/* -------------------------------------------------------------- describe -- */

/* Whether a result may be NULL. */
static bool is_nullable(const struct step_window_function *function,
                        const struct device_column *input)
{
    const struct step_aggregate *step = &function->aggregate;
    bool none = function->frame.unit != FRAME_DEFAULT;
    bool null = step->column >= 0 && input[step->column].nullable;
    if (window_ranks(function->function))
        return false;
    if (function->function == WINDOW_LAG || function->function == WINDOW_LEAD)
        return function->fallback < 0 || input[function->fallback].nullable
               || null;
    if (function->function != WINDOW_AGGREGATE)
        return function->function == WINDOW_NTH || none || null;
    return aggregate_row(step->function)->none == AGGREGATE_NULL
           && (none || null || step->filter >= 0);
}

/* Widens what is known of a column's values by those of another. */
static void widen(struct device_column *column,
                  const struct device_column *other)
{
    column->ranged &= other->ranged;
    column->low = other->low < column->low ? other->low : column->low;
    column->high = other->high > column->high ? other->high : column->high;
}

/* Whether a result is one of the argument's values. */
static bool gives_value(const struct step_window_function *function)
{
    return !window_ranks(function->function)
           && (function->function != WINDOW_AGGREGATE
               || aggregate_row(function->aggregate.function)->gives
                      == AGGREGATE_GIVES_VALUE);
}

/* Whether it is a number of rows. */
static bool gives_count(const struct step_window_function *function)
{
    return window_ranks(function->function)
           || (function->function == WINDOW_AGGREGATE
               && function->aggregate.function == AGGREGATE_COUNT);
}

void device_window_describe(const struct step_window *step,
                            const struct step_column *columns,
                            const struct device_column *input, uint64_t rows,
                            unsigned input_count, struct device_column *made)
{
    for (size_t i = 0; i < step->functions.count; i++) {
        const struct step_window_function *function =
            vector_at(&step->functions, i);
        struct device_column *to = &made[i];
        *to = (struct device_column){ .low = 0, .high = (int64_t)rows };
        to->ranged = gives_count(function);
        if (gives_value(function))
            *to = input[function->aggregate.column];
        if (gives_value(function) && function->function != WINDOW_AGGREGATE
            && function->fallback >= 0)
            widen(to, &input[function->fallback]);
        to->type = columns[input_count + i].type;
        to->nullable = is_nullable(function, input);
    }
}

/* ------------------------------------------------------------------ make -- */

struct window_column window_column_of(const struct device_store *store,
                                      int column)
{
    if (column < 0)
        return (struct window_column){ .nulls = WINDOW_NOWHERE };
    assert((unsigned)column < store->column_count);
    const struct device_place *place = &store->places[column];
    return (struct window_column){ .values = place->values,
                                   .nulls = place->nulls,
                                   .type = (u32)sort_type(
                                       store->columns[column].type) };
}

/* Where a frame begins or ends, by a bound that is not the default one. */
static enum window_bound bound_of(enum frame_unit unit,
                                  const struct frame_bound *bound)
{
    if (bound->unbounded)
        return WINDOW_BOUND_PARTITION;
    return unit == FRAME_RANGE ? WINDOW_BOUND_PEERS : WINDOW_BOUND_ROWS;
}

static void make_frame(const struct step_frame *frame, struct window_give *give)
{
    give->begin = WINDOW_BOUND_PARTITION;
    give->end = WINDOW_BOUND_PEERS;
    if (frame->unit == FRAME_DEFAULT)
        return;
    give->begin = bound_of(frame->unit, &frame->begin);
    give->end = bound_of(frame->unit, &frame->end);
    give->begin_offset = frame->begin.offset;
    give->end_offset = frame->end.offset;
}

/* Values of other rows. */
static void make_neighbour(const struct step_window_function *function,
                           struct window_give *give)
{
    int64_t offset = function->offset;
    bool lag = function->function == WINDOW_LAG;
    /* Further away than any row is, and back as well. */
    offset = offset > FRAME_OFFSET_MAX    ? FRAME_OFFSET_MAX
             : offset < -FRAME_OFFSET_MAX ? -FRAME_OFFSET_MAX
                                          : offset;
    give->gives = WINDOW_GIVES_VALUE;
    if (function->function == WINDOW_LAST)
        give->gives = WINDOW_GIVES_LAST;
    else if (function->function == WINDOW_NTH)
        give->offset = offset - 1;
    else if (function->function != WINDOW_FIRST)
        give->offset = lag ? -offset : offset;
    if (lag || function->function == WINDOW_LEAD)
        give->gives = WINDOW_GIVES_MOVED;
}

/* Whether all sums of a column's values fit 64 bits. */
static bool fits_narrow(const struct device_column *column, uint64_t rows)
{
    uint64_t low = column->low < 0 ? -(uint64_t)column->low : 0;
    uint64_t high = column->high > 0 ? (uint64_t)column->high : 0;
    uint64_t most = low > high ? low : high;
    if (sort_type(column->type) == TYPE_I32)
        return true; /* there are fewer than 2^32 */
    return column->ranged && most <= INT64_MAX / (rows + 1);
}

/* Places what is kept, one behind the other. */
static void place_work(struct window_made *made, bool low, bool high, bool seen)
{
    struct window_scan *scan = &made->scan;
    uint64_t at = 0, count = scan->count;
    scan->low = scan->high = scan->seen = WINDOW_NOWHERE;
    if (low)
        scan->low = at;
    at += low ? TABLET_ALIGNED(count * sizeof(u64)) : 0;
    if (high)
        scan->high = at;
    at += high ? TABLET_ALIGNED(count * sizeof(u64)) : 0;
    if (seen)
        scan->seen = at;
    at += seen ? TABLET_ALIGNED(count * sizeof(u32)) : 0;
    made->keeps = at > 0;
    made->work_bytes = at;
}

/* What is kept of the values of an aggregate. */
static void make_scan(const struct step_aggregate *step,
                      const struct device_store *store,
                      struct window_made *made)
{
    enum aggregate_keeps keeps = aggregate_row(step->function)->keeps;
    bool best = keeps == AGGREGATE_KEEPS_BEST;
    bool sum = keeps == AGGREGATE_KEEPS_SUM;
    struct window_scan *scan = &made->scan;
    scan->value = window_column_of(store, step->column);
    scan->filter = window_column_of(store, step->filter);
    scan->keeps = sum                               ? WINDOW_KEEPS_SUM
                  : !best                           ? WINDOW_KEEPS_SEEN
                  : step->function == AGGREGATE_MIN ? WINDOW_KEEPS_LEAST
                                                    : WINDOW_KEEPS_GREATEST;
    place_work(made, sum || best,
               sum && !fits_narrow(&store->columns[step->column], scan->count),
               step->filter >= 0 || scan->value.nulls != WINDOW_NOWHERE);
}

/* What comes of an aggregate. */
static enum window_gives aggregate_gives(enum aggregate_function function)
{
    switch (function) {
    case AGGREGATE_COUNT:
        return WINDOW_GIVES_COUNT;
    case AGGREGATE_SUM:
        return WINDOW_GIVES_SUM;
    case AGGREGATE_SUM_LOW:
        return WINDOW_GIVES_SUM_LOW;
    case AGGREGATE_SUM_HIGH:
        return WINDOW_GIVES_SUM_HIGH;
    case AGGREGATE_AVG:
        return WINDOW_GIVES_MEAN;
    case AGGREGATE_TOTAL:
        return WINDOW_GIVES_QUOTIENT;
    default:
        assert(function == AGGREGATE_MIN || function == AGGREGATE_MAX);
        return WINDOW_GIVES_BEST;
    }
}

static void make_aggregate(const struct device_window_params *params,
                           const struct step_aggregate *step,
                           const struct device_store *store,
                           struct window_made *made)
{
    struct window_give *give = &made->give;
    make_scan(step, store, made);
    give->gives = aggregate_gives(step->function);
    give->zero = aggregate_row(step->function)->none == AGGREGATE_ZERO;
    give->turn = made->scan.keeps == WINDOW_KEEPS_LEAST ? UINT64_MAX : 0;
    give->low = made->scan.low;
    give->high = made->scan.high;
    give->seen = made->scan.seen;
    if (step->column >= 0)
        give->divisor =
            (uint64_t)decimal_power(params->columns[step->column].scale);
}

struct window_made window_make(const struct device_window_params *params,
                               unsigned number,
                               const struct device_store *store)
{
    const struct step_window_function *function =
        vector_at(&params->step->functions, number);
    struct window_made made = {
        .scan = { .count = store->rows },
        .give = { .count = store->rows, .divisor = 1, .failed = number }
    };
    struct window_give *give = &made.give;
    make_frame(&function->frame, give);
    give->value = window_column_of(store, function->aggregate.column);
    give->fallback = window_column_of(store, -1);
    give->result = window_column_of(store, (int)(params->input_count + number));
    if (window_ranks(function->function)) {
        give->gives =
            function->function == WINDOW_ROW_NUMBER ? WINDOW_GIVES_ROW_NUMBER
            : function->function == WINDOW_RANK     ? WINDOW_GIVES_RANK
                                                    : WINDOW_GIVES_DENSE_RANK;
    } else if (function->function == WINDOW_AGGREGATE) {
        make_aggregate(params, &function->aggregate, store, &made);
    } else {
        make_neighbour(function, give);
        if (give->gives == WINDOW_GIVES_MOVED)
            give->fallback = window_column_of(store, function->fallback);
    }
    return made;
}
