/* SPDX-License-Identifier: MIT */
/*
 * Makes bitmap indexes. Where rows lie in the order of their keys, each thread
 * writes some slots from the rows that are theirs. Elsewhere threads share the
 * rows: all set their bits, then the slots are counted, and then, of the rows
 * of a rank, the first one is put in its place. What several threads write is
 * written atomically.
 */
#include "exec/build_side/key_bitmap.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/bits.h"

struct mapping {
    const struct key_index *index;   /* its plan */
    const struct key_column *column; /* the keys */
    bool wide;                       /* keys have 64 bits */
    u64 *slots;                      /* of the index */
    uint64_t slot_count;             /* of `slots` */
    u32 *rows;                       /* of each rank, behind the slots */
    unsigned threads;
    uint64_t before[PARALLEL_THREADS_MAX]; /* bits before a thread's slots */
};

static uint64_t slots_of(const struct key_index *index)
{
    return (index->count + BITMAP_KEYS - 1) / BITMAP_KEYS;
}

uint64_t key_bitmap_bytes(const struct key_index *index,
                          const struct key_column *column)
{
    assert(index->kind == INDEX_BITMAP && index->count <= BITMAP_MAX);
    return slots_of(index) * sizeof(u64)
           + (index->in_order ? 0 : column->rows * sizeof(u32));
}

/* Where a thread's share of so many things begins. */
static uint64_t share_of(const struct mapping *mapping, uint64_t count,
                         unsigned i)
{
    assert(i <= mapping->threads);
    return i < mapping->threads ? count / mapping->threads * i : count;
}

/* ------------------------------------------------------------ in order -- */

/* Keys whose order threads look at. */
struct ordering {
    const struct key_column *column; /* the keys */
    unsigned threads;                /* that share them */
    atomic_bool falls; /* a key is NULL, or not above the one before */
};

/* Whether keys [row, end] ascend and none is NULL: without a way out in
 * between. */
static inline bool ascends(const struct key_column *column, bool wide,
                           uint64_t row, uint64_t end)
{
    bool falls = column->nulls != NULL
                 && memchr(column->nulls + row, 1, end - row + 1) != NULL;
    for (; row < end; row++)
        falls |= key_column_at(column, wide, row)
                 >= key_column_at(column, wide, row + 1);
    return !falls;
}

/* Looks at a thread's rows, some at a time, and at the one behind them, until
 * any thread knows. */
static void look_share(void *context, unsigned i)
{
    struct ordering *ordering = context;
    const struct key_column *column = ordering->column;
    uint64_t last = column->rows - 1;
    uint64_t row = last * i / ordering->threads;
    uint64_t end = last * (i + 1) / ordering->threads;
    while (row <= end && !atomic_load(&ordering->falls)) {
        uint64_t stop = end - row < STOP_ROWS ? end : row + STOP_ROWS;
        bool good = column->width == sizeof(int64_t)
                        ? ascends(column, true, row, stop)
                        : ascends(column, false, row, stop);
        if (!good || stop_asked())
            atomic_store(&ordering->falls, true);
        row = stop < end ? stop : end + 1;
    }
}

bool key_bitmap_in_order(const struct key_column *column, unsigned threads)
{
    struct ordering ordering = { .column = column,
                                 .threads =
                                     parallel_threads(threads, column->rows) };
    assert(column->values != NULL);
    if (column->rows > 0)
        parallel_run(ordering.threads, look_share, &ordering);
    return !ordering.falls;
}

