/* SPDX-License-Identifier: MIT */
/*
 * Joining dictionaries: the order of texts is cut into pieces of about as many
 * words; a thread joins what all parts have in one piece. Pieces are joined by
 * halves, and then put one behind the other.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/dictionary_sort.h"

/* Words [first, end) of a dictionary. */
struct span {
    const struct dictionary *dictionary; /* NULL: it has no words */
    struct dictionary *made; /* it was made here and is to be released; NULL: it
                                is another's                               */
    uint32_t first, end;
};

/* Where word i begins, or would behind the last. */
static uint32_t start_of(const struct dictionary *dictionary, uint32_t i)
{
    return i > 0 ? dictionary->ends[i - 1] : 0;
}

static uint32_t words_in(const struct span *span)
{
    return span->end - span->first;
}

static uint64_t bytes_of(const struct span *span)
{
    return words_in(span) == 0 ? 0
                               : start_of(span->dictionary, span->end)
                                     - start_of(span->dictionary, span->first);
}

/* ----------------------------------------------------------- two spans -- */

/* Two spans become a dictionary, of which `count` words are written. */
struct joining {
    const struct span *span[2];
    uint32_t *numbers[2]; /* of each span's words in it */
    struct dictionary *dictionary;
    uint32_t count, bytes; /* words, and bytes of them */
};

/* Writes words [first, end) behind `count` words of `bytes` bytes; how many
 * bytes these are. */
static uint32_t copy_words(struct dictionary *to, uint32_t count,
                           uint32_t bytes, const struct dictionary *from,
                           uint32_t first, uint32_t end)
{
    uint32_t *ends = (uint32_t *)to->ends + count;
    uint32_t start = start_of(from, first);
    uint32_t size = start_of(from, end) - start;
    memcpy((char *)to->bytes + bytes, from->bytes + start, size);
    for (uint32_t i = 0; i < end - first; i++)
        ends[i] = from->ends[first + i] - start + bytes;
    return size;
}

/* Writes words [first, end) of a span. */
static void put_words(struct joining *joining, unsigned which, uint32_t first,
                      uint32_t end)
{
    const struct span *span = joining->span[which];
    uint32_t *numbers = joining->numbers[which] + (first - span->first);
    if (first == end)
        return;
    joining->bytes += copy_words(joining->dictionary, joining->count,
                                 joining->bytes, span->dictionary, first, end);
    for (uint32_t i = 0; i < end - first; i++)
        numbers[i] = joining->count + i;
    joining->count += end - first;
}

/* The first word of a span, from `low` on, that is not less than the text:
 * near ones are tried first. `*same`: it is the text. */
static uint32_t first_from(const struct span *span, uint32_t low,
                           struct vdbq_text text, bool *same)
{
    uint32_t high = low, step = 1;
    int order = -1;
    while (high < span->end && order < 0) {
        order = text_compare(dictionary_text(span->dictionary, high), text);
        if (order < 0) {
            low = high + 1;
            high = span->end - high > step ? high + step : span->end;
            step *= 2;
        }
    }
    while (low < high && order != 0) {
        uint32_t middle = low + (high - low) / 2;
        order = text_compare(dictionary_text(span->dictionary, middle), text);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *same = order == 0;
    return high;
}

/* Joins them; the first span is the one with more words. */
static struct dictionary *join_two(struct joining *joining)
{
    const struct span *more = joining->span[0], *less = joining->span[1];
    uint32_t i = more->first;
    uint64_t words = (uint64_t)words_in(more) + words_in(less);
    if (words > UINT32_MAX)
        return NULL;
    joining->dictionary =
        dictionary_room((uint32_t)words, bytes_of(more) + bytes_of(less));
    if (joining->dictionary == NULL)
        return NULL;
    for (uint32_t k = less->first; k < less->end; k++) {
        bool same;
        if (stop_at(k - less->first)) {
            dictionary_release(joining->dictionary);
            return NULL;
        }
        uint32_t to =
            first_from(more, i, dictionary_text(less->dictionary, k), &same);
        put_words(joining, 0, i, to);
        i = to;
        if (same)
            joining->numbers[1][k - less->first] = joining->count;
        else
            put_words(joining, 1, k, k + 1);
    }
    put_words(joining, 0, i, more->end);
    joining->dictionary->count = joining->count;
    return joining->dictionary;
}

/* ---------------------------------------------------------- many spans -- */

/* The numbers of spans go through one more table. */
static void follow(const struct span *spans, size_t count,
                   uint32_t *const *numbers, const uint32_t *table)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < words_in(&spans[i]) && !stop_at(k); k++)
            numbers[i][k] = table[numbers[i][k]];
}

