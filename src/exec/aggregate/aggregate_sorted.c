/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of few groups. Rows that come one after the other into the same
 * few states wait for one another there; so a block's rows are sorted by their
 * groups once, each argument is put into that order, and then every group's
 * values are added at once, as those of all rows are where there are no keys.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/aggregate/aggregate_state.h"

/* Parts of a block that are counted and sorted side by side: counters of one
 * wait for one another, those of several do not. */
enum { LANES = 4 };

/* ------------------------------------------------------------- sorting -- */

/* The least number, and the distance to the greatest. */
PARALLEL_CLONES
static uint32_t range_of(const uint32_t *numbers, unsigned count,
                         uint32_t *least)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (unsigned i = 0; i < count; i++) {
        low = numbers[i] < low ? numbers[i] : low;
        high = numbers[i] > high ? numbers[i] : high;
    }
    *least = low;
    return high - low;
}

/* Makes of the numbers of rows of each lane and group where these begin. */
static void place_groups(uint16_t places[LANES][AGGREGATE_FEW],
                         struct aggregate_sorted *sorted)
{
    unsigned at = 0;
    for (unsigned g = 0; g < sorted->groups; g++) {
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned rows = places[lane][g];
            places[lane][g] = (uint16_t)at;
            at += rows;
        }
        sorted->ends[g] = (uint16_t)at;
    }
}

bool aggregate_sort(const uint32_t *numbers, unsigned count, uint32_t *least,
                    struct aggregate_sorted *sorted)
{
    assert(count > 0 && count <= AGGREGATE_BLOCK);
    uint16_t places[LANES][AGGREGATE_FEW] = { { 0 } };
    uint32_t range = range_of(numbers, count, least), base = *least;
    unsigned each = count / LANES;

    if (range >= AGGREGATE_FEW)
        return false;
    sorted->groups = range + 1;
    for (unsigned i = 0; i < each; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            places[lane][numbers[lane * each + i] - base]++;
    for (unsigned i = LANES * each; i < count; i++)
        places[LANES - 1][numbers[i] - base]++;
    place_groups(places, sorted);
    for (unsigned i = 0; i < each; i++)
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned row = lane * each + i;
            sorted->rows[places[lane][numbers[row] - base]++] = (uint16_t)row;
        }
    for (unsigned i = LANES * each; i < count; i++)
        sorted->rows[places[LANES - 1][numbers[i] - base]++] = (uint16_t)i;
    return true;
}

/* ------------------------------------------------------------- picking -- */

/* Copies values of these rows, one behind the other. */
static void copy_values(const void *values, size_t width, const uint16_t *rows,
                        unsigned count, uint64_t *room)
{
    const uint64_t *from8 = values;
    const uint32_t *from4 = values;
    uint32_t *to4 = (uint32_t *)room;

    if (width == 8)
        for (unsigned i = 0; i < count; i++)
            room[i] = from8[rows[i]];
    else
        for (unsigned i = 0; i < count; i++)
            to4[i] = from4[rows[i]];
}

/* Leaves those rows that count, group by group; how many. */
static unsigned keep_rows(const struct aggregate_sorted *sorted,
                          const uint8_t *kept, uint16_t *ends, uint16_t *rows)
{
    unsigned count = 0, i = 0;
    for (unsigned g = 0; g < sorted->groups; g++) {
        for (; i < sorted->ends[g]; i++) {
            rows[count] = sorted->rows[i];
            count += kept[sorted->rows[i]];
        }
        ends[g] = (uint16_t)count;
    }
    return count;
}

/* Picks the values out that count, in the order of groups, unless that is
 * done. */
static void pick(const struct aggregate *aggregate,
                 const struct aggregate_rows *rows,
                 const struct aggregate_sorted *sorted,
                 struct aggregate_room *room)
{
    const void *values = aggregate_first_value(aggregate, rows);
    const uint16_t *picked = sorted->rows;
    uint16_t some[AGGREGATE_BLOCK];

    if (!aggregate_picks_anew(rows, room))
        return;
    room->count = rows->count;
    if (aggregate_all_count(rows)) {
        memcpy(room->ends, sorted->ends, sorted->groups * sizeof *room->ends);
    } else {
        aggregate_mark(rows, room->kept);
        room->count = keep_rows(sorted, room->kept, room->ends, some);
        picked = some;
    }
    if (values != NULL)
        copy_values(values, aggregate_width(aggregate), picked, room->count,
                    room->values);
}

/* -------------------------------------------------------------- adding -- */

/* FIRST: of the rows of a group the first one that is not filtered out. */
static void add_earliest(const struct aggregate *aggregate,
                         const struct aggregate_rows *rows, const uint8_t *kept,
                         const uint16_t *some, unsigned count, void *state)
{
    struct earliest_state *earliest = state;
    const uint8_t *values = aggregate_first_value(aggregate, rows);
    const uint8_t *nulls = rows->argument->nulls;
    size_t width = aggregate_width(aggregate);
    unsigned i = 0;

    while (i < count && !kept[some[i]])
        i++;
    if (i == count || ~aggregate_number(rows, some[i]) <= earliest->before)
        return;
    earliest->before = ~aggregate_number(rows, some[i]);
    earliest->null = nulls != NULL && nulls[rows->start + some[i]] != 0;
    memcpy(&earliest->value, values + some[i] * width, width);
}

static void add_all_earliest(const struct aggregate *aggregate,
                             const struct aggregate_rows *rows,
                             const struct aggregate_sorted *sorted)
{
    struct aggregate_rows any = *rows;
    uint8_t kept[AGGREGATE_BLOCK];
    unsigned first = 0;

    any.argument = NULL;
    aggregate_mark(&any, kept);
    for (unsigned g = 0; g < sorted->groups; first = sorted->ends[g++])
        add_earliest(aggregate, rows, kept, sorted->rows + first,
                     sorted->ends[g] - first,
                     sorted->records[g] + aggregate->at);
}

void aggregate_add_sorted(const struct aggregate *aggregate,
                          const struct aggregate_rows *rows,
                          const struct aggregate_sorted *sorted,
                          struct aggregate_room *room)
{
    const uint8_t *values = (const uint8_t *)room->values;
    size_t width = aggregate_width(aggregate);
    unsigned first = 0, all = 0;

    if (aggregate->kind == AGGREGATE_EARLIEST) {
        add_all_earliest(aggregate, rows, sorted);
        return;
    }
    if (aggregate->kind == AGGREGATE_ROWS && aggregate_all_count(rows))
        return;
    pick(aggregate, rows, sorted, room);
    for (unsigned g = 0; g < sorted->groups; g++) {
        unsigned count = room->ends[g] - first,
                 skipped = sorted->ends[g] - all - count;
        if (skipped > 0)
            aggregate_skip(aggregate, sorted->records[g], skipped);
        if (count > 0)
            aggregate_add_all(aggregate, values + first * width, count,
                              sorted->records[g] + aggregate->at);
        first = room->ends[g];
        all = sorted->ends[g];
    }
}
