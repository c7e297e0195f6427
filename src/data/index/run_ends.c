/* SPDX-License-Identifier: MIT */
/*
 * An end is places that are taken whole, and some of a group of equal values:
 * those of its rows that have the least numbers, which a heap picks.
 */
#include "data/index/run_ends.h"

#include <assert.h>

/* Places of equal values, and around them the part of the run. */
struct equals {
    uint32_t begin, end;
};

uint64_t run_ends_behind(const struct run_ends *ends, const struct run *run)
{
    unsigned bits = 0;

    for (unsigned i = ends->columns; i < run->column_count; i++)
        bits += run->columns[i].bits;
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

/* The places in a part of the run whose first columns are those of a place. */
static struct equals equals_at(const struct run_ends *ends,
                               const struct run *run, struct equals part,
                               uint32_t place)
{
    uint64_t key = run_key(run, place), behind = run_ends_behind(ends, run);
    struct equals equals;

    equals.end = run_find(run, (struct run_keys){ key & ~behind, key | behind },
                          0, &equals.begin);
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

static bool add_first(const struct run_ends *ends, const struct run *run,
                      struct equals part, struct vector *rows)
{
    struct equals last =
        equals_at(ends, run, part, part.begin + ends->first - 1);
    uint32_t before = last.begin - part.begin;

    return add_all(run, (struct equals){ part.begin, last.begin }, rows)
           && add_least(run, last, ends->first - before, rows);
}

static bool add_last(const struct run_ends *ends, const struct run *run,
                     struct equals part, struct vector *rows)
{
    struct equals first = equals_at(ends, run, part, part.end - ends->last);
    uint32_t behind = part.end - first.end;

    return add_all(run, (struct equals){ first.end, part.end }, rows)
           && add_least(run, first, ends->last - behind, rows);
}

/* Takes rows out, from `second` on, that are among those from `first` on. */
static void take_out(struct vector *rows, size_t first, size_t second)
{
    uint32_t *items = VECTOR_ITEMS(rows, uint32_t);
    size_t kept = second;

    for (size_t i = second; i < rows->count; i++) {
        bool there = false;
        for (size_t k = first; k < second && !there; k++)
            there = items[k] == items[i];
        if (!there)
            items[kept++] = items[i];
    }
    rows->count = kept;
}

bool run_ends_add(const struct run_ends *ends, const struct run *run,
                  uint32_t begin, uint32_t end, struct vector *rows)
{
    struct equals part = { begin, end };
    size_t first = rows->count, second;
    bool done;

    assert(ends->columns <= run->column_count);
    if (end - begin <= ends->first || end - begin <= ends->last)
        return add_all(run, part, rows);
    done = ends->first == 0 || add_first(ends, run, part, rows);
    second = rows->count;
    done = done && (ends->last == 0 || add_last(ends, run, part, rows));
    if (done && ends->first > 0 && ends->last > 0)
        take_out(rows, first, second);
    return done;
}
