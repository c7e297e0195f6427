/* SPDX-License-Identifier: MIT */
/*
 * Aggregates take rows in: aggregate.h. Rows that count are picked out first,
 * so that the loops over them have no conditions.
 */
#include "exec/aggregate/aggregate_state.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/rows/order.h"

static void add_many(const struct aggregate *aggregate, const void *values,
                     unsigned count, uint8_t *const *records);
static void add_earliest(const struct aggregate *aggregate,
                         const struct aggregate_rows *rows,
                         uint8_t *const *records, uint8_t *record);

/* Sums of floats are exact sums; all others are integers. */
static bool is_float(int type)
{
    return type == TYPE_F32 || type == TYPE_F64;
}

/* Which state a function keeps of values of that type. */
static enum aggregate_kind kind_of(enum aggregate_function function, int type)
{
    switch (aggregate_row(function)->keeps) {
    case AGGREGATE_KEEPS_SUM:
        return is_float(type)     ? AGGREGATE_REAL
               : type == TYPE_I64 ? AGGREGATE_WIDE
                                  : AGGREGATE_NARROW;
    case AGGREGATE_KEEPS_BITS:
        return AGGREGATE_BITS;
    case AGGREGATE_KEEPS_BEST:
        return AGGREGATE_BEST;
    case AGGREGATE_KEEPS_FIRST:
        return AGGREGATE_EARLIEST;
    default:
        return AGGREGATE_ROWS;
    }
}

struct aggregate aggregate_make(const struct step_aggregate *step,
                                struct aggregate_argument argument, size_t at)
{
    struct aggregate made = { .step = *step,
                              .type = argument.type,
                              .scale = argument.scale,
                              .kind = kind_of(step->function, argument.type),
                              .skipped = at };
    assert(at % sizeof(uint64_t) == 0);
    made.skips =
        argument.nullable || step->filter >= 0 || aggregate_is_distinct(&made);
    made.at = at + (made.skips ? sizeof(uint64_t) : 0);
    return made;
}

bool aggregate_is_distinct(const struct aggregate *aggregate)
{
    return aggregate->step.distinct && aggregate->step.column >= 0
           && !aggregate_takes_once(aggregate->step.function);
}

/* Whether its state is a sum of all values that count. */
static bool adds_all(const struct aggregate *aggregate)
{
    return aggregate_row(aggregate->step.function)->keeps == AGGREGATE_KEEPS_SUM
           && !aggregate_is_distinct(aggregate);
}

bool aggregate_adds_same(const struct aggregate *a, const struct aggregate *b)
{
    return adds_all(a) && adds_all(b) && a->step.column == b->step.column
           && a->step.filter == b->step.filter;
}

void aggregate_share(struct aggregate *aggregate, const struct aggregate *with)
{
    assert(aggregate->kind == with->kind && aggregate->skips == with->skips);
    aggregate->shared = true;
    aggregate->skipped = with->skipped;
    aggregate->at = with->at;
}

size_t aggregate_bytes(const struct aggregate *aggregate)
{
    assert(aggregate->kind <= AGGREGATE_EARLIEST);
    static const size_t bytes[] = {
        [AGGREGATE_ROWS] = 0,
        [AGGREGATE_NARROW] = sizeof(struct narrow_state),
        [AGGREGATE_WIDE] = sizeof(struct wide_state),
        [AGGREGATE_REAL] = sizeof(struct real_state),
        [AGGREGATE_BEST] = sizeof(struct best_state),
        [AGGREGATE_BITS] = sizeof(struct bits_state),
        [AGGREGATE_EARLIEST] = sizeof(struct earliest_state)
    };
    if (aggregate->shared)
        return 0;
    return aggregate->at - aggregate->skipped + bytes[aggregate->kind];
}

int aggregate_result_type(const struct aggregate *aggregate)
{
    switch (aggregate_row(aggregate->step.function)->gives) {
    case AGGREGATE_GIVES_COUNT:
    case AGGREGATE_GIVES_WORD:
        return TYPE_I64;
    case AGGREGATE_GIVES_SUM:
        return is_float(aggregate->type) ? TYPE_F64 : TYPE_I64;
    case AGGREGATE_GIVES_DOUBLE:
    case AGGREGATE_GIVES_REST:
        return TYPE_F64;
    default:
        return aggregate->type;
    }
}

/* ------------------------------------------------ rows that count ------ */

/* Marks rows of which a byte is 0; how many. */
PARALLEL_CLONES
static unsigned mark_zeros(const uint8_t *restrict bytes, unsigned count,
                           uint8_t *restrict kept)
{
    unsigned marked = 0;

    for (unsigned i = 0; i < count; i++) {
        kept[i] = bytes[i] == 0;
        marked += kept[i];
    }
    return marked;
}

