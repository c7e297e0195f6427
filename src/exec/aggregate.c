/* SPDX-License-Identifier: MIT */
/*
 * Aggregates: see aggregate.h. Rows that count are picked out first, so that
 * the loops over them have no conditions.
 */
#include "exec/aggregate.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "exec/order.h"
#include "exec/sum.h"

__extension__ typedef __int128 i128;

/* States, as they lie in records. */
struct narrow_state {
    uint64_t skipped; /* rows passed over; first in every state */
    int64_t sum;
};
struct wide_state {
    uint64_t skipped;
    uint64_t low; /* of the sum's 128 bits */
    int64_t high;
};
struct real_state {
    uint64_t skipped;
    struct sum sum;
};
struct best_state {
    uint64_t skipped;
    uint64_t best; /* order + 2^63; MIN keeps that of ~order */
};
struct earliest_state {
    uint64_t skipped;
    uint64_t before; /* ~ number of the row; 0: no row */
    uint64_t null;
    uint64_t value;
};

static void add_many(const struct aggregate *aggregate, const void *values,
                     unsigned count, uint8_t *const *records);
static void add_all(const struct aggregate *aggregate, const void *values,
                    unsigned count, uint8_t *state);
static void add_earliest(const struct aggregate *aggregate,
                         const struct aggregate_rows *rows,
                         uint8_t *const *records, uint8_t *record);

static bool is_wide(int type)
{
    return type == TYPE_I64 || type == TYPE_F64;
}

static bool is_float(int type)
{
    return type == TYPE_F32 || type == TYPE_F64;
}

struct aggregate aggregate_make(const struct step_aggregate *step, int type,
                                size_t at)
{
    struct aggregate made = { .step = *step, .type = type, .at = at };

    if (step->function == AGGREGATE_FIRST)
        made.kind = AGGREGATE_EARLIEST;
    else if (step->function == AGGREGATE_MIN
             || step->function == AGGREGATE_MAX)
        made.kind = AGGREGATE_BEST;
    else if (step->function == AGGREGATE_COUNT)
        made.kind = AGGREGATE_ROWS;
    else if (is_float(type))
        made.kind = AGGREGATE_REAL;
    else
        made.kind = type == TYPE_I64 ? AGGREGATE_WIDE : AGGREGATE_NARROW;
    return made;
}

size_t aggregate_bytes(const struct aggregate *aggregate)
{
    static const size_t bytes[] = {
        [AGGREGATE_ROWS] = sizeof(uint64_t),
        [AGGREGATE_NARROW] = sizeof(struct narrow_state),
        [AGGREGATE_WIDE] = sizeof(struct wide_state),
        [AGGREGATE_REAL] = sizeof(struct real_state),
        [AGGREGATE_BEST] = sizeof(struct best_state),
        [AGGREGATE_EARLIEST] = sizeof(struct earliest_state)
    };
    return bytes[aggregate->kind];
}

int aggregate_result_type(const struct aggregate *aggregate)
{
    switch (aggregate->step.function) {
    case AGGREGATE_COUNT:
        return TYPE_I64;
    case AGGREGATE_SUM:
        return is_float(aggregate->type) ? TYPE_F64 : TYPE_I64;
    case AGGREGATE_TOTAL:
    case AGGREGATE_AVG:
        return TYPE_F64;
    default:
        return aggregate->type;
    }
}

/* ------------------------------------------------ rows that count ------ */

/* Marks those that do; returns how many. */
static unsigned mark(const struct aggregate_rows *rows, uint8_t *kept)
{
    const uint8_t *nulls = rows->argument ? rows->argument->nulls : NULL;
    unsigned count = 0;

    memset(kept, 1, rows->count);
    for (unsigned i = 0; nulls != NULL && i < rows->count; i++)
        kept[i] = nulls[rows->start + i] == 0;
    if (rows->filter != NULL) {
        const int32_t *is_true = rows->filter->values;
        nulls = rows->filter->nulls;
        for (unsigned i = 0; i < rows->count; i++)
            kept[i] &= is_true[rows->start + i] != 0;
        for (unsigned i = 0; nulls != NULL && i < rows->count; i++)
            kept[i] &= nulls[rows->start + i] == 0;
    }
    for (unsigned i = 0; i < rows->count; i++)
        count += kept[i];
    return count;
}

