/* SPDX-License-Identifier: MIT */
/*
 * Putting many texts in order, or the words of an unordered dictionary: each thread
 * sorts neighbouring ones, and then these are joined.
 */
#include <assert.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/dictionary_sort.h"

enum {
    SORT_ROWS = 8, /* that sorting a word takes as long as */
    /* of a share, at least, where words are many, and what each takes while its
     * share is worked on */
    SHARE_WORDS = HOSTILE(4, 1 << 12),
    WORD_BYTES = 64,
    MAKE_ROWS =
        HOSTILE(8, 1 << 17) /* texts that a thread makes words of, at least:
                                       to join what threads made is work, too */
};

/* Neighbouring words, or texts, which one thread sorts. */
struct slice {
    uint32_t first, count;
    uint32_t *places;          /* of the words in order, from `first` on;
                                  where they repeat, each one's in `sorted` */
    uint32_t *numbers;         /* of these, once all are joined; paged     */
    struct dictionary *sorted; /* NULL: no memory                          */
};

struct ordering {
    const struct dictionary *words; /* or ...         */
    const struct vdbq_text *texts;  /* ... these      */
    struct slice slices[PARALLEL_THREADS_MAX];
    unsigned count;
    uint32_t *numbers; /* of each, when all is done */
};

/* Cuts so many words or texts into slices. */
static void cut(struct ordering *ordering, uint64_t count, unsigned slices)
{
    assert(slices > 0 && slices <= PARALLEL_THREADS_MAX);
    ordering->count = slices;
    for (unsigned i = 0; i < slices; i++) {
        uint64_t first = count * i / slices, end = count * (i + 1) / slices;
        ordering->slices[i] =
            (struct slice){ .first = (uint32_t)first,
                            .count = (uint32_t)(end - first) };
    }
}

/* Writes the words of a slice in order. */
static void write_slice(struct slice *slice, const struct vdbq_text *texts)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < slice->count; i++)
        bytes += texts[i].length;
    slice->sorted = dictionary_room(slice->count, bytes);
    for (uint32_t i = 0, end = 0;
         slice->sorted != NULL && i < slice->count && !stop_at(i); i++)
        end = dictionary_put(slice->sorted, i, end, texts[slice->places[i]]);
}

/* Sorts the words of a slice, which are `texts`. */
static void sort_texts(const struct dictionary *words, struct slice *slice,
                       const struct vdbq_text *texts)
{
    if (words->repeats)
        slice->sorted = dictionary_make(texts, slice->count, slice->places);
    else if (dictionary_sort(texts, slice->count, slice->places))
        write_slice(slice, texts);
}

static void sort_slice(void *context, unsigned number)
{
    struct ordering *ordering = context;
    struct slice *slice = &ordering->slices[number];
    size_t count = slice->count;
    struct vdbq_text *texts = paged_alloc((count + 1) * sizeof *texts);
    slice->places = paged_alloc((count + 1) * sizeof *slice->places);
    slice->numbers = paged_alloc((count + 1) * sizeof *slice->numbers);
    for (uint32_t i = 0; texts != NULL && i < count; i++)
        texts[i] = dictionary_text(ordering->words, slice->first + i);
    if (texts != NULL && slice->places != NULL && slice->numbers != NULL)
        sort_texts(ordering->words, slice, texts);
    paged_release(texts);
}

/* Makes words of a slice of texts; its places lie where the numbers will. */
static void make_slice(void *context, unsigned number)
{
    struct ordering *ordering = context;
    struct slice *slice = &ordering->slices[number];
    size_t count = slice->count;
    slice->numbers = paged_alloc((count + 1) * sizeof *slice->numbers);
    slice->places = ordering->numbers + slice->first;
    if (slice->numbers != NULL)
        slice->sorted = dictionary_make(ordering->texts + slice->first, count,
                                        slice->places);
}