/* Leaves marks of rows whose filter is true, and not NULL (NULL: none is); how
 * many. */
PARALLEL_CLONES
static unsigned leave_true(const int32_t *restrict is_true,
                           const uint8_t *restrict nulls, unsigned count,
                           uint8_t *restrict kept)
{
    unsigned marked = 0;

    for (unsigned i = 0; i < count; i++)
        kept[i] &= is_true[i] != 0;
    for (unsigned i = 0; nulls != NULL && i < count; i++)
        kept[i] &= nulls[i] == 0;
    for (unsigned i = 0; i < count; i++)
        marked += kept[i];
    return marked;
}

unsigned aggregate_mark(const struct aggregate_rows *rows, uint8_t *kept)
{
    const uint8_t *nulls = rows->argument ? rows->argument->nulls : NULL;
    unsigned count = rows->count;

    if (nulls != NULL)
        count = mark_zeros(nulls + rows->start, rows->count, kept);
    else
        memset(kept, 1, rows->count);
    if (rows->filter == NULL)
        return count;
    nulls = rows->filter->nulls;
    return leave_true((const int32_t *)rows->filter->values + rows->start,
                      nulls != NULL ? nulls + rows->start : NULL, rows->count,
                      kept);
}

const void *aggregate_first_value(const struct aggregate *aggregate,
                                  const struct aggregate_rows *rows)
{
    if (rows->argument == NULL)
        return NULL;
    return (const uint8_t *)rows->argument->values
           + rows->start * aggregate_width(aggregate);
}