static const void *first_value(const struct aggregate *aggregate,
                               const struct aggregate_rows *rows)
{
    if (rows->argument == NULL)
        return NULL;
    return (const uint8_t *)rows->argument->values
           + rows->start * (is_wide(aggregate->type) ? 8 : 4);
}

/* Copies the values that count to `room`, one behind the other. */
static void keep_values(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows,
                        const uint8_t *kept, uint64_t *room)
{
    const uint8_t *values = first_value(aggregate, rows);
    uint8_t *to = (uint8_t *)room;

    if (values == NULL)
        return;
    if (is_wide(aggregate->type))
        for (unsigned i = 0; i < rows->count; i++) {
            memcpy(to, values + (size_t)i * 8, 8);
            to += kept[i] * 8;
        }
    else
        for (unsigned i = 0; i < rows->count; i++) {
            memcpy(to, values + (size_t)i * 4, 4);
            to += kept[i] * 4;
        }
}

static bool all_count(const struct aggregate_rows *rows)
{
    return rows->filter == NULL
           && (rows->argument == NULL || rows->argument->nulls == NULL);
}

void aggregate_skip(const struct aggregate *aggregate, uint8_t *record,
                    uint64_t rows)
{
    *(uint64_t *)(record + aggregate->at) += rows;
}

/* Picks rows out, unless that is done. */
static void pick(const struct aggregate *aggregate,
                 const struct aggregate_rows *rows,
                 struct aggregate_room *room)
{
    if (room->made && room->argument == rows->argument
        && room->filter == rows->filter)
        return;
    room->made = true;
    room->argument = rows->argument;
    room->filter = rows->filter;
    room->count = mark(rows, room->kept);
    keep_values(aggregate, rows, room->kept, room->values);
}

void aggregate_add(const struct aggregate *aggregate,
                   const struct aggregate_rows *rows,
                   struct aggregate_room *room, uint8_t *const *records)
{
    uint8_t *kept_records[AGGREGATE_BLOCK];
    unsigned count = 0;

    if (aggregate->kind == AGGREGATE_EARLIEST) {
        add_earliest(aggregate, rows, records, NULL);
        return;
    }
    if (all_count(rows)) {
        add_many(aggregate, first_value(aggregate, rows), rows->count,
                 records);
        return;
    }
    pick(aggregate, rows, room);
    for (unsigned i = 0; i < rows->count; i++) {
        kept_records[count] = records[i];
        count += room->kept[i];
        if (!room->kept[i])
            aggregate_skip(aggregate, records[i], 1);
    }
    add_many(aggregate, room->values, count, kept_records);
}

void aggregate_add_one(const struct aggregate *aggregate,
                       const struct aggregate_rows *rows,
                       struct aggregate_room *room, uint8_t *record)
{
    uint8_t *state = record + aggregate->at;

    if (aggregate->kind == AGGREGATE_EARLIEST) {
        add_earliest(aggregate, rows, NULL, record);
    } else if (all_count(rows)) {
        add_all(aggregate, first_value(aggregate, rows), rows->count, state);
    } else {
        pick(aggregate, rows, room);
        aggregate_skip(aggregate, record, rows->count - room->count);
        add_all(aggregate, room->values, room->count, state);
    }
}

/* aggregate_pick() where all rows count. */
static unsigned pick_all(const struct aggregate *aggregate,
                         const struct aggregate_rows *rows, uint64_t *values,
                         const uint32_t *tags, uint32_t *tags_picked)
{
    const void *first = first_value(aggregate, rows);

    if (first != NULL)
        memcpy(values, first,
               rows->count * (size_t)(is_wide(aggregate->type) ? 8 : 4));
    for (unsigned i = 0; tags_picked != NULL && i < rows->count; i++)
        tags_picked[i] = tags != NULL ? tags[i] : 0;
    return rows->count;
}

