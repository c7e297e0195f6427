/* SPDX-License-Identifier: MIT */
/*
 * Joining dictionaries: the order of texts is cut into pieces of about as many
 * words; a thread merges what all parts have in one piece. Once it is known how
 * many words there are they are written, the pieces one behind the other.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/dictionary_merge.h"
#include "data/tablet/dictionary_sort.h"

/* -------------------------------------------------------------- pieces -- */

/* What all parts have between two texts, and what becomes of it. */
struct piece {
    struct merge_span *spans; /* one a part */
    struct merge merge;       /* of them    */
    bool done;
    uint32_t count, bytes; /* words and bytes of the pieces before */
};

struct pieces {
    struct dictionary *const *parts;
    size_t part_count;
    uint32_t *const *numbers; /* of all parts' words */
    struct piece *pieces;
    unsigned count;
    struct dictionary *dictionary; /* of all */
    struct arena arena;
};

static uint32_t words_of(const struct dictionary *part)
{
    return part != NULL ? part->count : 0;
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct vdbq_text *)a,
                        *(const struct vdbq_text *)b);
}

/* Words of all parts, one in so many of each, in their order: `*count` of them.
 * NULL: no memory. */
static struct vdbq_text *take_sample(struct pieces *pieces, uint64_t every,
                                     size_t *count)
{
    size_t most = 1;
    for (size_t i = 0; i < pieces->part_count; i++)
        most += words_of(pieces->parts[i]) / every;
    struct vdbq_text *sample =
        arena_alloc(&pieces->arena, most * sizeof *sample);
    *count = 0;
    for (size_t i = 0; sample != NULL && i < pieces->part_count; i++)
        for (uint64_t k = every; k <= words_of(pieces->parts[i]); k += every)
            sample[(*count)++] =
                dictionary_text(pieces->parts[i], (uint32_t)k - 1);
    if (sample != NULL && *count > 1)
        qsort(sample, *count, sizeof *sample, compare_texts);
    return sample;
}

/* Ends piece i, and begins the next one, before a text; NULL: behind all. */
static bool end_piece(struct pieces *pieces, unsigned i,
                      const struct vdbq_text *before)
{
    struct piece *piece = &pieces->pieces[i];
    uint64_t words = 0;
    piece->spans =
        arena_alloc(&pieces->arena, pieces->part_count * sizeof *piece->spans);
    if (piece->spans == NULL)
        return false;
    for (size_t p = 0; p < pieces->part_count; p++) {
        struct merge_span *span = &piece->spans[p];
        span->dictionary = pieces->parts[p];
        span->first = i > 0 ? piece[-1].spans[p].end : 0;
        span->end = words_of(span->dictionary);
        if (before != NULL)
            dictionary_find(span->dictionary, *before, &span->end);
        paged_put_away(); /* a search reads here and there */
        assert(span->first <= span->end);
        span->numbers = pieces->numbers[p] + span->first;
        words += span->end - span->first;
    }
    piece->merge = (struct merge){ .spans = piece->spans,
                                   .span_count = pieces->part_count,
                                   .sources = paged_alloc((words + 1)
                                                          * sizeof(uint32_t)) };
    return piece->merge.sources != NULL;
}

/* Cuts the order of texts; false: no memory. */
static bool cut_pieces(struct pieces *pieces, uint64_t words)
{
    enum { SAMPLE = 16 }; /* words a piece */
    size_t count;
    struct vdbq_text *sample = take_sample(
        pieces, words / ((uint64_t)SAMPLE * pieces->count) + 1, &count);
    pieces->pieces =
        arena_alloc(&pieces->arena, pieces->count * sizeof *pieces->pieces);
    bool cut = sample != NULL && pieces->pieces != NULL;
    if (count == 0)
        pieces->count = 1;
    for (unsigned i = 0; cut && i < pieces->count; i++)
        cut = end_piece(pieces, i,
                        i + 1 < pieces->count
                            ? &sample[count * (i + 1) / pieces->count]
                            : NULL);
    return cut;
}

static void merge_piece(void *context, unsigned i)
{
    struct pieces *pieces = context;
    pieces->pieces[i].done = dictionary_merge(&pieces->pieces[i].merge);
}

/* Writes a piece behind those before it. */
static void write_piece(void *context, unsigned i)
{
    const struct pieces *pieces = context;
    struct piece *piece = &pieces->pieces[i];
    piece->done = dictionary_merge_write(&piece->merge, pieces->dictionary,
                                         piece->count, piece->bytes);
    for (size_t p = 0;
         piece->done && piece->count > 0 && p < pieces->part_count; p++) {
        const struct merge_span *span = &piece->spans[p];
        for (uint32_t k = 0; k < span->end - span->first && !stop_at(k); k++)
            span->numbers[k] += piece->count;
    }
}

static bool all_done(const struct pieces *pieces)
{
    for (unsigned i = 0; i < pieces->count; i++)
        if (!pieces->pieces[i].done)
            return false;
    return true;
}