/* Copies the values that count to `room`, one behind the other. */
static void keep_values(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows, const uint8_t *kept,
                        uint64_t *room)
{
    const uint8_t *values = aggregate_first_value(aggregate, rows);
    uint8_t *to = (uint8_t *)room;

    if (values == NULL)
        return;
    if (aggregate_width(aggregate) == 8)
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

bool aggregate_all_count(const struct aggregate_rows *rows)
{
    return rows->filter == NULL
           && (rows->argument == NULL || rows->argument->nulls == NULL);
}

void aggregate_skip(const struct aggregate *aggregate, uint8_t *record,
                    uint64_t rows)
{
    assert(aggregate->skips);
    *(uint64_t *)(record + aggregate->skipped) += rows;
}

/* Picks rows out, unless that is done; where all count, their values stay where
 * they are. */
static const void *pick(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows,
                        struct aggregate_room *room)
{
    if (aggregate_picks_anew(rows, room)) {
        room->count = aggregate_mark(rows, room->kept);
        if (room->count < rows->count)
            keep_values(aggregate, rows, room->kept, room->values);
    }
    return room->count < rows->count ? room->values
                                     : aggregate_first_value(aggregate, rows);
}

void aggregate_add(const struct aggregate *aggregate,
                   const struct aggregate_rows *rows,
                   struct aggregate_room *room, uint8_t *const *records)
{
    assert(rows->count <= AGGREGATE_BLOCK);
    uint8_t *kept_records[AGGREGATE_BLOCK];
    unsigned count = 0;

    if (aggregate->kind == AGGREGATE_EARLIEST) {
        add_earliest(aggregate, rows, records, NULL);
        return;
    }
    const void *values = aggregate_all_count(rows)
                             ? aggregate_first_value(aggregate, rows)
                             : pick(aggregate, rows, room);
    if (aggregate_all_count(rows) || room->count == rows->count) {
        add_many(aggregate, values, rows->count, records);
        return;
    }
    for (unsigned i = 0; i < rows->count; i++) {
        kept_records[count] = records[i];
        count += room->kept[i];
        if (!room->kept[i])
            aggregate_skip(aggregate, records[i], 1);
    }
    add_many(aggregate, values, count, kept_records);
}

void aggregate_add_one(const struct aggregate *aggregate,
                       const struct aggregate_rows *rows,
                       struct aggregate_room *room, uint8_t *record)
{
    assert(rows->count <= AGGREGATE_BLOCK);
    uint8_t *state = record + aggregate->at;

    if (aggregate->kind == AGGREGATE_EARLIEST) {
        add_earliest(aggregate, rows, NULL, record);
    } else if (aggregate_all_count(rows)) {
        aggregate_add_all(aggregate, aggregate_first_value(aggregate, rows),
                          rows->count, state);
    } else {
        const void *values = pick(aggregate, rows, room);
        assert(room->count <= rows->count);
        if (room->count < rows->count)
            aggregate_skip(aggregate, record, rows->count - room->count);
        aggregate_add_all(aggregate, values, room->count, state);
    }
}

/* aggregate_pick() where all rows count. */
static unsigned pick_all(const struct aggregate *aggregate,
                         const struct aggregate_rows *rows, uint64_t *values,
                         const uint32_t *tags, uint32_t *tags_picked)
{
    const void *first = aggregate_first_value(aggregate, rows);

    if (first != NULL)
        memcpy(values, first, rows->count * aggregate_width(aggregate));
    for (unsigned i = 0; tags_picked != NULL && i < rows->count; i++)
        tags_picked[i] = tags != NULL ? tags[i] : 0;
    return rows->count;
}

unsigned aggregate_pick(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows, uint64_t *values,
                        const uint32_t *tags, uint32_t *tags_picked)
{
    assert(rows->count <= AGGREGATE_BLOCK);
    uint8_t kept[AGGREGATE_BLOCK];
    unsigned count = 0;

    if (aggregate_all_count(rows))
        return pick_all(aggregate, rows, values, tags, tags_picked);
    aggregate_mark(rows, kept);
    keep_values(aggregate, rows, kept, values);
    for (unsigned i = 0; tags_picked != NULL && i < rows->count; i++) {
        tags_picked[count] = tags != NULL ? tags[i] : 0;
        count += kept[i];
    }
    return count;
}

/* ------------------------------------------------- a record each row ------ */

/* Adds to a sum of 128 bits: the sign goes to the upper half, then the
   carry. */
static void wide_add(struct wide_state *state, int64_t value)
{
    state->high += value >> 63;
    state->high +=
        __builtin_add_overflow(state->low, (uint64_t)value, &state->low);
}

/* Orders are complemented for MIN, so that the greatest is kept in both. */
static void add_best(const struct aggregate *aggregate, const void *values,
                     unsigned count, uint8_t *const *records)
{
    assert(aggregate->step.function == AGGREGATE_MIN
           || aggregate->step.function == AGGREGATE_MAX);
    uint64_t flip = aggregate_turn(aggregate->step.function);

    for (unsigned i = 0; i < count; i++) {
        struct best_state *state = (void *)(records[i] + aggregate->at);
        uint64_t code = order_at(aggregate->type, values, i) ^ flip;
        state->best = code > state->best ? code : state->best;
    }
}

static void add_bits(const struct aggregate *aggregate, const void *values,
                     unsigned count, uint8_t *const *records)
{
    uint64_t turn = aggregate_turn(aggregate->step.function);
    size_t at = aggregate->at;

    if (aggregate->type == TYPE_I64)
        for (unsigned i = 0; i < count; i++)
            bits_merge(aggregate, (void *)(records[i] + at),
                       ((const uint64_t *)values)[i] ^ turn);
    else
        for (unsigned i = 0; i < count; i++)
            bits_merge(aggregate, (void *)(records[i] + at),
                       (uint64_t)((const int32_t *)values)[i] ^ turn);
}

/* Rows ahead whose states are asked for: records of many aggregates lie apart in
 * memory, and each state is in a cache line of its own. */
enum { AHEAD = 12 };

/* Asks for the state of a row ahead, which may lie in two cache lines. */
static inline void ask_ahead(uint8_t *const *records, unsigned i,
                             unsigned count, size_t at, size_t bytes)
{
    const uint8_t *state;

    if (i + AHEAD >= count)
        return;
    state = records[i + AHEAD] + at;
    __builtin_prefetch(state, 1);
    __builtin_prefetch(state + bytes - 1, 1);
}

/* Adds each value to the sum of its own group. */
static void add_real(const struct aggregate *aggregate, const void *values,
                     unsigned count, uint8_t *const *records)
{
    size_t at = aggregate->at;

    for (unsigned i = 0; i < count; i++) {
        struct real_state *state = (void *)(records[i] + at);
        double value = aggregate->type == TYPE_F64
                           ? ((const double *)values)[i]
                           : (double)((const float *)values)[i];
        ask_ahead(records, i, count, at, sizeof *state);
        sum_add(&state->sum, value);
    }
}

/* Adds each row to the state of its own group. */
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
    else if (aggregate->kind == AGGREGATE_REAL)
        add_real(aggregate, values, count, records);
    else if (aggregate->kind == AGGREGATE_BEST)
        add_best(aggregate, values, count, records);
    else if (aggregate->kind == AGGREGATE_BITS)
        add_bits(aggregate, values, count, records);
}