unsigned aggregate_pick(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows, uint64_t *values,
                        const uint32_t *tags, uint32_t *tags_picked)
{
    uint8_t kept[AGGREGATE_BLOCK];
    unsigned count = 0;

    if (all_count(rows))
        return pick_all(aggregate, rows, values, tags, tags_picked);
    mark(rows, kept);
    keep_values(aggregate, rows, kept, values);
    for (unsigned i = 0; tags_picked != NULL && i < rows->count; i++) {
        tags_picked[count] = tags != NULL ? tags[i] : 0;
        count += kept[i];
    }
    return count;
}

/* ------------------------------------------------- a record each row ------ */

static void wide_add(struct wide_state *state, int64_t value)
{
    state->high += value >> 63;
    state->high += __builtin_add_overflow(state->low, (uint64_t)value,
                                          &state->low);
}

static void add_best(const struct aggregate *aggregate, const void *values,
                     unsigned count, uint8_t *const *records)
{
    uint64_t flip = aggregate->step.function == AGGREGATE_MIN ? UINT64_MAX : 0;

    for (unsigned i = 0; i < count; i++) {
        struct best_state *state = (void *)(records[i] + aggregate->at);
        int64_t order = 0;
        uint64_t code;
        if (aggregate->type == TYPE_I64)
            order = ((const int64_t *)values)[i];
        else if (aggregate->type == TYPE_F64)
            order = order_f64(((const double *)values)[i]);
        else if (aggregate->type == TYPE_F32)
            order = order_f32(((const float *)values)[i]);
        else
            order = ((const int32_t *)values)[i];
        code = ((uint64_t)order ^ flip) ^ (UINT64_C(1) << 63);
        state->best = code > state->best ? code : state->best;
    }
}

static void add_many(const struct aggregate *aggregate, const void *values,
                     unsigned count, uint8_t *const *records)
{
    size_t at = aggregate->at;

    if (aggregate->kind == AGGREGATE_NARROW)
        for (unsigned i = 0; i < count; i++)
            ((struct narrow_state *)(void *)(records[i] + at))->sum +=
                ((const int32_t *)values)[i];
    else if (aggregate->kind == AGGREGATE_WIDE)
        for (unsigned i = 0; i < count; i++)
            wide_add((void *)(records[i] + at), ((const int64_t *)values)[i]);
    else if (aggregate->kind == AGGREGATE_REAL && aggregate->type == TYPE_F64)
        for (unsigned i = 0; i < count; i++)
            sum_add(&((struct real_state *)(void *)(records[i] + at))->sum,
                    ((const double *)values)[i]);
    else if (aggregate->kind == AGGREGATE_REAL)
        for (unsigned i = 0; i < count; i++)
            sum_add(&((struct real_state *)(void *)(records[i] + at))->sum,
                    (double)((const float *)values)[i]);
    else if (aggregate->kind == AGGREGATE_BEST)
        add_best(aggregate, values, count, records);
}

/* FIRST: NULLs count, too. */
static void add_earliest(const struct aggregate *aggregate,
                         const struct aggregate_rows *rows,
                         uint8_t *const *records, uint8_t *record)
{
    struct aggregate_rows any = *rows;
    const uint8_t *nulls = rows->argument->nulls;
    const uint8_t *values = first_value(aggregate, rows);
    size_t width = is_wide(aggregate->type) ? 8 : 4;
    uint8_t kept[AGGREGATE_BLOCK];

    if (record != NULL
        && ((struct earliest_state *)(void *)(record + aggregate->at))->before
               >= ~rows->number)
        return;
    any.argument = NULL;
    mark(&any, kept);
    for (unsigned i = 0; i < rows->count; i++) {
        uint8_t *at = (records != NULL ? records[i] : record) + aggregate->at;
        struct earliest_state *state = (void *)at;
        uint64_t before = ~(rows->number + i);
        if (!kept[i] || before <= state->before)
            continue;
        state->before = before;
        state->null = nulls != NULL && nulls[rows->start + i] != 0;
        memcpy(&state->value, values + i * width, width);
    }
}

/* --------------------------------------------------- all in one record ---- */

