/* SPDX-License-Identifier: MIT */
/*
 * The words of a run grow, and what holds numbers of words follows (word table
 * rule 2).
 */
#include "exec/dictionary/run_dictionary_inner.h"

#include <assert.h>

#include "base/paged.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"

/* ----------------------------------------------------------- renumbering -- */

bool word_build_first(const struct making *making, unsigned column)
{
    assert(column < making->params->build_count);
    struct dictionary *const *build_side = making->params->build_side;
    unsigned i = 0;
    while (build_side[i] != build_side[column])
        i++;
    return i == column && build_side[column] != NULL;
}

struct following {
    uint32_t *to;
    const uint32_t *from; /* NULL: each its own place */
    const uint32_t *numbers;
    uint64_t count;
    unsigned threads;
};

static void follow_share(void *context, unsigned share)
{
    const struct following *following = context;
    uint64_t end = following->count * (share + 1) / following->threads;
    const uint32_t *from = following->from, *numbers = following->numbers;
    uint64_t i = following->count * share / following->threads;
    for (; i < end && !stop_at(i); i++)
        following->to[i] = numbers[from != NULL ? from[i] : i];
}

void word_follow(const struct making *making, uint32_t *to,
                 const uint32_t *from, uint32_t count, const uint32_t *numbers)
{
    struct following following = { .to = to,
                                   .from = from,
                                   .numbers = numbers,
                                   .count = count,
                                   .threads = parallel_threads(
                                       making->params->threads, count) };
    parallel_run(following.threads, follow_share, &following);
}

/* Each dictionary that several columns share is renumbered once. */
static void renumber_build(const struct making *making, const uint32_t *numbers)
{
    for (unsigned i = 0; i < making->params->build_count; i++) {
        if (making->build_side[i] == NULL || !word_build_first(making, i))
            continue;
        word_follow(making, making->build_side[i], making->build_side[i],
                    making->params->build_side[i]->count, numbers);
    }
}

/* Word i of those before has number numbers[i] now (word table rule 2). */
static bool renumber(struct making *making, const uint32_t *numbers)
{
    renumber_build(making, numbers);
    uint32_t count = making->params->base->dictionary->count;
    const uint32_t *before = making->renumbered;
    if (before == NULL)
        making->renumbered = arena_alloc_paged(
            &making->table->arena, (count + (size_t)1) * sizeof(uint32_t));
    if (making->renumbered == NULL)
        return false;
    word_follow(making, making->renumbered, before, count, numbers);
    return word_call_renumber(making, numbers);
}

/* --------------------------------------------------------------- growing -- */

/* Whether few words are all there already; then `numbers` has theirs. Many are
 * joined faster than looked for. */
static bool are_there(const struct dictionary *dictionary,
                      const struct dictionary *more, uint32_t *numbers)
{
    enum { FEW = 64, MORE = 16 }; /* times as many words */
    if (more->count > FEW && more->count > dictionary->count / MORE)
        return false;
    for (uint32_t i = 0; i < more->count; i++)
        if (!dictionary_find(dictionary, dictionary_text(more, i), &numbers[i]))
            return false;
    return true;
}

bool word_grow_by(struct making *making, struct dictionary *more,
                  uint32_t *more_numbers)
{
    struct run_dictionary *table = making->table;
    if (are_there(table->dictionary, more, more_numbers))
        return true;
    struct dictionary *parts[2] = { table->dictionary, more };
    uint32_t *numbers[2] = { NULL, more_numbers };
    numbers[0] =
        paged_alloc((table->dictionary->count + (size_t)1) * sizeof **numbers);
    struct dictionary *all =
        numbers[0] != NULL
            ? dictionary_join(parts, 2, numbers, making->params->threads)
            : NULL;
    bool same = all != NULL && all->count == table->dictionary->count;
    assert(all == NULL || all->count >= table->dictionary->count);
    bool joined = all != NULL && (same || renumber(making, numbers[0]));
    paged_release(numbers[0]);
    dictionary_release(joined ? table->dictionary : all);
    if (joined)
        table->dictionary = all;
    return joined;
}

bool word_grow_by_texts(struct making *making, const struct vdbq_text *texts,
                        size_t count, uint32_t *numbers)
{
    assert(count == 0 || (texts != NULL && numbers != NULL));
    struct dictionary *more = dictionary_make(texts, count, numbers);
    uint32_t *places =
        more == NULL ? NULL
                     : paged_alloc((more->count + (size_t)1) * sizeof *places);
    bool added = places != NULL && word_grow_by(making, more, places);
    for (size_t i = 0; added && i < count; i++)
        if (texts[i].bytes != NULL)
            numbers[i] = places[numbers[i]];
    paged_release(places);
    dictionary_release(more);
    return added;
}
