/* SPDX-License-Identifier: MIT */
/*
 * What comes of aggregates: states of the same group become one, and results
 * are made of them.
 */
#include "exec/aggregate/aggregate_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/type.h"
#include "exec/rows/order.h"

void aggregate_carry(const struct aggregate *aggregate, uint8_t *record)
{
    void *state = record + aggregate->at;

    if (aggregate->kind == AGGREGATE_NARROW)
        narrow_carry(state);
    else if (aggregate->kind == AGGREGATE_REAL)
        sum_carry(&((struct real_state *)state)->sum);
}

/* Rows of a record that were passed over. */
static uint64_t skipped_of(const struct aggregate *aggregate,
                           const uint8_t *record)
{
    return aggregate->skips ? *(const uint64_t *)(record + aggregate->skipped)
                            : 0;
}

/* Both may lack room, and the sum has it. */
static void narrow_merge(struct narrow_state *state, struct narrow_state other)
{
    narrow_carry(state);
    narrow_carry(&other);
    state->sum += other.sum;
    state->carry += other.carry;
    narrow_carry(state);
}

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
    if (aggregate->skips)
        aggregate_skip(aggregate, into, skipped_of(aggregate, from));
    if (aggregate->kind == AGGREGATE_NARROW)
        narrow_merge(state, *(const struct narrow_state *)other);
    else if (aggregate->kind == AGGREGATE_WIDE)
        wide_merge(state, wide->low, wide->high);
    else if (aggregate->kind == AGGREGATE_REAL)
        sum_merge(&((struct real_state *)state)->sum,
                  &((const struct real_state *)other)->sum);
    else if (aggregate->kind == AGGREGATE_BEST
             && best->best > ((struct best_state *)state)->best)
        ((struct best_state *)state)->best = best->best;
    else if (aggregate->kind == AGGREGATE_BITS)
        bits_merge(aggregate, state, ((const struct bits_state *)other)->bits);
}

/* The exact sum, whatever its state is kept in. */
static i128 integer_sum(const struct aggregate *aggregate, const void *state)
{
    assert(aggregate->kind == AGGREGATE_NARROW
           || aggregate->kind == AGGREGATE_WIDE);
    const struct wide_state *wide = state;
    const struct narrow_state *narrow = state;
    if (aggregate->kind == AGGREGATE_NARROW)
        return (i128)narrow->carry * ((i128)1 << SUM_CARRY_BITS) + narrow->sum;
    return (i128)wide->high * ((i128)1 << 64) + wide->low;
}

enum vdbq_status aggregate_overflow(const struct step_aggregate *step,
                                    struct error *error)
{
    return error_at(error, VDBQ_RANGE, step->at,
                    "integer overflow: a SUM does not fit 64 bits");
}

/* The sum, or one half of it. */
static enum vdbq_status integer_result(const struct aggregate *aggregate,
                                       i128 sum, int64_t *value,
                                       struct error *error)
{
    int64_t high = (int64_t)((sum - (i128)(uint64_t)sum) / ((i128)1 << 64));

    *value = aggregate->step.function == AGGREGATE_SUM_HIGH
                 ? high
                 : (int64_t)(uint64_t)sum;
    if (aggregate->step.function == AGGREGATE_SUM
        && (sum > INT64_MAX || sum < INT64_MIN))
        return aggregate_overflow(&aggregate->step, error);
    return VDBQ_OK;
}

/* What the double that TOTAL gives leaves of a sum. */
static double rest_of(const struct aggregate *aggregate, const void *state)
{
    u128 divisor = (u128)decimal_power(aggregate->scale);
    i128 sum;

    if (aggregate->kind == AGGREGATE_REAL)
        return sum_rest(&((const struct real_state *)state)->sum);
    sum = integer_sum(aggregate, state);
    assert(divisor == 1);
    return (double)(sum - (i128)quotient(sum, divisor));
}

/* SUM and its halves, TOTAL, AVG of `counted` values. Of integers and DECIMAL
 * a DOUBLE is the exact sum's, rounded once. */
static enum vdbq_status sum_result(const struct aggregate *aggregate,
                                   const void *state, uint64_t counted,
                                   void *values, uint8_t *nulls, uint64_t row,
                                   struct error *error)
{
    const struct aggregate_row *function =
        aggregate_row(aggregate->step.function);
    uint64_t parts =
        function->function == AGGREGATE_AVG && counted > 0 ? counted : 1;
    double real;

    nulls[row] = counted == 0 && function->none == AGGREGATE_NULL;
    if (function->gives == AGGREGATE_GIVES_REST)
        real = rest_of(aggregate, state);
    else if (aggregate->kind == AGGREGATE_REAL)
        real =
            sum_value(&((const struct real_state *)state)->sum) / (double)parts;
    else if (function->gives == AGGREGATE_GIVES_DOUBLE)
        real = quotient(integer_sum(aggregate, state),
                        (u128)decimal_power(aggregate->scale) * parts);
    else
        return integer_result(aggregate, integer_sum(aggregate, state),
                              (int64_t *)values + row, error);
    nulls[row] |= isnan(real) != 0;
    ((double *)values)[row] = real;
    return VDBQ_OK;
}

/* Turns the order back into a value. */
static void best_result(const struct aggregate *aggregate, uint64_t best,
                        void *values, uint64_t row)
{
    assert(aggregate->kind == AGGREGATE_BEST);

    order_put(aggregate->type, best ^ aggregate_turn(aggregate->step.function),
              values, row);
}

/* A result; where it is NULL, its value may be anything. */
static enum vdbq_status any_result(const struct aggregate *aggregate,
                                   const uint8_t *record, uint64_t rows,
                                   void *values, uint8_t *nulls, uint64_t row,
                                   struct error *error)
{
    const void *state = record + aggregate->at;
    uint64_t counted = rows - skipped_of(aggregate, record);
    assert(skipped_of(aggregate, record) <= rows);
    const struct earliest_state *earliest = state;
    size_t width = aggregate_width(aggregate);

    switch (aggregate->kind) {
    case AGGREGATE_ROWS:
        ((int64_t *)values)[row] = (int64_t)counted;
        nulls[row] = 0;
        return VDBQ_OK;
    case AGGREGATE_EARLIEST:
        nulls[row] = earliest->before == 0 || earliest->null;
        memcpy((uint8_t *)values + row * width, &earliest->value, width);
        return VDBQ_OK;
    case AGGREGATE_BITS:
        nulls[row] = counted == 0;
        ((uint64_t *)values)[row] = ((const struct bits_state *)state)->bits
                                    ^ aggregate_turn(aggregate->step.function);
        return VDBQ_OK;
    case AGGREGATE_BEST:
        nulls[row] = counted == 0;
        best_result(aggregate, ((const struct best_state *)state)->best, values,
                    row);
        return VDBQ_OK;
    default:
        return sum_result(aggregate, state, counted, values, nulls, row, error);
    }
}

enum vdbq_status aggregate_result(const struct aggregate *aggregate,
                                  const uint8_t *record, uint64_t rows,
                                  void *values, uint8_t *nulls, uint64_t row,
                                  struct error *error)
{
    enum vdbq_status status =
        any_result(aggregate, record, rows, values, nulls, row, error);
    size_t width;

    if (status == VDBQ_OK && nulls[row] != 0) { /* 0, as columns of tables */
        width = type_width(aggregate_result_type(aggregate));
        memset((uint8_t *)values + row * width, 0, width);
    }
    return status;
}
