/* SPDX-License-Identifier: MIT */
/*
 * The words of a run grow, and what holds numbers of words follows (word table
 * rule 2).
 */
#include "exec/dictionary/run_dictionary_inner.h"

#include <assert.h>

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

/* Each dictionary that several columns share is renumbered once. */
static void renumber_build(const struct making *making, const uint32_t *numbers)
{
    for (unsigned i = 0; i < making->params->build_count; i++) {
        if (making->build_side[i] == NULL || !word_build_first(making, i))
            continue;
        for (uint32_t k = 0; k < making->params->build_side[i]->count; k++)
            making->build_side[i][k] = numbers[making->build_side[i][k]];
    }
}

/* Word i of those before has number numbers[i] now (word table rule 2). */
static bool renumber(struct making *making, const uint32_t *numbers,
                     uint32_t now)
{
    renumber_build(making, numbers);
    uint32_t count = making->params->base->dictionary->count;
    bool first = making->renumbered == NULL;
    if (first)
        making->renumbered = arena_alloc(
            &making->table->arena, (count + (size_t)1) * sizeof(uint32_t));
    if (making->renumbered == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        making->renumbered[i] = numbers[first ? i : making->renumbered[i]];
    return word_call_renumber(making, numbers, now);
}

/* --------------------------------------------------------------- growing -- */

/* Whether all texts are words already; then `numbers` has theirs. */
static bool are_there(const struct dictionary *dictionary,
                      const struct vdbq_text *texts, size_t count,
                      uint32_t *numbers)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i].bytes == NULL)
            numbers[i] = 0;
        else if (!dictionary_find(dictionary, texts[i], &numbers[i]))
            return false;
    return true;
}

bool word_grow_by(struct making *making, struct dictionary *more,
                  uint32_t *more_numbers)
{
    struct run_dictionary *table = making->table;
    struct dictionary *parts[2] = { table->dictionary, more };
    uint32_t *numbers[2] = { NULL, more_numbers };
    numbers[0] = memory_resize(NULL, (table->dictionary->count + (size_t)1)
                                         * sizeof **numbers);
    struct dictionary *all =
        numbers[0] != NULL ? dictionary_join(parts, 2, numbers) : NULL;
    bool same = all != NULL && all->count == table->dictionary->count;
    assert(all == NULL || all->count >= table->dictionary->count);
    bool joined =
        all != NULL && (same || renumber(making, numbers[0], all->count));
    memory_release(numbers[0]);
    dictionary_release(joined ? table->dictionary : all);
    if (joined)
        table->dictionary = all;
    return joined;
}

bool word_grow_by_texts(struct making *making, const struct vdbq_text *texts,
                        size_t count, uint32_t *numbers)
{
    assert(count == 0 || (texts != NULL && numbers != NULL));
    if (are_there(making->table->dictionary, texts, count, numbers))
        return true;
    struct dictionary *more = dictionary_make(texts, count, numbers);
    uint32_t *places =
        more == NULL
            ? NULL
            : memory_resize(NULL, (more->count + (size_t)1) * sizeof *places);
    bool added = places != NULL && word_grow_by(making, more, places);
    for (size_t i = 0; added && i < count; i++)
        if (texts[i].bytes != NULL)
            numbers[i] = places[numbers[i]];
    memory_release(places);
    dictionary_release(more);
    return added;
}