PARALLEL_CLONES
static int64_t sum_narrow(const int32_t *values, unsigned count)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Upper and lower halves apart: no sum of a block overflows. */
PARALLEL_CLONES
static void sum_wide(const int64_t *values, unsigned count, int64_t *high,
                     int64_t *low)
{
    int64_t upper = 0, lower = 0;
    for (unsigned i = 0; i < count; i++) {
        upper += values[i] >> 32;
        lower += (int64_t)(uint32_t)values[i];
    }
    *high = upper;
    *low = lower;
}

/* The greatest order ^ flip. */
PARALLEL_CLONES
static int32_t best_i32(const int32_t *values, unsigned count, int32_t flip)
{
    int32_t best = INT32_MIN;
    for (unsigned i = 0; i < count; i++) {
        int32_t order = values[i] ^ flip;
        best = order > best ? order : best;
    }
    return best;
}

PARALLEL_CLONES
static int64_t best_i64(const int64_t *values, unsigned count, int64_t flip)
{
    int64_t best = INT64_MIN;
    for (unsigned i = 0; i < count; i++) {
        int64_t order = values[i] ^ flip;
        best = order > best ? order : best;
    }
    return best;
}

PARALLEL_CLONES
static int32_t best_f32(const float *values, unsigned count, int32_t flip)
{
    int32_t best = INT32_MIN;
    for (unsigned i = 0; i < count; i++) {
        int32_t order = order_f32(values[i]) ^ flip;
        best = order > best ? order : best;
    }
    return best;
}

PARALLEL_CLONES
static int64_t best_f64(const double *values, unsigned count, int64_t flip)
{
    int64_t best = INT64_MIN;
    for (unsigned i = 0; i < count; i++) {
        int64_t order = order_f64(values[i]) ^ flip;
        best = order > best ? order : best;
    }
    return best;
}

static void best_all(const struct aggregate *aggregate, const void *values,
                     unsigned count, struct best_state *state)
{
    int flip = aggregate->step.function == AGGREGATE_MIN ? -1 : 0;
    int64_t best;
    uint64_t code;

    if (count == 0)
        return;
    if (aggregate->type == TYPE_I64)
        best = best_i64(values, count, flip);
    else if (aggregate->type == TYPE_F64)
        best = best_f64(values, count, flip);
    else if (aggregate->type == TYPE_F32)
        best = best_f32(values, count, flip);
    else
        best = best_i32(values, count, flip);
    code = (uint64_t)best ^ (UINT64_C(1) << 63);
    state->best = code > state->best ? code : state->best;
}

static void real_all(const float *values, unsigned count, struct sum *sum)
{
    double wide[AGGREGATE_BLOCK];
    for (unsigned i = 0; i < count; i++)
        wide[i] = (double)values[i];
    sum_add_all(sum, wide, count);
}

static void wide_merge(struct wide_state *state, uint64_t low, int64_t high)
{
    state->high += high;
    state->high += __builtin_add_overflow(state->low, low, &state->low);
}

