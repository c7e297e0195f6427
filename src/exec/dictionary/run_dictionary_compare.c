/* SPDX-License-Identifier: MIT */
/*
 * Many words that are only compared with constants: what counts of a word is
 * where it stands among these. Constant i of n, in their order, has the number
 * 2 i + 1; a word between two of them has the even number between theirs. Words
 * of a tablet are sorted, so that each constant is looked for once in it.
 */
#include "exec/dictionary/run_dictionary_inner.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"

bool words_compared(const struct making *making, unsigned input)
{
    return making->params->base->apart[input] != NULL
           && making->pack.uses[input] == WORDS_COMPARED;
}

/* Whether any words are. */
static bool compares_any(const struct making *making)
{
    bool any = false;
    for (unsigned i = 0; i < making->pack.input_count; i++)
        any |= words_compared(making, i);
    return any;
}

bool word_constants(struct making *making)
{
    if (!compares_any(making))
        return true;
    unsigned count = making->pack.slot_count;
    struct vdbq_text *texts =
        arena_alloc(&making->table->arena, (count + 1) * sizeof *texts);
    if (texts == NULL)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (making->pack.slots[i].compared)
            texts[i] = word_constant_text(making, &making->pack.slots[i]);
    making->table->constants = dictionary_make(texts, count, NULL);
    return making->table->constants != NULL;
}

i64 word_constant_number(const struct making *making, struct vdbq_text text)
{
    uint32_t number = 0;
    if (text.bytes != NULL)
        dictionary_find(making->table->constants, text, &number);
    return 2 * (i64)number + 1;
}

/* The words of an input in a morsel, which have some. */
static const struct dictionary *words_of(const struct making *making,
                                         const struct order_codes *order_codes,
                                         unsigned input)
{
    const struct word_list *list = making->params->base->apart[input];
    size_t low = 0, high = list->count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (list->firsts[middle] <= order_codes->before)
            low = middle;
        else
            high = middle;
    }
    return list->parts[low];
}

static void put_number(i32 *numbers, uint32_t first, uint32_t end, i32 number)
{
    for (uint32_t i = first; i < end && !stop_at(i - first); i++)
        numbers[i] = number;
}

bool word_places_room(const struct making *making, size_t place,
                      struct order_codes *order_codes)
{
    const struct order_codes *from = &making->params->base->order_codes[place];
    if (from->count == 0)
        return true;
    *order_codes =
        (struct order_codes){ .order_codes = arena_alloc_paged(
                                  &making->table->arena,
                                  (from->count + (size_t)1) * sizeof(i32)),
                              .count = from->count };
    return order_codes->order_codes != NULL;
}

/* Numbers of words, morsels shared out to threads. */
struct placing {
    const struct making *making;
    const struct order_codes *order_codes; /* that have room */
    unsigned threads;
};

/* Writes the numbers of the words of an input in a morsel. */
static void place_words(const struct placing *placing, size_t place,
                        unsigned input)
{
    const struct making *making = placing->making;
    const struct dictionary *constants = making->table->constants;
    const struct order_codes *to = &placing->order_codes[place];
    i32 *numbers = (i32 *)to->order_codes;
    uint32_t first = 0;
    if (to->count == 0)
        return;
    const struct dictionary *words =
        words_of(making, &making->params->base->order_codes[place], input);
    assert(words->count == to->count);
    for (uint32_t i = 0; i < constants->count; i++) {
        uint32_t end;
        bool there =
            dictionary_find(words, dictionary_text(constants, i), &end);
        put_number(numbers, first, end, 2 * (i32)i);
        first = end + there;
        if (there)
            numbers[end] = 2 * (i32)i + 1;
    }
    put_number(numbers, first, to->count, 2 * (i32)constants->count);
}

/* Every so-many-th morsel's. */
static void place_share(void *context, unsigned share)
{
    const struct placing *placing = context;
    const struct dictionary_base *base = placing->making->params->base;
    for (size_t morsel = share; morsel < base->morsels && !stop_asked();
         morsel += placing->threads)
        for (unsigned i = 0; i < base->inputs; i++)
            if (words_compared(placing->making, i))
                place_words(placing, morsel * base->inputs + i, i);
}

void word_places(const struct making *making,
                 const struct order_codes *order_codes)
{
    const struct dictionary_base *base = making->params->base;
    uint64_t words = 0;
    for (size_t i = 0; i < base->morsels * base->inputs; i++)
        if (words_compared(making, (unsigned)(i % base->inputs)))
            words += base->counts[i];
    struct placing placing = { .making = making,
                               .order_codes = order_codes,
                               .threads = parallel_threads(
                                   making->params->threads, words) };
    parallel_run(placing.threads, place_share, &placing);
}