/* FIRST: NULLs count, too. */
static void add_earliest(const struct aggregate *aggregate,
                         const struct aggregate_rows *rows,
                         uint8_t *const *records, uint8_t *record)
{
    struct aggregate_rows any = *rows;
    const uint8_t *nulls = rows->argument->nulls;
    const uint8_t *values = aggregate_first_value(aggregate, rows);
    size_t width = aggregate_width(aggregate);
    uint8_t kept[AGGREGATE_BLOCK];

    if (record != NULL
        && ((struct earliest_state *)(void *)(record + aggregate->at))->before
               >= ~rows->number)
        return;
    any.argument = NULL;
    aggregate_mark(&any, kept);
    for (unsigned i = 0; i < rows->count; i++) {
        uint8_t *at = (records != NULL ? records[i] : record) + aggregate->at;
        struct earliest_state *state = (void *)at;
        uint64_t before = ~aggregate_number(rows, i);
        if (!kept[i] || before <= state->before)
            continue;
        state->before = before;
        state->null = nulls != NULL && nulls[rows->start + i] != 0;
        memcpy(&state->value, values + i * width, width);
    }
}

/* --------------------------------------------------- all in one record ---- */

/* A block is short enough for the sum to fit into 64 bits. */
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

/* Makes best_<name>(): the greatest order ^ flip of many values. */
#define BEST(name, value_type, order_type, least, ORDER)                       \
    PARALLEL_CLONES                                                            \
    static order_type best_##name(const value_type *values, unsigned count,    \
                                  order_type flip)                             \
    {                                                                          \
        order_type best = (least);                                             \
        for (unsigned i = 0; i < count; i++) {                                 \
            order_type order = ORDER(values[i]) ^ flip;                        \
            best = order > best ? order : best;                                \
        }                                                                      \
        return best;                                                           \
    }
#define ORDER_INTEGER(value) (value)

BEST(i32, int32_t, int32_t, INT32_MIN, ORDER_INTEGER)
BEST(i64, int64_t, int64_t, INT64_MIN, ORDER_INTEGER)
BEST(f32, float, int32_t, INT32_MIN, order_f32)
BEST(f64, double, int64_t, INT64_MIN, order_f64)

/* The best of the whole block, then the better of that and the state's. */
static void best_all(const struct aggregate *aggregate, const void *values,
                     unsigned count, struct best_state *state)
{
    int flip = aggregate_turn(aggregate->step.function) != 0 ? -1 : 0;
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
    code = order_code(best);
    state->best = code > state->best ? code : state->best;
}

/* The bits of some values: those that any has, and that an odd number have. */
struct value_bits {
    uint64_t any, odd;
};

/* Makes bits_<name>(): of values that are turned. */
#define BITS(name, value_type)                                                 \
    PARALLEL_CLONES                                                            \
    static struct value_bits bits_##name(const value_type *values,             \
                                         unsigned count, value_type turn)      \
    {                                                                          \
        value_type any = 0, odd = 0;                                           \
        for (unsigned i = 0; i < count; i++) {                                 \
            any |= values[i] ^ turn;                                           \
            odd ^= values[i] ^ turn;                                           \
        }                                                                      \
        return (struct value_bits){ (uint64_t)any, (uint64_t)odd };            \
    }

BITS(i32, int32_t)
BITS(i64, int64_t)

static void bits_all(const struct aggregate *aggregate, const void *values,
                     unsigned count, struct bits_state *state)
{
    int turn = aggregate_turn(aggregate->step.function) != 0 ? -1 : 0;
    struct value_bits bits = aggregate->type == TYPE_I64
                                 ? bits_i64(values, count, turn)
                                 : bits_i32(values, count, turn);

    bits_merge(aggregate, state,
               aggregate->step.function == AGGREGATE_BIT_XOR ? bits.odd
                                                             : bits.any);
}

/* Widens floats to doubles, which is exact. */
static void real_all(const float *values, unsigned count, struct sum *sum)
{
    assert(count <= AGGREGATE_BLOCK);
    double wide[AGGREGATE_BLOCK];
    for (unsigned i = 0; i < count; i++)
        wide[i] = (double)values[i];
    sum_add_all(sum, wide, count);
}

void aggregate_add_all(const struct aggregate *aggregate, const void *values,
                       unsigned count, uint8_t *state)
{
    struct real_state *real = (void *)state;
    int64_t high, low;
    i128 sum;

    switch (aggregate->kind) {
    case AGGREGATE_NARROW:
        ((struct narrow_state *)(void *)state)->sum +=
            sum_narrow(values, count);
        narrow_carry((void *)state);
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
    case AGGREGATE_BITS:
        bits_all(aggregate, values, count, (void *)state);
        break;
    default:
        break;
    }
}