/* The numbers of a slice's texts, in place. */
static void number_slice(void *context, unsigned number)
{
    const struct ordering *ordering = context;
    const struct slice *slice = &ordering->slices[number];
    const struct vdbq_text *texts = ordering->texts + slice->first;
    for (uint32_t i = 0; i < slice->count && !stop_at(i); i++)
        slice->places[i] =
            texts[i].bytes != NULL ? slice->numbers[slice->places[i]] : 0;
}

/* The numbers of a slice's words. */
static void follow_slice(void *context, unsigned number)
{
    struct ordering *ordering = context;
    const struct slice *slice = &ordering->slices[number];
    uint32_t *numbers = ordering->numbers + slice->first;
    bool repeats = ordering->words->repeats;
    for (uint32_t i = 0; i < slice->count && !stop_at(i); i++)
        if (repeats)
            numbers[i] = slice->numbers[slice->places[i]];
        else
            numbers[slice->places[i]] = slice->numbers[i];
}

/* Joins the slices; NULL: no memory, or it is to end. */
static struct dictionary *join_slices(struct ordering *ordering,
                                      unsigned threads)
{
    struct dictionary *parts[PARALLEL_THREADS_MAX];
    uint32_t *numbers[PARALLEL_THREADS_MAX];
    if (stop_asked())
        return NULL; /* slices may be half sorted */
    for (unsigned i = 0; i < ordering->count; i++) {
        parts[i] = ordering->slices[i].sorted;
        numbers[i] = ordering->slices[i].numbers;
        if (parts[i] == NULL)
            return NULL;
    }
    struct dictionary *all =
        dictionary_join(parts, ordering->count, numbers, threads);
    if (all != NULL)
        parallel_run(ordering->count,
                     ordering->texts != NULL ? number_slice : follow_slice,
                     ordering);
    return all;
}

unsigned dictionary_shares(unsigned threads, uint32_t words)
{
    uint64_t shares = (uint64_t)words / SHARE_WORDS + 1;
    if (shares <= threads || paged_fits((size_t)words * WORD_BYTES))
        return threads;
    return shares < PARALLEL_THREADS_MAX ? (unsigned)shares
                                         : PARALLEL_THREADS_MAX;
}

/* Frees what slices have, but for their places. */
static void finish_slices(struct ordering *ordering)
{
    for (unsigned i = 0; i < ordering->count; i++) {
        dictionary_release(ordering->slices[i].sorted);
        paged_release(ordering->slices[i].numbers);
    }
}

struct dictionary *dictionary_sorted(struct dictionary *dictionary,
                                     uint32_t *numbers, unsigned threads)
{
    struct ordering ordering = { .words = dictionary, .numbers = numbers };
    uint64_t count = dictionary->count;
    cut(&ordering, count,
        dictionary_shares(parallel_threads(threads, count * SORT_ROWS),
                          dictionary->count));
    parallel_run(ordering.count, sort_slice, &ordering);
    struct dictionary *sorted = join_slices(&ordering, threads);
    for (unsigned i = 0; i < ordering.count; i++)
        paged_release(ordering.slices[i].places);
    finish_slices(&ordering);
    return dictionary_unless_stopped(sorted);
}

struct dictionary *dictionary_make_shared(const struct vdbq_text *texts,
                                          size_t count, uint32_t *numbers)
{
    struct ordering ordering = { .texts = texts, .numbers = numbers };
    unsigned threads = count < MAKE_ROWS * 2 ? 1 : parallel_workers() + 1;
    uint64_t slices = count / MAKE_ROWS;
    if (threads == 1 || count > UINT32_MAX)
        return dictionary_make(texts, count, numbers);
    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    cut(&ordering, count, slices < threads ? (unsigned)slices : threads);
    parallel_run(ordering.count, make_slice, &ordering);
    struct dictionary *made = join_slices(&ordering, threads);
    finish_slices(&ordering);
    return dictionary_unless_stopped(made);
}
