/* SPDX-License-Identifier: MIT */
/*
 * Makes key indexes (of bitmaps: key_bitmap.h). Threads share the rows, and
 * write slots atomically:
 *
 *   1. A slot that is not empty keeps its key, so that all rows of a key meet
 *      in one slot, whichever comes first.
 *   2. There the first of the rows stays, whichever comes last.
 *
 * Which of several keys gets which slot of a hashed index depends on the
 * threads; what is found does not.
 */
#include "exec/build_side/key_index.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/build_side/key_bitmap.h"

enum {
    DENSE_PER_ROW = 8,        /* slots for each row that are no waste: as
                               many bytes as a hashed index takes at most */
    DENSE_FREE = 1 << 18,     /* ... and so many more                      */
    GPU_DENSE_FREE = 1 << 24, /* ... on a GPU, which clears them in no time
                                 (H200, SSB 2.1: 2.7 ms dense, 3.4 hashed) */
    FILTER_SLOTS_LEAST =
        1 << 15,             /* of a dense index there: fewer lie near    */
    FILTER_PER_ROW = 4,      /* ... slots for each row: with fewer, most
                                 keys are there                            */
    DENSE_MAX = 1 << 30,     /* ... which the machine counts in 31 bits   */
    BITS_PER_ROW = 128,      /* of a bitmap whose rows lie in order: as many
                               bytes as a hashed index takes at most       */
    BITS_PER_ROW_MIXED = 96, /* ... elsewhere, beside the rows' numbers   */
    BITS_FREE = 1 << 21,     /* ... and of any bitmap: a core's own cache
                               holds it, and no branch depends on a key    */
    SLOTS_PER_ROW = 2,       /* of a hashed index, at least               */
    SLOTS_LEAST = 64,
    AHEAD = 16,           /* keys whose slots are fetched before use     */
    CLEAR_BYTES = 1 << 20 /* between two asks to stop                    */
};

struct filling {
    const struct key_index *index;   /* its plan: kind, base and slots */
    const struct key_column *column; /* the keys */
    void *slots;                     /* of the whole index */
    u32 *filter;      /* behind the slots; NULL: there is none        */
    unsigned threads; /* that share the rows */
};

/* ---------------------------------------------------------------- plan -- */

/* At least twice as many slots as rows, a power of two. */
static struct key_index plan_hashed(uint64_t rows, bool filtered)
{
    uint64_t count = SLOTS_LEAST;
    while (count < rows * SLOTS_PER_ROW)
        count *= 2;
    assert((count & (count - 1)) == 0 && count > rows);
    return (struct key_index){ .kind = INDEX_HASHED,
                               .count = count,
                               .filtered = filtered };
}

/* A bit for each of `span` + 1 keys, where that takes less memory than another
 * kind, or little: then more of it is in the caches; false: it would take
 * more. */
static bool plan_bitmap(const struct key_column *column, uint64_t span,
                        unsigned threads, struct key_index *index)
{
    uint64_t rows = column->rows;
    bool dense = span < rows * DENSE_PER_ROW + DENSE_FREE;
    bool little = span < BITS_FREE && !dense;
    bool in_order = (span < rows * BITS_PER_ROW || little) && span < BITMAP_MAX
                    && key_bitmap_in_order(column, threads);
    *index = (struct key_index){ .kind = INDEX_BITMAP,
                                 .base = column->low,
                                 .count = span + 1,
                                 .in_order = in_order };
    bool near = span < rows * BITS_PER_ROW_MIXED && span < BITMAP_MAX;
    return in_order || little || (near && !dense);
}

/* Whether a dense index has a filter. Most keys that are sought are in no slot then:
 * a GPU reads of 32 bytes of the slots for each, which come from afar, one bit of
 * what its cores have near. */
static bool is_filtered(const struct key_column *column, uint64_t span)
{
    return span >= FILTER_SLOTS_LEAST
           && column->rows * FILTER_PER_ROW <= span + 1;
}

