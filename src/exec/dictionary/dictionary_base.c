/* SPDX-License-Identifier: MIT */
/*
 * Dictionaries together. Each different one counts once, wherever it stands.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostile.h"
#include "exec/dictionary/run_dictionary.h"

/* The different dictionaries, in the order of their addresses. */
struct parts {
    /* the different dictionaries, by address */
    struct dictionary **dictionaries;
    uint32_t **numbers; /* of each one's words, in those of all */
    size_t count;       /* of `words` */
};

/* Dictionaries are shared: equal addresses stand next to each other. */
static int compare_addresses(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (struct dictionary *const *)a;
    uintptr_t y = (uintptr_t) * (struct dictionary *const *)b;
    return (x > y) - (x < y);
}

/* Finds the different ones of `count` dictionaries. */
static bool find_parts(struct parts *parts,
                       struct dictionary *const *dictionaries, size_t count,
                       struct arena *arena)
{
    parts->dictionaries =
        arena_alloc(arena, (count + 1) * sizeof *parts->dictionaries);
    parts->numbers = arena_alloc(arena, (count + 1) * sizeof *parts->numbers);
    if (parts->dictionaries == NULL || parts->numbers == NULL)
        return false;
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (dictionaries[i] != NULL)
            parts->dictionaries[found++] = dictionaries[i];
    if (found > 1)
        qsort(parts->dictionaries, found, sizeof *parts->dictionaries,
              compare_addresses);
    for (size_t i = 0; i < found; i++)
        if (i == 0
            || parts->dictionaries[i] != parts->dictionaries[parts->count - 1])
            parts->dictionaries[parts->count++] = parts->dictionaries[i];
    return true;
}

/* Joins the parts; one alone stays as it is, without numbers. NULL: no
 * memory. */
static struct dictionary *join_parts(struct dictionary_base *base,
                                     struct parts *parts, unsigned threads)
{
    if (parts->count == 1)
        return dictionary_hold(parts->dictionaries[0]);
    for (size_t i = 0; i < parts->count; i++) {
        assert(!parts->dictionaries[i]->unordered);
        size_t size =
            (parts->dictionaries[i]->count + (size_t)1) * sizeof(uint32_t);
        parts->numbers[i] = arena_alloc_paged(&base->arena, size);
        if (parts->numbers[i] == NULL)
            return NULL;
    }
    return dictionary_join(parts->dictionaries, parts->count, parts->numbers,
                           threads);
}

/* What the codes of a dictionary stand for. Numbers ascend, so that they are
 * the codes themselves where the last one is. */
static struct order_codes order_codes_of(const struct parts *parts,
                                         struct dictionary *dictionary)
{
    struct order_codes order_codes = { 0 };
    if (dictionary == NULL || dictionary->count == 0 || parts->count < 2)
        return order_codes;
    struct dictionary **at =
        bsearch(&dictionary, parts->dictionaries, parts->count,
                sizeof *parts->dictionaries, compare_addresses);
    const uint32_t *numbers = parts->numbers[at - parts->dictionaries];
    if (numbers[dictionary->count - 1] == dictionary->count - 1)
        return order_codes;
    return (struct order_codes){ .order_codes = (const i32 *)numbers,
                                 .count = dictionary->count };
}

/* Joins the dictionaries that are picked, of some inputs, and notes their order
 * codes. NULL: no memory. */
static struct dictionary *join_picked(struct dictionary_base *base,
                                      struct dictionary *const *picked,
                                      unsigned threads)
{
    struct parts parts = { 0 };
    size_t count = base->morsels * base->inputs;
    assert(base->inputs > 0 || count == 0);
    struct dictionary *dictionary =
        find_parts(&parts, picked, count, &base->arena)
            ? join_parts(base, &parts, threads)
            : NULL;
    for (size_t i = 0; dictionary != NULL && i < count; i++) {
        if (picked[i] == NULL)
            continue;
        base->order_codes[i] = order_codes_of(&parts, picked[i]);
    }
    return dictionary;
}

/* Words that are compared, and how many dictionaries have them. */
struct compared {
    uint64_t words;
    size_t parts;
};

static void add_compared(struct compared *compared,
                         const struct dictionary_base *base, unsigned input)
{
    for (size_t i = 0; i < base->morsels; i++) {
        uint32_t words = base->counts[i * base->inputs + input];
        compared->words += words;
        compared->parts += words > 0;
    }
}

/* Whether there are so many that they are better apart. Few have numbers of their own
 * that are known before, and those of one dictionary are in order as they are. */
static bool are_many(const struct compared *compared)
{
    enum { MANY = HOSTILE(4, 1 << 16) };
    return compared->words > MANY && compared->parts > 1;
}

/* Whether words of that use are apart; `many`: so are those that are compared. */
static bool is_apart(enum words_use use, bool many)
{
    return use == WORDS_LOOKED_UP || use == WORDS_SHOWN
           || (use == WORDS_COMPARED && many);
}

