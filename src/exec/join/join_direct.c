/* SPDX-License-Identifier: MIT */
/*
 * Dense indexes of unique keys, made without bringing rows into partitions:
 * every thread goes over the tags of all rows, and takes those of its range.
 * The first row that equals another one ends it.
 */
#include "exec/join/join_direct.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"

enum {
    THREADS_MAX = 8, /* with more, going over all tags costs each too much */
    WORD_TAGS = 64   /* tags of a word of bits                             */
};

struct filling {
    const struct join_index *index; /* that is filled */
    uint64_t rows;                  /* of the right side */
    unsigned threads;               /* each has a range of the tags */
    /* two rows have one key: this index cannot hold them */
    atomic_bool repeated;
};

/* The tags that a thread takes, [first, first + count). */
struct range {
    uint32_t first, count; /* tag */
};

/* Ranges end at whole words of bits, so that no two threads write one. */
static struct range range_of(const struct filling *filling, unsigned share)
{
    uint64_t tags = filling->index->keys->tags;
    uint64_t dictionary = tags / WORD_TAGS + 1;
    uint64_t first = dictionary * share / filling->threads * WORD_TAGS;
    uint64_t end = dictionary * (share + 1) / filling->threads * WORD_TAGS;
    end = end < tags ? end : tags;
    assert(first <= end || filling->threads > 1);
    return (struct range){ (uint32_t)first, (uint32_t)(end - first) };
}

/* Which of a block's rows have tags of the range: how many. */
static unsigned select_rows(struct range range, const uint32_t *tags,
                            unsigned count, uint16_t *selected)
{
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++) {
        selected[n] = (uint16_t)i;
        n += tags[i] - range.first < range.count;
    }
    return n;
}

/* Puts rows, which are numbered from `first` on, in their places; whether one
 * was taken. */
static bool put_rows(uint32_t *rows, const uint32_t *tags, uint64_t first,
                     const uint16_t *selected, unsigned count)
{
    uint32_t before = ROW_SET_NO_ROW;
    for (unsigned i = 0; i < count; i++) {
        uint32_t *place = &rows[tags[selected[i]]];
        before &= *place;
        *place = (uint32_t)first + selected[i];
    }
    return before != ROW_SET_NO_ROW;
}

/* Sets the bit of every tag; true: one was set already. */
static bool put_bits(uint64_t *bits, const uint32_t *tags,
                     const uint16_t *selected, unsigned count)
{
    uint64_t before = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t tag = tags[selected[i]];
        uint64_t *word = &bits[tag / WORD_TAGS];
        uint64_t bit = (uint64_t)1 << tag % WORD_TAGS;
        before |= *word & bit;
        *word |= bit;
    }
    return before != 0;
}

/* Clears the range; the last one with the tag that no row has. */
static void clear(const struct join_index *index, struct range range, bool last)
{
    uint64_t end = (uint64_t)range.first + range.count + last;
    for (uint64_t i = range.first; index->starts != NULL && i < end; i++)
        index->starts[i] = ROW_SET_NO_ROW;
    for (uint64_t i = range.first; index->bits != NULL && i < end;
         i += WORD_TAGS)
        index->bits[i / WORD_TAGS] = 0;
}

/* One thread's tags: it reads all rows and takes its own. */
static void fill_share(void *context, unsigned share)
{
    struct filling *filling = context;
    const struct join_index *index = filling->index;
    struct range range = range_of(filling, share);
    uint32_t tags[JOIN_BLOCK];
    uint16_t selected[JOIN_BLOCK];
    clear(index, range, share + 1 == filling->threads);
    for (uint64_t at = 0; at < filling->rows; at += JOIN_BLOCK) {
        if (atomic_load_explicit(&filling->repeated, memory_order_relaxed)
            || stop_at(at))
            return;
        unsigned count =
            join_tags_indexed(index->keys, at, filling->rows, tags);
        count = select_rows(range, tags, count, selected);
        bool taken = index->bits != NULL
                         ? put_bits(index->bits, tags, selected, count)
                         : put_rows(index->starts, tags, at, selected, count);
        if (taken && !index->once)
            atomic_store(&filling->repeated, true);
    }
}

bool join_direct_pays(const struct join_index *index, unsigned threads)
{
    return index->dense && threads <= THREADS_MAX;
}

enum vdbq_status join_direct(struct join_index *index, bool which,
                             uint64_t rows, unsigned threads, bool *unique,
                             struct error *error)
{
    assert(join_direct_pays(index, threads));
    struct filling filling = { .index = index,
                               .rows = rows,
                               .threads = threads };
    uint64_t tags = index->keys->tags + 1;
    if (which)
        index->starts = memory_spread(NULL, tags * sizeof *index->starts);
    else
        index->bits =
            memory_spread(NULL, (tags / WORD_TAGS + 1) * sizeof *index->bits);
    if (index->starts == NULL && index->bits == NULL)
        return error_no_memory(error);
    parallel_run(threads, fill_share, &filling);
    *unique = !atomic_load(&filling.repeated);
    return stop_pause(error);
}
