/* SPDX-License-Identifier: MIT */
/*
 * Makes key indexes (of bitmaps: key_bitmap.h). Every thread goes over all keys
 * and takes those whose slots lie in its part, so that none waits for another
 * and the rows of a key come in their order: the first one stays. A run of
 * hashed slots that would leave its part is finished when all threads have
 * ended.
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
    DENSE_MAX = 1 << 30,      /* ... which the machine counts in 31 bits   */
    BITS_PER_ROW = 128,       /* of a bitmap whose rows lie in order: as many
                               bytes as a hashed index takes at most       */
    BITS_PER_ROW_MIXED = 96,  /* ... elsewhere, beside the rows' numbers   */
    BITS_FREE = 1 << 21,      /* ... and of any bitmap: a core's own cache
                               holds it, and no branch depends on a key    */
    SLOTS_PER_ROW = 2,        /* of a hashed index, at least               */
    SLOTS_LEAST = 64,
    AHEAD = 16 /* keys whose slots are fetched before use   */
};

/* The slots that a thread fills, and what it could not place. */
struct part {
    uint64_t first, end; /* slot of the part, and the one behind its last */
    uint32_t late; /* the row whose run left the part first; 0: none      */
};

struct filling {
    const struct key_index *index;   /* its plan: kind, base and slots */
    const struct key_column *column; /* the keys */
    void *slots;                     /* of the whole index */
    unsigned threads;
    struct part parts[PARALLEL_THREADS_MAX]; /* one a thread */
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
                        struct key_index *index)
{
    uint64_t rows = column->rows;
    bool dense = span < rows * DENSE_PER_ROW + DENSE_FREE;
    bool little = span < BITS_FREE && !dense;
    bool in_order = (span < rows * BITS_PER_ROW || little) && span < BITMAP_MAX
                    && key_bitmap_in_order(column);
    *index = (struct key_index){ .kind = INDEX_BITMAP,
                                 .base = column->low,
                                 .count = span + 1,
                                 .in_order = in_order };
    bool near = span < rows * BITS_PER_ROW_MIXED && span < BITMAP_MAX;
    return in_order || little || (near && !dense);
}

struct key_index key_index_plan(const struct key_column *column, bool on_gpu)
{
    uint64_t span = (uint64_t)column->high - (uint64_t)column->low;
    assert(column->rows <= KEY_ROWS_MAX);
    if (column->low > column->high)
        return (struct key_index){ .kind = INDEX_DENSE };
    struct key_index bitmap;
    if (!on_gpu && column->values != NULL && plan_bitmap(column, span, &bitmap))
        return bitmap;
    uint64_t free = on_gpu ? GPU_DENSE_FREE : DENSE_FREE;
    if (span >= column->rows * DENSE_PER_ROW + free || span >= DENSE_MAX)
        return plan_hashed(column->rows, !on_gpu && column->values != NULL);
    return (struct key_index){ .kind = INDEX_DENSE,
                               .base = column->low,
                               .count = span + 1 };
}

uint64_t key_index_bytes(const struct key_index *index,
                         const struct key_column *column)
{
    if (index->kind == INDEX_BITMAP)
        return key_bitmap_bytes(index, column);
    return index->count
               * (index->kind == INDEX_DENSE ? sizeof(u32) : sizeof(u64))
           + (index->filtered ? index->count / FILTER_SLOTS * sizeof(u32) : 0);
}

/* ---------------------------------------------------------------- fill -- */

/* Every thread reads all rows and writes those of its own slots, so that the
   first row of a key wins in every division into parts. */
