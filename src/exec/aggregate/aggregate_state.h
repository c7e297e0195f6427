/* SPDX-License-Identifier: MIT */
/*
 * The states of aggregates, as they lie in records behind the number of rows
 * passed over, if there is one: for the files that make aggregates alone. The
 * device has the same ones (cl/group.h).
 */
#ifndef VDBQ_EXEC_AGGREGATE_STATE_H
#define VDBQ_EXEC_AGGREGATE_STATE_H

#include <assert.h>

#include "exec/aggregate/aggregate.h"
#include "exec/rows/quotient.h"
#include "exec/rows/sum.h"

struct narrow_state {
    int64_t sum;   /* of up to SUM_DIGITS_MAX rows (cl/sum.h), and ... */
    int64_t carry; /* ... in units of 2^SUM_CARRY_BITS */
};
struct wide_state {
    uint64_t low; /* of the sum's 128 bits */
    int64_t high;
};
struct real_state {
    struct sum sum; /* exact, in any order of rows */
};
struct best_state {
    uint64_t best; /* order + 2^63; MIN keeps that of ~order */
};
struct bits_state {
    uint64_t
        bits; /* of any value, or of an odd number; BIT_AND keeps those that
                      any lacks */
};
struct earliest_state {
    uint64_t before; /* ~ number of the row; 0: no row */
    uint64_t null;   /* 1: the value of that row is NULL */
    uint64_t value;  /* its bytes */
};

/* Bytes of a value that it takes. */
static inline size_t aggregate_width(const struct aggregate *aggregate)
{
    return aggregate->type == TYPE_I64 || aggregate->type == TYPE_F64 ? 8 : 4;
}

/* aggregate.c: whether every row counts: nothing is filtered, and no value is
 * NULL. */
bool aggregate_all_count(const struct aggregate_rows *rows);
/* Marks rows that count; how many. */
unsigned aggregate_mark(const struct aggregate_rows *rows, uint8_t *kept);
/* Notes what rows are picked for; false: that is done already. */
static inline bool aggregate_picks_anew(const struct aggregate_rows *rows,
                                        struct aggregate_room *room)
{
    if (room->made && room->argument == rows->argument
        && room->filter == rows->filter)
        return false;
    room->made = true;
    room->argument = rows->argument;
    room->filter = rows->filter;
    return true;
}
/* The argument of the first row; NULL: the function has none. */
const void *aggregate_first_value(const struct aggregate *aggregate,
                                  const struct aggregate_rows *rows);
/* Adds all values to one state. */
void aggregate_add_all(const struct aggregate *aggregate, const void *values,
                       unsigned count, uint8_t *state);

/* Makes room for more rows. */
static inline void narrow_carry(struct narrow_state *state)
{
    state->carry += state->sum >> SUM_CARRY_BITS;
    state->sum &= SUM_CARRY_MASK;
}

/* Takes in bits, turned as aggregate_turn() has it. */
static inline void bits_merge(const struct aggregate *aggregate,
                              struct bits_state *state, uint64_t bits)
{
    assert(aggregate->kind == AGGREGATE_BITS);
    if (aggregate->step.function == AGGREGATE_BIT_XOR)
        state->bits ^= bits;
    else
        state->bits |= bits;
}

/* Adds 128 bits to a sum. */
static inline void wide_merge(struct wide_state *state, uint64_t low,
                              int64_t high)
{
    state->high += high;
    state->high += __builtin_add_overflow(state->low, low, &state->low);
}

#endif