/* Writes the words of all pieces; NULL: no memory. */
static struct dictionary *write_pieces(struct pieces *pieces)
{
    uint64_t count = 0, bytes = 0;
    for (unsigned i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->pieces[i];
        piece->count = (uint32_t)count;
        piece->bytes = (uint32_t)bytes;
        count += piece->merge.count;
        bytes += piece->merge.bytes;
    }
    if (count > UINT32_MAX)
        return NULL;
    pieces->dictionary = dictionary_room((uint32_t)count, bytes);
    if (pieces->dictionary != NULL)
        parallel_run(pieces->count, write_piece, pieces);
    if (all_done(pieces))
        return pieces->dictionary;
    dictionary_release(pieces->dictionary);
    return NULL;
}

/* Joins several parts by pieces. */
static struct dictionary *join_parts(struct dictionary *const *parts,
                                     size_t count, uint32_t *const *numbers,
                                     unsigned threads)
{
    struct pieces pieces = { .parts = parts,
                             .part_count = count,
                             .numbers = numbers };
    struct dictionary *dictionary = NULL;
    uint64_t words = 0;
    assert(count > 1);
    for (size_t i = 0; i < count; i++)
        words += words_of(parts[i]);
    pieces.count = parallel_threads(threads, words);
    if (cut_pieces(&pieces, words)) {
        parallel_run(pieces.count, merge_piece, &pieces);
        if (all_done(&pieces))
            dictionary = write_pieces(&pieces);
    }
    for (unsigned i = 0; pieces.pieces != NULL && i < pieces.count; i++)
        paged_release(pieces.pieces[i].merge.sources);
    arena_finish(&pieces.arena);
    return dictionary;
}

/* One part that is unordered in order; its words' numbers go into
 * `numbers[i]`. NULL: no memory. */
static struct dictionary *in_order(struct dictionary *part, uint32_t **numbers,
                                   unsigned threads)
{
    if (part == NULL || !part->unordered)
        return dictionary_hold(part);
    *numbers = paged_alloc((part->count + (size_t)1) * sizeof **numbers);
    return *numbers != NULL ? dictionary_sorted(part, *numbers, threads) : NULL;
}

/* Words of a part in the order that it came in have the numbers of those that
 * were joined. */
static void follow_order(uint32_t *numbers, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count && !stop_at(i); i++)
        order[i] = numbers[order[i]];
    paged_copy(numbers, order, count * sizeof *numbers);
}

static bool any_unordered(struct dictionary *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i] != NULL && parts[i]->unordered)
            return true;
    return false;
}

/* Joins parts, those that are unordered once they are sorted. */
static struct dictionary *join_any(struct dictionary *const *parts,
                                   size_t count, uint32_t *const *numbers,
                                   unsigned threads)
{
    if (!any_unordered(parts, count))
        return join_parts(parts, count, numbers, threads);
    struct dictionary **sorted = memory_zeroed(count, sizeof *sorted);
    uint32_t **order = memory_zeroed(count, sizeof *order);
    struct dictionary *dictionary = NULL;
    bool done = sorted != NULL && order != NULL;
    for (size_t i = 0; done && i < count; i++) {
        sorted[i] = in_order(parts[i], &order[i], threads);
        done = sorted[i] != NULL || parts[i] == NULL;
    }
    if (done)
        dictionary = join_parts(sorted, count, numbers, threads);
    for (size_t i = 0; sorted != NULL && order != NULL && i < count; i++) {
        if (dictionary != NULL && order[i] != NULL)
            follow_order(numbers[i], order[i], words_of(parts[i]));
        dictionary_release(sorted[i]);
        paged_release(order[i]);
    }
    memory_release(sorted);
    memory_release(order);
    return dictionary;
}

/* One part stays as it is. */
static struct dictionary *join_one(struct dictionary *part, uint32_t *numbers)
{
    for (uint32_t i = 0; i < words_of(part); i++)
        numbers[i] = i;
    return part != NULL ? dictionary_hold(part) : dictionary_room(0, 0);
}

struct dictionary *dictionary_join(struct dictionary *const *parts,
                                   size_t count, uint32_t *const *numbers,
                                   unsigned threads)
{
    struct dictionary *dictionary = NULL;
    uint32_t **own = memory_zeroed(count + 1, sizeof *own);
    bool room = own != NULL;
    for (size_t i = 0; room && i < count; i++) {
        own[i] = numbers != NULL ? numbers[i] : NULL;
        if (own[i] == NULL)
            own[i] =
                paged_alloc(((size_t)words_of(parts[i]) + 1) * sizeof **own);
        room = own[i] != NULL;
    }
    if (room)
        dictionary = count == 0   ? dictionary_room(0, 0)
                     : count == 1 ? join_one(parts[0], own[0])
                                  : join_any(parts, count, own, threads);
    for (size_t i = 0; own != NULL && i < count; i++)
        if (numbers == NULL || numbers[i] == NULL)
            paged_release(own[i]);
    memory_release(own);
    return dictionary_unless_stopped(dictionary);
}
