/* SPDX-License-Identifier: MIT */
/*
 * Words: one block of memory, of ends and bytes, shared by its holders. To
 * make them, different texts are found in a table of hashes first, since most
 * texts of a column are there many times; only they are sorted.
 */
#include "data/tablet/dictionary_inner.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/tablet/tablet.h"
#include "data/tablet/dictionary_sort.h"
#include "data/tablet/gather_inner.h"

struct dictionary *dictionary_hold(struct dictionary *dictionary)
{
    if (dictionary != NULL)
        dictionary->holders++;
    return dictionary;
}

void dictionary_release(struct dictionary *dictionary)
{
    if (dictionary == NULL || --dictionary->holders > 0)
        return;
    for (size_t i = 0;
         dictionary->parts != NULL && i < dictionary->parts->count; i++)
        dictionary_release(dictionary->parts->dictionaries[i]);
    paged_release(dictionary);
}

struct vdbq_text dictionary_text(const struct dictionary *dictionary,
                                 uint32_t number)
{
    struct vdbq_text text = { .bytes = "" };
    uint32_t start;

    if (dictionary == NULL || number >= dictionary->count)
        return text;
    if (dictionary->parts != NULL) {
        dictionary = dictionary_part(dictionary, number, &start);
        number -= start;
    }
    start = number > 0 ? dictionary->ends[number - 1] : 0;
    text.bytes = dictionary->bytes + start;
    text.length = dictionary->ends[number] - start;
    return text;
}