struct key_index key_index_plan(const struct key_column *column, bool on_gpu,
                                unsigned threads)
{
    uint64_t span = (uint64_t)column->high - (uint64_t)column->low;
    assert(column->rows <= KEY_ROWS_MAX);
    if (column->low > column->high)
        return (struct key_index){ .kind = INDEX_DENSE };
    struct key_index bitmap;
    if (!on_gpu && column->values != NULL
        && plan_bitmap(column, span, threads, &bitmap))
        return bitmap;
    uint64_t free = on_gpu ? GPU_DENSE_FREE : DENSE_FREE;
    if (span >= column->rows * DENSE_PER_ROW + free || span >= DENSE_MAX)
        return plan_hashed(column->rows, !on_gpu && column->values != NULL);
    return (struct key_index){ .kind = INDEX_DENSE,
                               .base = column->low,
                               .count = span + 1,
                               .filtered =
                                   on_gpu && is_filtered(column, span) };
}

/* Bytes of the filter behind its slots. */
static uint64_t filter_bytes(const struct key_index *index)
{
    if (!index->filtered)
        return 0;
    return sizeof(u32)
           * (index->kind == INDEX_DENSE ? DENSE_FILTER_WORDS(index->count)
                                         : index->count / FILTER_SLOTS);
}

uint64_t key_index_bytes(const struct key_index *index,
                         const struct key_column *column)
{
    if (index->kind == INDEX_BITMAP)
        return key_bitmap_bytes(index, column);
    return index->count
               * (index->kind == INDEX_DENSE ? sizeof(u32) : sizeof(u64))
           + filter_bytes(index);
}

/* ---------------------------------------------------------------- fill -- */

/* Where a thread's share of so many things begins. */
static uint64_t share_of(const struct filling *filling, uint64_t count,
                         unsigned i)
{
    assert(i <= filling->threads);
    return i < filling->threads ? count / filling->threads * i : count;
}

/* Clears a thread's share of all bytes, some at a time. */
static void clear_share(void *context, unsigned i)
{
    const struct filling *filling = context;
    uint64_t bytes = key_index_bytes(filling->index, filling->column);
    uint64_t end = share_of(filling, bytes, i + 1);
    for (uint64_t at = share_of(filling, bytes, i), some;
         at < end && !stop_asked(); at += some) {
        some = end - at < CLEAR_BYTES ? end - at : CLEAR_BYTES;
        memset((u8 *)filling->slots + at, 0, some);
    }
}