static void add_all(const struct aggregate *aggregate, const void *values,
                    unsigned count, uint8_t *state)
{
    struct real_state *real = (void *)state;
    int64_t high, low;
    i128 sum;

    switch (aggregate->kind) {
    case AGGREGATE_NARROW:
        ((struct narrow_state *)(void *)state)->sum += sum_narrow(values,
                                                                  count);
        break;
    case AGGREGATE_WIDE:
        sum_wide(values, count, &high, &low);
        sum = (i128)high * 4294967296 + low;
        wide_merge((void *)state, (uint64_t)sum, (int64_t)(sum >> 64));
        break;
    case AGGREGATE_REAL:
        if (aggregate->type == TYPE_F64)
            sum_add_all(&real->sum, values, count);
        else
            real_all(values, count, &real->sum);
        break;
    case AGGREGATE_BEST:
        best_all(aggregate, values, count, (void *)state);
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------- results ---- */

void aggregate_merge(const struct aggregate *aggregate, uint8_t *into,
                     const uint8_t *from)
{
    void *state = into + aggregate->at;
    const void *other = from + aggregate->at;
    const struct wide_state *wide = other;
    const struct best_state *best = other;
    const struct earliest_state *earliest = other;

    if (aggregate->kind == AGGREGATE_EARLIEST) {
        if (earliest->before > ((struct earliest_state *)state)->before)
            *(struct earliest_state *)state = *earliest;
        return;
    }
    *(uint64_t *)state += *(const uint64_t *)other;
    if (aggregate->kind == AGGREGATE_NARROW)
        ((struct narrow_state *)state)->sum +=
            ((const struct narrow_state *)other)->sum;
    else if (aggregate->kind == AGGREGATE_WIDE)
        wide_merge(state, wide->low, wide->high);
    else if (aggregate->kind == AGGREGATE_REAL)
        sum_merge(&((struct real_state *)state)->sum,
                  &((const struct real_state *)other)->sum);
    else if (aggregate->kind == AGGREGATE_BEST
             && best->best > ((struct best_state *)state)->best)
        ((struct best_state *)state)->best = best->best;
}

static i128 integer_sum(const struct aggregate *aggregate, const void *state)
{
    const struct wide_state *wide = state;
    if (aggregate->kind == AGGREGATE_NARROW)
        return ((const struct narrow_state *)state)->sum;
    return (i128)wide->high * ((i128)1 << 64) + wide->low;
}

/* SUM, TOTAL, AVG of `taken` values. */
static enum vdbq_status sum_result(const struct aggregate *aggregate,
                                   const void *state, uint64_t taken,
                                   void *values, uint8_t *nulls, uint64_t row,
                                   struct error *error)
{
    enum aggregate_function function = aggregate->step.function;
    bool integers = aggregate->kind != AGGREGATE_REAL;
    double real;

    nulls[row] = taken == 0 && function != AGGREGATE_TOTAL;
    if (integers && function == AGGREGATE_SUM) {
        i128 sum = integer_sum(aggregate, state);
        if (sum > INT64_MAX || sum < INT64_MIN)
            return error_at(error, VDBQ_RANGE, aggregate->step.at,
                            "integer overflow: a SUM does not fit 64 bits");
        ((int64_t *)values)[row] = (int64_t)sum;
        return VDBQ_OK;
    }
    real = integers ? (double)integer_sum(aggregate, state)
                    : sum_value(&((const struct real_state *)state)->sum);
    if (function == AGGREGATE_AVG && taken > 0)
        real /= (double)taken;
    nulls[row] |= isnan(real) != 0;
    ((double *)values)[row] = real;
    return VDBQ_OK;
}

static void best_result(const struct aggregate *aggregate, uint64_t best,
                        void *values, uint64_t row)
{
    int64_t order = (int64_t)(best ^ (UINT64_C(1) << 63));

    if (aggregate->step.function == AGGREGATE_MIN)
        order = ~order;
    if (aggregate->type == TYPE_I64)
        ((int64_t *)values)[row] = order;
    else if (aggregate->type == TYPE_F64)
        ((double *)values)[row] = order_to_f64(order);
    else if (aggregate->type == TYPE_F32)
        ((float *)values)[row] = order_to_f32((int32_t)order);
    else
        ((int32_t *)values)[row] = (int32_t)order;
}

enum vdbq_status aggregate_result(const struct aggregate *aggregate,
                                  const uint8_t *record, uint64_t rows,
                                  void *values, uint8_t *nulls, uint64_t row,
                                  struct error *error)
{
    const void *state = record + aggregate->at;
    uint64_t taken = rows - *(const uint64_t *)state;
    const struct earliest_state *earliest = state;
    size_t width = is_wide(aggregate->type) ? 8 : 4;

    switch (aggregate->kind) {
    case AGGREGATE_ROWS:
        ((int64_t *)values)[row] = (int64_t)taken;
        nulls[row] = 0;
        return VDBQ_OK;
    case AGGREGATE_EARLIEST:
        nulls[row] = earliest->before == 0 || earliest->null;
        memcpy((uint8_t *)values + row * width, &earliest->value, width);
        return VDBQ_OK;
    case AGGREGATE_BEST:
        nulls[row] = taken == 0;
        best_result(aggregate, ((const struct best_state *)state)->best,
                    values, row);
        return VDBQ_OK;
    default:
        return sum_result(aggregate, state, taken, values, nulls, row, error);
    }
}