bool dictionary_find(const struct dictionary *dictionary, struct vdbq_text text,
                     uint32_t *number)
{
    uint32_t low = 0, high = dictionary != NULL ? dictionary->count : 0;

    assert(dictionary == NULL || !dictionary->unordered);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = text_compare(dictionary_text(dictionary, middle), text);
        if (order == 0) {
            *number = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *number = low;
    return false;
}

uint32_t dictionary_seek(const struct dictionary *dictionary, uint32_t first,
                         uint32_t end, struct vdbq_text text)
{
    uint32_t low = first, high = first, step = 1;
    while (high < end
           && text_compare(dictionary_text(dictionary, high), text) < 0) {
        low = high + 1;
        high = end - low > step ? low + step : end;
        step *= 2;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (text_compare(dictionary_text(dictionary, middle), text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

/* ------------------------------------------------ translating in order -- */

/* Words of one dictionary that are looked for in another, both in order, by
 * shares. */
struct following {
    const struct dictionary *from, *to;
    uint32_t *numbers; /* of the words of `from` in `to` */
    unsigned shares;
};

static void follow_share(void *context, unsigned share)
{
    const struct following *following = context;
    uint64_t count = following->from->count;
    uint32_t first = (uint32_t)(count * share / following->shares), at = 0;
    uint32_t end = (uint32_t)(count * (share + 1) / following->shares);
    const struct dictionary *to = following->to;
    if (first < end)
        dictionary_find(to, dictionary_text(following->from, first), &at);
    for (uint32_t i = first; i < end && !stop_at(i); i++) {
        struct vdbq_text text = dictionary_text(following->from, i);
        at = dictionary_seek(to, at, to->count, text);
        bool equal =
            at < to->count && text_compare(dictionary_text(to, at), text) == 0;
        following->numbers[i] = equal ? at : DICTIONARY_NONE;
    }
}

/* dictionary_translate() of words that are in order. */
static uint32_t *translate_in_order(const struct dictionary *from,
                                    const struct dictionary *to,
                                    unsigned threads)
{
    static const struct dictionary none = { .holders = 1 };
    struct following following = { .from = from != NULL ? from : &none,
                                   .to = to != NULL ? to : &none };
    uint64_t count = following.from->count;
    following.numbers = paged_alloc((count + 1) * sizeof(uint32_t));
    following.shares = parallel_threads(threads, count);
    if (following.numbers != NULL)
        parallel_run(following.shares, follow_share, &following);
    return following.numbers;
}

static bool is_unordered(const struct dictionary *dictionary)
{
    return dictionary != NULL && dictionary->unordered;
}

uint32_t *dictionary_translate(const struct dictionary *from,
                               const struct dictionary *to, unsigned threads)
{
    assert(to == NULL || !to->repeats);
    uint32_t *numbers = is_unordered(from) || is_unordered(to)
                            ? gather_translate(from, to, threads)
                            : translate_in_order(from, to, threads);
    if (!stop_asked())
        return numbers;
    paged_release(numbers);
    return NULL;
}

struct dictionary *dictionary_unless_stopped(struct dictionary *dictionary)
{
    if (dictionary == NULL || !stop_asked())
        return dictionary;
    dictionary_release(dictionary);
    return NULL;
}

struct dictionary *dictionary_room(uint32_t count, uint64_t bytes)
{
    size_t ends = (size_t)count * sizeof(uint32_t);
    struct dictionary *dictionary;

    if (bytes > UINT32_MAX)
        return NULL;
    dictionary = paged_alloc(sizeof *dictionary + ends + (size_t)bytes + 1);
    if (dictionary == NULL)
        return NULL;
    *dictionary =
        (struct dictionary){ .holders = 1,
                             .count = count,
                             .ends = (const uint32_t *)(dictionary + 1),
                             .bytes = (const char *)(dictionary + 1) + ends };
    return dictionary;
}

uint32_t dictionary_put(struct dictionary *dictionary, uint32_t number,
                        uint32_t end, struct vdbq_text text)
{
    if (text.length > 0)
        memcpy((char *)dictionary->bytes + end, text.bytes, text.length);
    end += (uint32_t)text.length;
    ((uint32_t *)dictionary->ends)[number] = end;
    return end;
}

/* -------------------------------------------------------------- parts -- */

/* Room for so many parts behind their dictionary, which has no words yet. */
static struct dictionary *parts_room(size_t count)
{
    struct dictionary_parts *parts;
    struct dictionary *dictionary = paged_alloc(
        sizeof *dictionary + sizeof *parts + count * sizeof *parts->dictionaries
        + (count + 1) * sizeof *parts->firsts);

    if (dictionary == NULL)
        return NULL;
    parts = (struct dictionary_parts *)(dictionary + 1);
    *parts = (struct dictionary_parts){
        .dictionaries = (struct dictionary **)(parts + 1),
        .firsts = (uint32_t *)((struct dictionary **)(parts + 1) + count)
    };
    parts->firsts[0] = 0;
    *dictionary = (struct dictionary){
        .holders = 1, .unordered = true, .repeats = true, .parts = parts
    };
    return dictionary;
}

struct dictionary *dictionary_of_parts(struct dictionary *const *parts,
                                       size_t count)
{
    struct dictionary *dictionary = parts_room(count);
    struct dictionary_parts *made;

    if (dictionary == NULL)
        return NULL;
    made = (struct dictionary_parts *)dictionary->parts;
    for (; made->count < count; made->count++) {
        uint64_t end = (uint64_t)dictionary->count + parts[made->count]->count;
        assert(parts[made->count]->parts == NULL);
        if (end > UINT32_MAX) {
            dictionary_release(dictionary);
            return NULL;
        }
        made->dictionaries[made->count] = dictionary_hold(parts[made->count]);
        made->lies_in_file |= paged_lies_in_file(parts[made->count]);
        made->firsts[made->count + 1] = dictionary->count = (uint32_t)end;
    }
    return dictionary;
}

const struct dictionary *dictionary_part(const struct dictionary *dictionary,
                                         uint32_t number, uint32_t *first)
{
    const struct dictionary_parts *parts = dictionary->parts;
    size_t low = 0, high = parts != NULL ? parts->count : 0;

    assert(number < dictionary->count);
    *first = 0;
    if (parts == NULL)
        return dictionary;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (parts->firsts[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    *first = parts->firsts[low];
    assert(number - *first < parts->dictionaries[low]->count);
    return parts->dictionaries[low];
}

/* --------------------------------------------------------------- make -- */

/* Different texts, by the place that each got when it came first. */
struct making {
    struct vdbq_text *texts;
    uint64_t *hashes;
    uint32_t *slots; /* by hash: a place + 1; 0: free */
    size_t count, room;
    size_t slot_count;
};

static void making_finish(struct making *making)
{
    memory_release(making->slots);
    memory_release(making->hashes);
    memory_release(making->texts);
}

static void enter_slot(struct making *making, uint32_t place)
{
    size_t mask = making->slot_count - 1;
    size_t slot = (size_t)making->hashes[place] & mask;

    while (making->slots[slot] != 0)
        slot = (slot + 1) & mask;
    making->slots[slot] = place + 1;
}

/* Room for twice as many texts. */
static bool grow(struct making *making)
{
    size_t room = making->room > 0 ? making->room * 2 : 64;
    void *texts = memory_resize(making->texts, room * sizeof *making->texts);
    void *hashes;
    uint32_t *slots;

    if (texts == NULL)
        return false;
    making->texts = texts;
    hashes = memory_resize(making->hashes, room * sizeof *making->hashes);
    if (hashes == NULL)
        return false;
    making->hashes = hashes;
    slots = memory_zeroed(room * 2, sizeof *slots);
    if (slots == NULL)
        return false;
    memory_release(making->slots);
    making->slots = slots;
    making->slot_count = room * 2;
    making->room = room;
    for (size_t i = 0; i < making->count; i++) {
        if (stop_at(i))
            return false;
        enter_slot(making, (uint32_t)i);
    }
    return true;
}

/* The place of a text; false: no memory. */
static bool enter(struct making *making, struct vdbq_text text, uint32_t *place)
{
    uint64_t hash = XXH3_64bits(text.bytes, text.length);
    size_t mask, slot;

    if (making->count == making->room && !grow(making))
        return false;
    mask = making->slot_count - 1;
    for (slot = (size_t)hash & mask; making->slots[slot] != 0;
         slot = (slot + 1) & mask) {
        uint32_t other = making->slots[slot] - 1;
        if (making->hashes[other] == hash
            && text_compare(making->texts[other], text) == 0) {
            *place = other;
            return true;
        }
    }
    if (making->count == UINT32_MAX - 1)
        return false;
    *place = (uint32_t)making->count++;
    making->texts[*place] = text;
    making->hashes[*place] = hash;
    making->slots[slot] = *place + 1;
    return true;
}

/* The words of the texts; `order` and `number_of` have room for a number for
 * each. */
static struct dictionary *write_words(const struct making *making,
                                      uint32_t *order, uint32_t *number_of)
{
    const struct vdbq_text *texts = making->texts;
    uint32_t count = (uint32_t)making->count, end = 0;
    struct dictionary *dictionary;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < count; i++)
        bytes += texts[i].length;
    dictionary = dictionary_room(count, bytes);
    if (dictionary == NULL || !dictionary_sort(texts, count, order)) {
        dictionary_release(dictionary);
        return NULL;
    }
    for (uint32_t i = 0; i < count && !stop_at(i); i++) {
        end = dictionary_put(dictionary, i, end, texts[order[i]]);
        number_of[order[i]] = i;
    }
    return dictionary;
}

/* The words; what was a place in `numbers` becomes a number. */
static struct dictionary *finish_words(const struct making *making,
                                       size_t count, uint32_t *numbers)
{
    uint32_t *order = memory_zeroed(making->count * 2 + 1, sizeof *order);
    uint32_t *number_of = order + making->count;
    struct dictionary *dictionary = NULL;

    if (order != NULL)
        dictionary = write_words(making, order, number_of);
    for (size_t i = 0;
         dictionary != NULL && numbers != NULL && i < count && !stop_at(i); i++)
        numbers[i] = numbers[i] == UINT32_MAX ? 0 : number_of[numbers[i]];
    memory_release(order);
    return dictionary_unless_stopped(dictionary);
}

/* The words of one text. */
static struct dictionary *make_of_one(struct vdbq_text text, uint32_t *numbers)
{
    bool there = text.bytes != NULL;
    struct dictionary *dictionary =
        dictionary_room(there, there ? text.length : 0);

    if (dictionary != NULL && there)
        dictionary_put(dictionary, 0, 0, text);
    if (numbers != NULL)
        numbers[0] = 0;
    return dictionary;
}

struct dictionary *dictionary_make(const struct vdbq_text *texts, size_t count,
                                   uint32_t *numbers)
{
    struct making making = { 0 };
    struct dictionary *dictionary = NULL;
    bool room = true;

    if (count == 1)
        return make_of_one(texts[0], numbers);
    for (size_t i = 0; i < count && room; i++) {
        uint32_t place = UINT32_MAX;
        if (stop_at(i))
            break;
        if (texts[i].bytes != NULL)
            room = enter(&making, texts[i], &place);
        if (numbers != NULL)
            numbers[i] = place;
    }
    if (room && !stop_asked())
        dictionary = finish_words(&making, count, numbers);
    making_finish(&making);
    return dictionary;
}

struct dictionary *dictionary_list(const struct vdbq_text *texts,
                                   uint32_t count)
{
    struct dictionary *dictionary;
    uint64_t bytes = 0;
    uint32_t end = 0;

    for (uint32_t i = 0; i < count; i++)
        bytes += texts[i].length;
    dictionary = dictionary_room(count, bytes);
    if (dictionary == NULL)
        return NULL;
    dictionary->unordered = dictionary->repeats = count > 1;
    for (uint32_t i = 0; i < count && !stop_at(i); i++)
        end = dictionary_put(dictionary, i, end, texts[i]);
    return dictionary_unless_stopped(dictionary);
}

/* ------------------------------------------------------------- tablet -- */

struct dictionary *dictionary_expected(uint64_t size)
{
    struct dictionary *dictionary;

    assert(size >= sizeof(struct tablet_words));
    if (size > SIZE_MAX / 2)
        return NULL;
    dictionary = paged_alloc(sizeof *dictionary + (size_t)size);
    if (dictionary != NULL)
        *dictionary = (struct dictionary){ .holders = 1 };
    return dictionary;
}

struct tablet_words *dictionary_area(struct dictionary *dictionary)
{
    return (struct tablet_words *)(dictionary + 1);
}

void dictionary_arrived(struct dictionary *dictionary)
{
    const struct tablet_words *words = dictionary_area(dictionary);

    assert(!dictionary_has_arrived(dictionary));
    dictionary->count = words->count;
    dictionary->ends = (const uint32_t *)(words + 1);
    dictionary->bytes = (const char *)(dictionary->ends + words->count);
}

struct dictionary *dictionary_of_tablet(const void *block, unsigned column)
{
    const struct tablet_words *words = tablet_words(block, column);
    uint64_t size = TABLET_WORDS_SIZE(words->count, words->bytes);
    struct dictionary *dictionary = dictionary_expected(size);

    if (dictionary == NULL)
        return NULL;
    paged_copy(dictionary_area(dictionary), words, (size_t)size);
    dictionary_arrived(dictionary);
    return dictionary;
}