/* The first row whose key is not below; keys ascend. */
static uint64_t first_row(const struct mapping *mapping, int64_t key)
{
    uint64_t low = 0, high = mapping->column->rows;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (key_column_at(mapping->column, mapping->wide, middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Writes a thread's slots. */
static inline void write_slots(const struct mapping *mapping, bool wide,
                               uint64_t slot, uint64_t end)
{
    const struct key_column *column = mapping->column;
    uint64_t base = (uint64_t)mapping->index->base;
    uint64_t row = first_row(mapping, (int64_t)(base + slot * BITMAP_KEYS));
    for (; slot < end && !stop_at(slot); slot++) {
        u64 written = row << 32;
        for (; row < column->rows; row++) {
            uint64_t at = (uint64_t)key_column_at(column, wide, row) - base;
            if (at / BITMAP_KEYS != slot)
                break;
            written |= (u64)1 << at % BITMAP_KEYS;
        }
        mapping->slots[slot] = written;
    }
}

static void write_share(void *context, unsigned i)
{
    const struct mapping *mapping = context;
    uint64_t slot = share_of(mapping, mapping->slot_count, i);
    uint64_t end = share_of(mapping, mapping->slot_count, i + 1);
    if (mapping->wide)
        write_slots(mapping, true, slot, end);
    else
        write_slots(mapping, false, slot, end);
}

/* ------------------------------------------------------------ any order -- */

/* The place of a row's key among the bits. */
static uint64_t place_of(const struct mapping *mapping, uint64_t row)
{
    return (uint64_t)key_column_at(mapping->column, mapping->wide, row)
           - (uint64_t)mapping->index->base;
}

static void clear_share(void *context, unsigned i)
{
    const struct mapping *mapping = context;
    uint64_t slot = share_of(mapping, mapping->slot_count, i);
    uint64_t end = share_of(mapping, mapping->slot_count, i + 1);
    uint64_t row = share_of(mapping, mapping->column->rows, i);
    uint64_t row_end = share_of(mapping, mapping->column->rows, i + 1);
    memset(mapping->slots + slot, 0, (end - slot) * sizeof(u64));
    memset(mapping->rows + row, 0xff, (row_end - row) * sizeof(u32));
}

/* Gives each row of a thread's share that has a key, and the key's place. */
static inline void each_key(const struct mapping *mapping, unsigned i,
                            void (*take)(const struct mapping *mapping,
                                         uint64_t row, uint64_t at))
{
    const struct key_column *column = mapping->column;
    uint64_t end = share_of(mapping, column->rows, i + 1);
    for (uint64_t row = share_of(mapping, column->rows, i);
         row < end && !stop_at(row); row++)
        if (key_column_has(column, row))
            take(mapping, row, place_of(mapping, row));
}

static void set_bit(const struct mapping *mapping, uint64_t row, uint64_t at)
{
    u64 *slot = &mapping->slots[at / BITMAP_KEYS];
    u64 bit = (u64)1 << at % BITMAP_KEYS;
    (void)row;
    if ((__atomic_load_n(slot, __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(slot, bit, __ATOMIC_RELAXED);
}

/* Sets the bits of a thread's rows. */
static void set_share(void *context, unsigned i)
{
    each_key(context, i, set_bit);
}

/* Counts the bits of a thread's slots, for the slots behind. */
static void count_share(void *context, unsigned i)
{
    struct mapping *mapping = context;
    uint64_t end = share_of(mapping, mapping->slot_count, i + 1), count = 0;
    for (uint64_t slot = share_of(mapping, mapping->slot_count, i); slot < end;
         slot++)
        count += bits_count((u32)mapping->slots[slot]);
    if (i + 1 < mapping->threads)
        mapping->before[i + 1] = count;
}

/* Writes how many bits come before each of a thread's slots. */
static void rank_share(void *context, unsigned i)
{
    const struct mapping *mapping = context;
    uint64_t end = share_of(mapping, mapping->slot_count, i + 1);
    uint64_t before = mapping->before[i];
    for (uint64_t slot = share_of(mapping, mapping->slot_count, i); slot < end;
         slot++) {
        u32 bits = (u32)mapping->slots[slot];
        mapping->slots[slot] = before << 32 | bits;
        before += bits_count(bits);
    }
}

/* Puts a row in the place of its rank, unless one before it is there. */
static void put(const struct mapping *mapping, uint64_t row, uint64_t at)
{
    u64 slot = mapping->slots[at / BITMAP_KEYS];
    u32 below = (u32)slot & (((u32)1 << at % BITMAP_KEYS) - 1);
    u32 *place = &mapping->rows[(slot >> 32) + bits_count(below)];
    u32 found = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (row < found
           && !__atomic_compare_exchange_n(place, &found, (u32)row, true,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* Puts a thread's rows in the places of their ranks. */
static void put_share(void *context, unsigned i)
{
    each_key(context, i, put);
}

/* The steps one after another: each needs all of the one before. */
static void fill_mixed(struct mapping *mapping)
{
    parallel_run(mapping->threads, clear_share, mapping);
    parallel_run(mapping->threads, set_share, mapping);
    if (stop_asked())
        return; /* rows whose keys have no bit have no place */
    parallel_run(mapping->threads, count_share, mapping);
    for (unsigned i = 1; i < mapping->threads; i++)
        mapping->before[i] += mapping->before[i - 1];
    parallel_run(mapping->threads, rank_share, mapping);
    parallel_run(mapping->threads, put_share, mapping);
}

void key_bitmap_fill(const struct key_index *index,
                     const struct key_column *column, unsigned threads,
                     void *slots)
{
    uint64_t work = column->rows + slots_of(index);
    struct mapping mapping = { .index = index,
                               .column = column,
                               .wide = column->width == sizeof(int64_t),
                               .slots = slots,
                               .slot_count = slots_of(index),
                               .threads = parallel_threads(threads, work) };
    assert(index->kind == INDEX_BITMAP && column->values != NULL);
    mapping.rows = (u32 *)(mapping.slots + mapping.slot_count);
    if (index->in_order)
        parallel_run(mapping.threads, write_share, &mapping);
    else
        fill_mixed(&mapping);
}
