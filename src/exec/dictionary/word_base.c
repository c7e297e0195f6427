/* SPDX-License-Identifier: MIT */
/*
 * Dictionaries together. Each different one counts once, wherever it stands.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/dictionary/word_table.h"

/* The different dictionaries, in the order of their addresses. */
struct parts {
    struct words **words;
    uint32_t **numbers; /* of each one's words, in those of all */
    size_t count;
};

static int compare_addresses(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (struct words *const *)a;
    uintptr_t y = (uintptr_t) * (struct words *const *)b;
    return (x > y) - (x < y);
}

/* Finds the different ones of `count` dictionaries. */
static bool find_parts(struct parts *parts, struct words *const *dictionaries,
                       size_t count, struct arena *arena)
{
    parts->words = arena_alloc(arena, (count + 1) * sizeof *parts->words);
    parts->numbers = arena_alloc(arena, (count + 1) * sizeof *parts->numbers);
    if (parts->words == NULL || parts->numbers == NULL)
        return false;
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (dictionaries[i] != NULL)
            parts->words[found++] = dictionaries[i];
    if (found > 1)
        qsort(parts->words, found, sizeof *parts->words, compare_addresses);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || parts->words[i] != parts->words[parts->count - 1])
            parts->words[parts->count++] = parts->words[i];
    return true;
}

/* Joins the parts; one alone stays as it is, without numbers. */
static bool join_parts(struct word_base *base, struct parts *parts)
{
    if (parts->count == 1) {
        base->words = words_hold(parts->words[0]);
        return true;
    }
    for (size_t i = 0; i < parts->count; i++) {
        size_t size = (parts->words[i]->count + (size_t)1) * sizeof(uint32_t);
        parts->numbers[i] = arena_alloc(&base->arena, size);
        if (parts->numbers[i] == NULL)
            return false;
    }
    base->words = words_join(parts->words, parts->count, parts->numbers);
    return base->words != NULL;
}

/* What the codes of a dictionary stand for. Numbers ascend, so that they are
 * the codes themselves where the last one is. */
static struct run_ranks ranks_of(const struct parts *parts,
                                 struct words *dictionary)
{
    struct run_ranks ranks = { 0 };
    if (dictionary == NULL || dictionary->count == 0 || parts->count < 2)
        return ranks;
    struct words **at = bsearch(&dictionary, parts->words, parts->count,
                                sizeof *parts->words, compare_addresses);
    const uint32_t *numbers = parts->numbers[at - parts->words];
    if (numbers[dictionary->count - 1] == dictionary->count - 1)
        return ranks;
    return (struct run_ranks){ .ranks = (const i32 *)numbers,
                               .count = dictionary->count };
}

static bool fill(struct word_base *base, struct words *const *dictionaries)
{
    struct parts parts = { 0 };
    size_t count = base->chunks * base->feeds;
    base->ranks = arena_alloc(&base->arena, (count + 1) * sizeof *base->ranks);
    base->counts =
        arena_alloc(&base->arena, (count + 1) * sizeof *base->counts);
    base->is_text = arena_alloc(&base->arena, base->feeds + (size_t)1);
    if (base->ranks == NULL || base->counts == NULL || base->is_text == NULL
        || !find_parts(&parts, dictionaries, count, &base->arena)
        || !join_parts(base, &parts))
        return false;
    for (size_t i = 0; i < count; i++) {
        base->ranks[i] = ranks_of(&parts, dictionaries[i]);
        base->is_text[i % base->feeds] |= dictionaries[i] != NULL;
        base->counts[i] = dictionaries[i] != NULL ? dictionaries[i]->count : 0;
    }
    return true;
}

struct word_base *word_base_make(struct words *const *dictionaries,
                                 size_t chunks, unsigned feeds)
{
    struct word_base *base = memory_zeroed(1, sizeof *base);
    if (base == NULL)
        return NULL;
    base->holders = 1;
    base->chunks = chunks;
    base->feeds = feeds;
    if (fill(base, dictionaries))
        return base;
    word_base_release(base);
    return NULL;
}

struct word_base *word_base_hold(struct word_base *base)
{
    base->holders++;
    return base;
}

void word_base_release(struct word_base *base)
{
    if (base == NULL || --base->holders > 0)
        return;
    words_release(base->words);
    arena_finish(&base->arena);
    memory_release(base);
}