const enum words_use *dictionary_base_uses(const struct program_pack *pack,
                                           const uint8_t *texts,
                                           struct arena *arena)
{
    enum words_use *uses =
        arena_alloc(arena, (pack->input_count + (size_t)1) * sizeof *uses);
    if (uses == NULL)
        return NULL;
    memcpy(uses, pack->uses, pack->input_count * sizeof *uses);
    for (unsigned i = 0; i < pack->result_count; i++)
        if (pack->shown_inputs[i] >= 0)
            uses[pack->shown_inputs[i]] = WORDS_SHOWN;
    for (unsigned i = 0; i < pack->result_count; i++)
        if (pack->shown_inputs[i] >= 0 && texts[i] > TEXTS_GIVEN)
            uses[pack->shown_inputs[i]] = WORDS_ANY;
    return uses;
}

/* Joins the dictionaries of all inputs whose words are not apart. */
static struct dictionary *
join_inputs(struct dictionary_base *base,
            const struct dictionary_base_params *params, bool many)
{
    size_t count = base->morsels * base->inputs;
    struct dictionary **picked =
        arena_alloc(&base->arena, (count + 1) * sizeof(struct dictionary *));
    for (size_t i = 0; picked != NULL && i < count; i++)
        if (!is_apart(params->uses[i % base->inputs], many))
            picked[i] = params->dictionaries[i];
    return picked != NULL ? join_picked(base, picked, params->threads) : NULL;
}

/* Adds a dictionary to a list, unless it is the last one; false: too many words.
 */
static bool list_part(struct word_list *list, struct dictionary *part)
{
    if (list->count > 0 && list->parts[list->count - 1] == part)
        return true;
    uint64_t words = (uint64_t)word_list_count(list) + part->count;
    if (words > UINT32_MAX)
        return false;
    list->parts[list->count] = dictionary_hold(part);
    list->firsts[++list->count] = (uint32_t)words;
    return true;
}

/* What the codes of the last part of a list stand for: of words that are shown the
 * same numbers in all launches, else the launch's own. */
static struct order_codes codes_of_last(const struct word_list *list,
                                        bool shown)
{
    assert(list->count > 0);
    uint32_t before = list->firsts[list->count - 1];
    return (struct order_codes){
        .count = shown ? 0 : list->parts[list->count - 1]->count,
        .before = before
    };
}

/* Lists the words of an input that are apart, tablet by tablet, and notes what its
 * codes stand for; false: no memory. */
static bool list_input(struct dictionary_base *base,
                       const struct dictionary_base_params *params,
                       unsigned input)
{
    struct word_list *list = arena_alloc(&base->arena, sizeof *list);
    base->apart[input] = list;
    if (list == NULL)
        return false;
    list->parts =
        arena_alloc(&base->arena, (base->morsels + 1) * sizeof *list->parts);
    list->firsts =
        arena_alloc(&base->arena, (base->morsels + 1) * sizeof *list->firsts);
    if (list->parts == NULL || list->firsts == NULL)
        return false;
    for (size_t i = 0; i < base->morsels; i++) {
        size_t place = i * base->inputs + input;
        struct dictionary *part = params->dictionaries[place];
        if (part == NULL)
            continue;
        if (!list_part(list, part))
            return false;
        base->order_codes[place] = codes_of_last(list, base->shown[input]);
    }
    if (base->shown[input])
        list->shown = list->count == 1
                          ? dictionary_hold(list->parts[0])
                          : dictionary_of_parts(list->parts, list->count);
    return !base->shown[input] || list->shown != NULL;
}

/* Notes which inputs have words, and how many. */
static void count_words(struct dictionary_base *base,
                        const struct dictionary_base_params *params)
{
    for (size_t i = 0; i < base->morsels * base->inputs; i++)
        if (params->dictionaries[i] != NULL) {
            base->is_text[i % base->inputs] = true;
            base->counts[i] = params->dictionaries[i]->count;
        }
}

/* Notes which morsels have no words here; false: no memory. */
static bool note_left_out(struct dictionary_base *base,
                          const struct dictionary_base_params *params)
{
    if (params->left_out == NULL)
        return true;
    base->left_out = arena_alloc(&base->arena, base->morsels + 1);
    if (base->left_out != NULL)
        memcpy(base->left_out, params->left_out, base->morsels);
    return base->left_out != NULL;
}

/* Makes room for what is known of each input; false: no memory. */
static bool make_room(struct dictionary_base *base)
{
    size_t count = base->morsels * base->inputs;
    base->order_codes =
        arena_alloc(&base->arena, (count + 1) * sizeof *base->order_codes);
    base->counts =
        arena_alloc(&base->arena, (count + 1) * sizeof *base->counts);
    base->is_text = arena_alloc(&base->arena, base->inputs + (size_t)1);
    base->shown = arena_alloc(&base->arena, base->inputs + (size_t)1);
    base->apart = arena_alloc(&base->arena,
                              (base->inputs + (size_t)1) * sizeof *base->apart);
    return base->order_codes != NULL && base->counts != NULL
           && base->is_text != NULL && base->shown != NULL
           && base->apart != NULL;
}