static inline void fill_dense(const struct filling *filling, bool wide,
                              const struct part *part)
{
    const struct key_column *column = filling->column;
    uint64_t base = (uint64_t)filling->index->base + part->first;
    uint64_t count = part->end - part->first;
    u32 *slots = (u32 *)filling->slots + part->first;
    assert(part->first <= part->end && part->end <= filling->index->count);
    memset(slots, 0, count * sizeof *slots);
    for (uint64_t row = 0; row < column->rows && !stop_at(row); row++) {
        uint64_t at = (uint64_t)key_column_at(column, wide, row) - base;
        if (at < count && key_column_has(column, row) && slots[at] == 0)
            slots[at] = (u32)row + 1;
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

/* Puts a row into slot `at` or the first empty one behind, unless its key is
 * there; false: that is not below `end`. */
static inline bool put(const struct filling *filling, bool wide, uint64_t row,
                       uint64_t at, uint64_t end)
{
    const struct key_column *column = filling->column;
    int64_t key = key_column_at(column, wide, row);
    u64 entry = entry_of(wide, key, row);
    u64 *slots = filling->slots;
    while (at < end && slots[at] != 0
           && !has_key(column, wide, slots[at], entry, key))
        at++;
    if (at < end && slots[at] == 0)
        slots[at] = entry;
    return at < end;
}

/* Sets the bits of a part's keys in the filter, which lies behind the slots. */
static inline void fill_filter(const struct filling *filling, bool wide,
                               const struct part *part)
{
    const struct key_column *column = filling->column;
    u64 mask = filling->index->count - 1;
    u32 *filter = (u32 *)((u64 *)filling->slots + filling->index->count);
    assert(part->first % FILTER_SLOTS == 0 && part->end % FILTER_SLOTS == 0);
    memset(filter + part->first / FILTER_SLOTS, 0,
           (part->end - part->first) / FILTER_SLOTS * sizeof *filter);
    for (uint64_t row = 0; row < column->rows; row++) {
        u64 hash = hash_key((u64)key_column_at(column, wide, row));
        u64 at = hash & mask;
        if (at >= part->first && at < part->end && key_column_has(column, row))
            filter[at / FILTER_SLOTS] |= (u32)1 << FILTER_BIT(at, hash);
    }
}

/* Rows whose slots lie in the part, some at a time. */
static inline void fill_hashed(struct filling *filling, bool wide,
                               struct part *part)
{
    const struct key_column *column = filling->column;
    u64 mask = filling->index->count - 1, *slots = filling->slots;
    uint64_t since = 0;
    memset(slots + part->first, 0, (part->end - part->first) * sizeof *slots);
    for (uint64_t row = 0; row < column->rows && !stop_after(&since, AHEAD);) {
        uint64_t places[AHEAD];
        uint32_t rows[AHEAD];
        unsigned count = 0;
        for (; row < column->rows && count < AHEAD; row++) {
            u64 at = hash_key((u64)key_column_at(column, wide, row)) & mask;
            rows[count] = (uint32_t)row;
            places[count] = at;
            count += at >= part->first && at < part->end
                     && key_column_has(column, row);
        }
        for (unsigned i = 0; i < count; i++)
            __builtin_prefetch(&slots[places[i]], 1);
        for (unsigned i = 0; i < count; i++)
            if (!put(filling, wide, rows[i], places[i], part->end)
                && part->late == 0)
                part->late = rows[i] + 1;
    }
}

/* Runs the loop that fits kind and width, each compiled by itself. */
static void fill_part(void *context, unsigned i)
{
    struct filling *filling = context;
    assert(filling->column->width == sizeof(int64_t)
           || filling->column->width == sizeof(int32_t));
    struct part *part = &filling->parts[i];
    bool wide = filling->column->width == sizeof(int64_t);
    bool dense = filling->index->kind == INDEX_DENSE;
    if (dense && wide)
        fill_dense(filling, true, part);
    else if (dense)
        fill_dense(filling, false, part);
    else if (wide)
        fill_hashed(filling, true, part);
    else
        fill_hashed(filling, false, part);
    if (filling->index->filtered && wide)
        fill_filter(filling, true, part);
    else if (filling->index->filtered)
        fill_filter(filling, false, part);
}

/* Places the rows of a part whose runs left it, from the first such row on:
 * what of them is placed already is found. */
static void finish_part(struct filling *filling, const struct part *part)
{
    const struct key_column *column = filling->column;
    bool wide = column->width == sizeof(int64_t);
    u64 count = filling->index->count;
    for (uint64_t row = part->late - 1; row < column->rows && !stop_at(row);
         row++) {
        int64_t key = key_column_at(column, wide, row);
        u64 at = hash_key((u64)key) & (count - 1);
        if (at < part->first || at >= part->end || !key_column_has(column, row))
            continue;
        if (!put(filling, wide, row, at, count))
            put(filling, wide, row, 0, count);
    }
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
                               .slots = slots };
    threads = parallel_threads(threads, index->count);
    assert(threads > 0);
    u64 each = index->count / threads / FILTER_SLOTS * FILTER_SLOTS;
    for (unsigned i = 0; i < threads; i++) {
        filling.parts[i].first = each * i;
        filling.parts[i].end = i + 1 < threads ? each * (i + 1) : index->count;
    }
    parallel_run(threads, fill_part, &filling);
    for (unsigned i = 0; i < threads; i++)
        if (filling.parts[i].late > 0)
            finish_part(&filling, &filling.parts[i]);
}
