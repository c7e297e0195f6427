/* SPDX-License-Identifier: MIT */
/*
 * An end is places that are taken whole, and some of a group of equal values:
 * those of its rows that have the least numbers, which a heap picks.
 */
#include "data/index/run_ends.h"

#include <assert.h>
#include <stdlib.h>

/* Places of equal values, and around them the part of the run. */
struct equals {
    uint32_t begin, end;
};

/* So many bits that are 1. */
static uint64_t ones(unsigned bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

/* Bits of the columns behind the order's. */
static unsigned bits_behind(const struct run_ends *ends, const struct run *run)
{
    unsigned bits = 0;

    for (unsigned i = ends->columns; i < run->column_count; i++)
        bits += run->columns[i].bits;
    return bits;
}

/* The code that a key has for the last of the order's columns; 0: NULL, or the
 * order has none. */
static uint64_t last_code(const struct run_ends *ends, const struct run *run,
                          uint64_t key)
{
    unsigned behind = bits_behind(ends, run);

    return ends->columns == 0 || behind == RUN_KEY_BITS
               ? 0
               : key >> behind & ones(run->columns[ends->columns - 1].bits);
}

/* The keys whose value in the last of the order's columns differs from that of `key`
 * in no other bits than those that say nothing; and `key`, whatever it is: a file
 * may have any. */
static struct run_keys rough_keys(const struct run_ends *ends,
                                  const struct run *run, uint64_t key,
                                  uint64_t code)
{
    unsigned column = ends->columns - 1, behind = bits_behind(ends, run);
    uint64_t value = run_value_of(&run->columns[column], code);
    struct run_bound low = { .value = { value & ~ends->rough, true } };
    struct run_bound high = { .value = { value | ends->rough, true } };
    uint64_t own = ones(behind + run->columns[column].bits);
    struct run_keys keys = run_keys_between(
        run, (struct run_keys){ key & ~own, key | own }, column, &low, &high);

    return (struct run_keys){ keys.first < key ? keys.first : key,
                              keys.last > key ? keys.last : key };
}

/* So many rows of an end, and more. */
static uint32_t rows_asked(uint32_t rows, uint32_t more)
{
    if (rows == 0)
        return 0;
    return rows > UINT32_MAX - more ? UINT32_MAX : rows + more;
}

void run_ends_more(struct run_ends *ends, uint32_t more)
{
    ends->first = rows_asked(ends->first, more);
    ends->last = rows_asked(ends->last, more);
}

struct run_keys run_ends_equals(const struct run_ends *ends,
                                const struct run *run, uint64_t key)
{
    uint64_t behind = ones(bits_behind(ends, run));
    uint64_t code = ends->rough != 0 ? last_code(ends, run, key) : 0;

    return code != 0 ? rough_keys(ends, run, key, code)
                     : (struct run_keys){ key & ~behind, key | behind };
}

bool run_ends_cut(const struct run_ends *ends, const struct run *run,
                  uint64_t key)
{
    return !ends->alike && (ends->rough == 0 || last_code(ends, run, key) == 0);
}

/* The places in a part of the run whose first columns are those of a place. */
static struct equals equals_at(const struct run_ends *ends,
                               const struct run *run, struct equals part,
                               uint32_t place)
{
    uint64_t key = run_key(run, place);
    struct equals equals;

    equals.end =
        run_find(run, run_ends_equals(ends, run, key), 0, &equals.begin);
    equals.begin = equals.begin > part.begin ? equals.begin : part.begin;
    equals.end = equals.end < part.end ? equals.end : part.end;
    return equals;
}

/* Moves a row down the heap, whose greatest row is the first. */
static void sink(uint32_t *heap, uint32_t count, uint32_t row)
{
    uint32_t at = 0, below;

    while ((below = 2 * at + 1) < count) {
        below += below + 1 < count && heap[below + 1] > heap[below];
        if (heap[below] <= row)
            break;
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = row;
}

/* Moves the last row of a heap up. */
static void rise(uint32_t *heap, uint32_t at)
{
    uint32_t row = heap[at];

    for (; at > 0 && heap[(at - 1) / 2] < row; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = row;
}

/* Adds those `count` rows at some places that have the least numbers; there are
 * so many. */
static bool add_least(const struct run *run, struct equals places,
                      uint32_t count, struct vector *rows)
{
    size_t first = rows->count;
    uint32_t *heap;

    assert(count <= places.end - places.begin);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = run_row(run, places.begin + i);
        if (!vector_append(rows, &row, 1))
            return false;
        rise(VECTOR_ITEMS(rows, uint32_t) + first, i);
    }
    heap = VECTOR_ITEMS(rows, uint32_t) + first;
    for (uint32_t at = places.begin + count; count > 0 && at < places.end; at++)
        if (run_row(run, at) < heap[0])
            sink(heap, count, run_row(run, at));
    return true;
}

static bool add_all(const struct run *run, struct equals places,
                    struct vector *rows)
{
    return places.begin >= places.end
           || add_least(run, places, places.end - places.begin, rows);
}

/* How many of the equals of a row come, if these may be cut to `most`. */
static uint32_t count_equals(const struct run_ends *ends, const struct run *run,
                             uint32_t place, struct equals equals,
                             uint32_t most)
{
    return run_ends_cut(ends, run, run_key(run, place))
               ? most
               : equals.end - equals.begin;
}

static bool add_first(const struct run_ends *ends, const struct run *run,
                      struct equals part, struct vector *rows)
{
    uint32_t place = part.begin + ends->first - 1;
    struct equals last = equals_at(ends, run, part, place);
    uint32_t before = last.begin - part.begin;
    uint32_t count = count_equals(ends, run, place, last, ends->first - before);

    return add_all(run, (struct equals){ part.begin, last.begin }, rows)
           && add_least(run, last, count, rows);
}

static bool add_last(const struct run_ends *ends, const struct run *run,
                     struct equals part, struct vector *rows)
{
    uint32_t place = part.end - ends->last;
    struct equals first = equals_at(ends, run, part, place);
    uint32_t behind = part.end - first.end;
    uint32_t count = count_equals(ends, run, place, first, ends->last - behind);

    return add_all(run, (struct equals){ first.end, part.end }, rows)
           && add_least(run, first, count, rows);
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Leaves each of the rows from `first` on once. */
static void take_twice_out(struct vector *rows, size_t first)
{
    uint32_t *items = VECTOR_ITEMS(rows, uint32_t);
    size_t kept = first;

    qsort(items + first, rows->count - first, sizeof *items, compare_rows);
    for (size_t i = first; i < rows->count; i++)
        if (i == first || items[i] != items[i - 1])
            items[kept++] = items[i];
    rows->count = kept;
}

bool run_ends_add(const struct run_ends *ends, const struct run *run,
                  uint32_t begin, uint32_t end, struct vector *rows)
{
    struct equals part = { begin, end };
    size_t first = rows->count;
    bool done;

    assert(ends->columns <= run->column_count);
    if (end - begin <= ends->first || end - begin <= ends->last)
        return add_all(run, part, rows);
    done = ends->first == 0 || add_first(ends, run, part, rows);
    done = done && (ends->last == 0 || add_last(ends, run, part, rows));
    if (done && ends->first > 0 && ends->last > 0)
        take_twice_out(rows, first);
    return done;
}