/* Sets a bit of a word of the filter. */
static inline void set_bit(u32 *bits, unsigned number)
{
    u32 bit = (u32)1 << number;
    if ((__atomic_load_n(bits, __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(bits, bit, __ATOMIC_RELAXED);
}

/* Puts a thread's rows into the slots of their keys. */
static inline void fill_dense(const struct filling *filling, bool wide,
                              uint64_t row, uint64_t end)
{
    const struct key_column *column = filling->column;
    uint64_t base = (uint64_t)filling->index->base;
    for (; row < end && !stop_at(row); row++) {
        if (!key_column_has(column, row))
            continue;
        uint64_t at = (uint64_t)key_column_at(column, wide, row) - base;
        assert(at < filling->index->count);
        u32 *slot = (u32 *)filling->slots + at;
        if (filling->filter != NULL)
            set_bit(&filling->filter[at / 32], at % 32);
        u32 found = __atomic_load_n(slot, __ATOMIC_RELAXED);
        if (filling->threads == 1) {
            *slot = found != 0 ? found : (u32)row + 1;
            continue;
        }
        while ((found == 0 || row + 1 < found)
               && !__atomic_compare_exchange_n(slot, &found, (u32)row + 1, true,
                                               __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED))
            continue;
    }
}

/* Whether a slot that is not empty has the key. */
static inline bool has_key(const struct key_column *column, bool wide, u64 slot,
                           u64 entry, int64_t key)
{
    return slot >> 32 == entry >> 32
           && (!wide || key_column_at(column, wide, (u32)slot - 1) == key);
}

/* What a slot holds for a row. */
static inline u64 entry_of(bool wide, int64_t key, uint64_t row)
{
    u32 tag = wide ? hash_tag((u64)key) : (u32)key;
    return (u64)tag << 32 | (row + 1);
}

/* Puts a row into slot `at`, if that is empty or has its key; false: another
 * key has it. */
static inline bool put(const struct filling *filling, bool wide, u64 *slot,
                       int64_t key, uint64_t row)
{
    u64 entry = entry_of(wide, key, row);
    u64 found = __atomic_load_n(slot, __ATOMIC_RELAXED);
    for (;;) {
        if (found != 0 && !has_key(filling->column, wide, found, entry, key))
            return false;
        if (found != 0 && found <= entry)
            return true; /* tags are equal: the lower one is the first row */
        if (filling->threads == 1) /* found: 0 */
            *slot = found = entry;
        else if (__atomic_compare_exchange_n(slot, &found, entry, true,
                                             __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
            return true;
    }
}

/* Puts a row into slot `at` or the first one behind that takes it: half of the
 * slots are empty. */
static inline void place(const struct filling *filling, bool wide, uint64_t row,
                         uint64_t at)
{
    int64_t key = key_column_at(filling->column, wide, row);
    u64 *slots = filling->slots, mask = filling->index->count - 1;
    while (!put(filling, wide, &slots[at], key, row))
        at = (at + 1) & mask;
}

/* Puts a thread's rows into slots, some at a time. */
static inline void fill_hashed(const struct filling *filling, bool wide,
                               uint64_t row, uint64_t end)
{
    const struct key_column *column = filling->column;
    u64 mask = filling->index->count - 1, *slots = filling->slots;
    uint64_t since = 0;
    while (row < end && !stop_after(&since, AHEAD)) {
        u64 hashes[AHEAD];
        uint32_t rows[AHEAD];
        unsigned count = 0;
        for (unsigned i = 0; row < end && i < AHEAD; i++, row++) {
            u64 hash = hash_key((u64)key_column_at(column, wide, row));
            rows[count] = (uint32_t)row;
            hashes[count] = hash;
            count += key_column_has(column, row);
            __builtin_prefetch(&slots[hash & mask], 1);
            if (filling->filter != NULL)
                __builtin_prefetch(
                    &filling->filter[(hash & mask) / FILTER_SLOTS], 1);
        }
        for (unsigned i = 0; i < count; i++) {
            place(filling, wide, rows[i], hashes[i] & mask);
            if (filling->filter != NULL)
                set_bit(&filling->filter[(hashes[i] & mask) / FILTER_SLOTS],
                        FILTER_BIT(hashes[i] & mask, hashes[i]));
        }
    }
}

/* Runs the loop that fits kind and width, each compiled by itself. */
static void fill_share(void *context, unsigned i)
{
    const struct filling *filling = context;
    uint64_t row = share_of(filling, filling->column->rows, i);
    uint64_t end = share_of(filling, filling->column->rows, i + 1);
    bool wide = filling->column->width == sizeof(int64_t);
    assert(wide || filling->column->width == sizeof(int32_t));
    if (filling->index->kind == INDEX_DENSE && wide)
        fill_dense(filling, true, row, end);
    else if (filling->index->kind == INDEX_DENSE)
        fill_dense(filling, false, row, end);
    else if (wide)
        fill_hashed(filling, true, row, end);
    else
        fill_hashed(filling, false, row, end);
}

/* Where the filter begins. */
static u32 *filter_of(const struct key_index *index, void *slots)
{
    if (!index->filtered)
        return NULL;
    return index->kind == INDEX_DENSE ? (u32 *)slots + index->count
                                      : (u32 *)((u64 *)slots + index->count);
}

void key_index_fill(const struct key_index *index,
                    const struct key_column *column, unsigned threads,
                    void *slots)
{
    if (index->kind == INDEX_BITMAP) {
        key_bitmap_fill(index, column, threads, slots);
        return;
    }
    struct filling filling = { .index = index,
                               .column = column,
                               .slots = slots,
                               .filter = filter_of(index, slots),
                               .threads = parallel_threads(
                                   threads, column->rows + index->count) };
    parallel_run(filling.threads, clear_share, &filling);
    if (!stop_asked()) /* else some slots have any content */
        parallel_run(filling.threads, fill_share, &filling);
}