/* Joins two halves, of which the first has `middle` spans. */
static bool join_halves(const struct span *spans, size_t count, size_t middle,
                        uint32_t *const *numbers, const struct span *halves,
                        struct span *joined)
{
    uint32_t *tables[2] = { NULL, NULL };
    uint32_t words[2];
    for (unsigned i = 0; i < 2; i++) {
        words[i] = words_in(&halves[i]);
        tables[i] =
            memory_resize(NULL, ((size_t)words[i] + 1) * sizeof *tables[i]);
    }
    unsigned more = words[1] > words[0];
    *joined = (struct span){ 0 };
    if (tables[0] != NULL && tables[1] != NULL)
        joined->made = join_two(
            &(struct joining){ .span = { &halves[more], &halves[!more] },
                               .numbers = { tables[more], tables[!more] } });
    if (joined->made != NULL) {
        joined->dictionary = joined->made;
        joined->end = joined->made->count;
        follow(spans, middle, numbers, tables[0]);
        follow(spans + middle, count - middle, numbers + middle, tables[1]);
    }
    memory_release(tables[0]);
    memory_release(tables[1]);
    return joined->made != NULL;
}

/* Joins spans, of which there is one at least, halves first. False: no
 * memory. */
static bool join_spans(const struct span *spans, size_t count,
                       uint32_t *const *numbers, struct span *joined)
{
    size_t middle = count / 2;
    struct span halves[2] = { { 0 }, { 0 } };
    if (count == 1) {
        *joined = spans[0];
        for (uint32_t k = 0; k < words_in(joined); k++)
            numbers[0][k] = k;
        return true;
    }
    bool done = join_spans(spans, middle, numbers, &halves[0])
                && join_spans(spans + middle, count - middle, numbers + middle,
                              &halves[1])
                && join_halves(spans, count, middle, numbers, halves, joined);
    dictionary_release(halves[0].made);
    dictionary_release(halves[1].made);
    return done;
}

/* -------------------------------------------------------------- pieces -- */

/* What all parts have between two texts, and what becomes of it. */
struct piece {
    struct span *spans; /* one a part */
    uint32_t **numbers; /* of these words, among those of the piece at first */
    struct span joined;
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
    piece->spans =
        arena_alloc(&pieces->arena, pieces->part_count * sizeof *piece->spans);
    piece->numbers = arena_alloc(&pieces->arena,
                                 pieces->part_count * sizeof *piece->numbers);
    if (piece->spans == NULL || piece->numbers == NULL)
        return false;
    for (size_t p = 0; p < pieces->part_count; p++) {
        struct span *span = &piece->spans[p];
        span->dictionary = pieces->parts[p];
        span->first = i > 0 ? piece[-1].spans[p].end : 0;
        span->end = words_of(span->dictionary);
        if (before != NULL)
            dictionary_find(span->dictionary, *before, &span->end);
        assert(span->first <= span->end);
        piece->numbers[p] = pieces->numbers[p] + span->first;
    }
    return true;
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

static void join_piece(void *context, unsigned i)
{
    struct pieces *pieces = context;
    struct piece *piece = &pieces->pieces[i];
    piece->done = join_spans(piece->spans, pieces->part_count, piece->numbers,
                             &piece->joined);
}

/* Puts a piece behind those before it. */
static void put_piece(void *context, unsigned i)
{
    const struct pieces *pieces = context;
    const struct piece *piece = &pieces->pieces[i];
    copy_words(pieces->dictionary, piece->count, piece->bytes,
               piece->joined.dictionary, piece->joined.first,
               piece->joined.end);
    for (size_t p = 0; p < pieces->part_count; p++)
        for (uint32_t k = 0; k < words_in(&piece->spans[p]); k++)
            piece->numbers[p][k] += piece->count;
}

/* Puts the pieces together; NULL: no memory. */
static struct dictionary *put_pieces(struct pieces *pieces)
{
    uint64_t count = 0, bytes = 0;
    for (unsigned i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->pieces[i];
        if (!piece->done)
            return NULL;
        piece->count = (uint32_t)count;
        piece->bytes = (uint32_t)bytes;
        count += words_in(&piece->joined);
        bytes += bytes_of(&piece->joined);
    }
    if (pieces->count == 1)
        return dictionary_hold(pieces->pieces->joined.made);
    if (count > UINT32_MAX)
        return NULL;
    pieces->dictionary = dictionary_room((uint32_t)count, bytes);
    if (pieces->dictionary != NULL)
        parallel_run(pieces->count, put_piece, pieces);
    return pieces->dictionary;
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
        parallel_run(pieces.count, join_piece, &pieces);
        dictionary = put_pieces(&pieces);
        for (unsigned i = 0; i < pieces.count; i++)
            dictionary_release(pieces.pieces[i].joined.made);
    }
    arena_finish(&pieces.arena);
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
            own[i] = memory_resize(NULL, ((size_t)words_of(parts[i]) + 1)
                                             * sizeof **own);
        room = own[i] != NULL;
    }
    if (room)
        dictionary = count == 0   ? dictionary_room(0, 0)
                     : count == 1 ? join_one(parts[0], own[0])
                                  : join_parts(parts, count, own, threads);
    for (size_t i = 0; own != NULL && i < count; i++)
        if (numbers == NULL || numbers[i] == NULL)
            memory_release(own[i]);
    memory_release(own);
    return dictionary_unless_stopped(dictionary);
}