/* Joins the dictionaries and notes for each column its order codes. */
static bool fill(struct dictionary_base *base,
                 const struct dictionary_base_params *params)
{
    if (!make_room(base) || !note_left_out(base, params))
        return false;
    for (unsigned i = 0; i < base->inputs; i++)
        base->shown[i] = params->uses[i] == WORDS_SHOWN;
    count_words(base, params);
    struct compared compared = { 0 };
    for (unsigned i = 0; i < base->inputs; i++)
        if (params->uses[i] == WORDS_COMPARED)
            add_compared(&compared, base, i);
    bool many = are_many(&compared);
    base->dictionary = join_inputs(base, params, many);
    bool filled = base->dictionary != NULL;
    for (unsigned i = 0; filled && i < base->inputs; i++)
        if (is_apart(params->uses[i], many))
            filled = list_input(base, params, i);
    return filled;
}

/* Without anything yet. NULL: no memory. */
static struct dictionary_base *create(size_t morsels, unsigned inputs)
{
    struct dictionary_base *base = memory_zeroed(1, sizeof *base);
    if (base == NULL)
        return NULL;
    base->holders = 1;
    base->morsels = morsels;
    base->inputs = inputs;
    return base;
}

struct dictionary_base *
dictionary_base_make(const struct dictionary_base_params *params)
{
    struct dictionary_base *base = create(params->morsels, params->inputs);
    if (base == NULL || fill(base, params))
        return base;
    dictionary_base_release(base);
    return NULL;
}

/* --------------------------------------------------------------- views -- */

/* Whether an input of the base is one of the view's. */
static bool is_viewed(const struct dictionary_view *view, unsigned input)
{
    for (unsigned f = 0; f < view->inputs; f++)
        if (view->from[f] == (int)input)
            return true;
    return false;
}

/* Whether the words of the base that are joined are the view's, all of them. */
static bool joins_no_others(const struct dictionary_base *base,
                            const struct dictionary_view *view)
{
    for (unsigned i = 0; i < base->inputs; i++)
        if (base->is_text[i] && base->apart[i] == NULL && !is_viewed(view, i))
            return false;
    return true;
}

bool dictionary_base_fits(const struct dictionary_base *base,
                          const struct dictionary_view *view)
{
    struct compared compared = { 0 };
    for (unsigned f = 0; f < view->inputs; f++)
        if (view->from[f] >= 0 && view->uses[f] == WORDS_COMPARED)
            add_compared(&compared, base, (unsigned)view->from[f]);
    bool many = are_many(&compared);
    for (unsigned f = 0; f < view->inputs; f++) {
        int from = view->from[f];
        if (from >= 0
            && ((base->apart[from] != NULL) != is_apart(view->uses[f], many)
                || base->shown[from] != (view->uses[f] == WORDS_SHOWN)))
            return false;
    }
    return joins_no_others(base, view);
}

/* Input f of the copy is another one of the base that it is a view of. */
static void view_input(struct dictionary_base *copy,
                       const struct dictionary_base *base, unsigned f,
                       unsigned from)
{
    copy->is_text[f] = base->is_text[from];
    copy->shown[f] = base->shown[from];
    copy->apart[f] = base->apart[from];
    for (size_t i = 0; i < copy->morsels; i++) {
        size_t place = i * copy->inputs + f, other = i * base->inputs + from;
        copy->order_codes[place] = base->order_codes[other];
        copy->counts[place] = base->counts[other];
    }
}

struct dictionary_base *dictionary_base_view(struct dictionary_base *base,
                                             const struct dictionary_view *view)
{
    struct dictionary_base *copy = create(base->morsels, view->inputs);
    if (copy == NULL)
        return NULL;
    copy->of = dictionary_base_hold(base->of != NULL ? base->of : base);
    copy->dictionary = base->dictionary;
    copy->left_out = base->left_out;
    if (!make_room(copy)) {
        dictionary_base_release(copy);
        return NULL;
    }
    for (unsigned f = 0; f < view->inputs; f++)
        if (view->from[f] >= 0)
            view_input(copy, base, f, (unsigned)view->from[f]);
    return copy;
}

/* ---------------------------------------------------------- life times -- */

struct dictionary_base *dictionary_base_hold(struct dictionary_base *base)
{
    assert(base->holders > 0);
    base->holders++;
    return base;
}

/* Lets go of what a list holds; it may be half made. */
static void release_list(const struct word_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        dictionary_release(list->parts[i]);
    dictionary_release(list->shown);
}

/* Lets go of words that are its own. */
static void release_words(const struct dictionary_base *base)
{
    dictionary_release(base->dictionary);
    for (unsigned i = 0; base->apart != NULL && i < base->inputs; i++)
        if (base->apart[i] != NULL)
            release_list(base->apart[i]);
}

void dictionary_base_release(struct dictionary_base *base)
{
    assert(base == NULL || base->holders > 0);
    if (base == NULL || --base->holders > 0)
        return;
    if (base->of == NULL)
        release_words(base);
    dictionary_base_release(base->of);
    arena_finish(&base->arena);
    memory_release(base);
}
