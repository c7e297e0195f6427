/* SPDX-License-Identifier: MIT */
/*
 * Words: one block of memory, of ends and bytes, shared by its holders. To
 * make them, different texts are found in a table of hashes first, since most
 * texts of a column are there many times; only they are sorted.
 */
#include "data/tablet/dictionary.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "data/tablet/tablet.h"
#include "data/tablet/dictionary_sort.h"

struct dictionary *dictionary_hold(struct dictionary *dictionary)
{
    if (dictionary != NULL)
        dictionary->holders++;
    return dictionary;
}

void dictionary_release(struct dictionary *dictionary)
{
    if (dictionary != NULL && --dictionary->holders == 0)
        memory_release(dictionary);
}

struct vdbq_text dictionary_text(const struct dictionary *dictionary,
                                 uint32_t number)
{
    struct vdbq_text text = { .bytes = "" };
    uint32_t start;

    if (dictionary == NULL || number >= dictionary->count)
        return text;
    start = number > 0 ? dictionary->ends[number - 1] : 0;
    text.bytes = dictionary->bytes + start;
    text.length = dictionary->ends[number] - start;
    return text;
}

bool dictionary_find(const struct dictionary *dictionary, struct vdbq_text text,
                     uint32_t *number)
{
    uint32_t low = 0, high = dictionary != NULL ? dictionary->count : 0;

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

uint32_t *dictionary_translate(const struct dictionary *from,
                               const struct dictionary *to)
{
    uint32_t count = from != NULL ? from->count : 0, at = 0;
    uint32_t others = to != NULL ? to->count : 0;
    uint32_t *numbers = memory_zeroed(count, sizeof *numbers);

    for (uint32_t i = 0; numbers != NULL && i < count; i++) {
        struct vdbq_text text = dictionary_text(from, i);
        while (at < others && text_compare(dictionary_text(to, at), text) < 0)
            at++;
        numbers[i] =
            at < others && text_compare(dictionary_text(to, at), text) == 0
                ? at
                : DICTIONARY_NONE;
    }
    return numbers;
}

/* Words of that many texts and bytes, not written yet. */
static struct dictionary *dictionary_room(uint32_t count, uint64_t bytes)
{
    size_t ends = (size_t)count * sizeof(uint32_t);
    struct dictionary *dictionary;

    if (bytes > UINT32_MAX)
        return NULL;
    dictionary =
        memory_resize(NULL, sizeof *dictionary + ends + (size_t)bytes + 1);
    if (dictionary == NULL)
        return NULL;
    *dictionary =
        (struct dictionary){ .holders = 1,
                             .count = count,
                             .ends = (const uint32_t *)(dictionary + 1),
                             .bytes = (const char *)(dictionary + 1) + ends };
    return dictionary;
}

/* Writes the next word: number `number`, behind `end` bytes. */
static uint32_t put(struct dictionary *dictionary, uint32_t number,
                    uint32_t end, struct vdbq_text text)
{
    if (text.length > 0)
        memcpy((char *)dictionary->bytes + end, text.bytes, text.length);
    end += (uint32_t)text.length;
    ((uint32_t *)dictionary->ends)[number] = end;
    return end;
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
    for (size_t i = 0; i < making->count; i++)
        enter_slot(making, (uint32_t)i);
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
    for (uint32_t i = 0; i < count; i++) {
        end = put(dictionary, i, end, texts[order[i]]);
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
    for (size_t i = 0; dictionary != NULL && numbers != NULL && i < count; i++)
        numbers[i] = numbers[i] == UINT32_MAX ? 0 : number_of[numbers[i]];
    memory_release(order);
    return dictionary;
}

struct dictionary *dictionary_make(const struct vdbq_text *texts, size_t count,
                                   uint32_t *numbers)
{
    struct making making = { 0 };
    struct dictionary *dictionary = NULL;
    bool room = true;

    for (size_t i = 0; i < count && room; i++) {
        uint32_t place = UINT32_MAX;
        if (texts[i].bytes != NULL)
            room = enter(&making, texts[i], &place);
        if (numbers != NULL)
            numbers[i] = place;
    }
    if (room)
        dictionary = finish_words(&making, count, numbers);
    making_finish(&making);
    return dictionary;
}

/* --------------------------------------------------------------- join -- */

/* Two sets of words that become one; either's numbers in it may be asked. */
struct joining {
    const struct dictionary *part[2];
    uint32_t *numbers[2];
};

static uint64_t bytes_of(const struct dictionary *dictionary)
{
    return dictionary->count > 0 ? dictionary->ends[dictionary->count - 1] : 0;
}

static struct dictionary *join_two(const struct joining *joining)
{
    const struct dictionary *a = joining->part[0], *b = joining->part[1];
    uint32_t i = 0, k = 0, end = 0, count = 0;
    uint64_t bytes = bytes_of(a) + bytes_of(b);
    struct dictionary *dictionary;

    if ((uint64_t)a->count + b->count > UINT32_MAX)
        return NULL;
    dictionary = dictionary_room(a->count + b->count, bytes);
    while (dictionary != NULL && (i < a->count || k < b->count)) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : text_compare(dictionary_text(a, i),
                                                   dictionary_text(b, k));
        end = put(dictionary, count, end,
                  order <= 0 ? dictionary_text(a, i) : dictionary_text(b, k));
        if (order <= 0)
            joining->numbers[0][i++] = count;
        if (order >= 0)
            joining->numbers[1][k++] = count;
        count++;
    }
    if (dictionary != NULL)
        dictionary->count = count;
    return dictionary;
}

/* The numbers of parts [first, end) go through one more table. */
static void follow(struct dictionary *const *parts, size_t first, size_t end,
                   uint32_t *const *numbers, const uint32_t *table)
{
    for (size_t i = first; i < end; i++)
        for (uint32_t k = 0; parts[i] != NULL && k < parts[i]->count; k++)
            numbers[i][k] = table[numbers[i][k]];
}

/* Joins parts [first, end), halves first; `numbers` are all there. */
static struct dictionary *join_range(struct dictionary *const *parts,
                                     size_t first, size_t end,
                                     uint32_t *const *numbers)
{
    size_t middle = first + (end - first) / 2;
    struct dictionary *halves[2] = { NULL, NULL }, *dictionary = NULL;
    uint32_t *tables[2] = { NULL, NULL };

    if (end - first == 1) {
        for (uint32_t k = 0; parts[first] != NULL && k < parts[first]->count;
             k++)
            numbers[first][k] = k;
        return parts[first] != NULL ? dictionary_hold(parts[first])
                                    : dictionary_room(0, 0);
    }
    halves[0] = join_range(parts, first, middle, numbers);
    halves[1] = join_range(parts, middle, end, numbers);
    for (unsigned i = 0; i < 2 && halves[i] != NULL; i++)
        tables[i] = memory_resize(NULL, ((size_t)halves[i]->count + 1)
                                            * sizeof *tables[i]);
    if (tables[0] != NULL && tables[1] != NULL)
        dictionary = join_two(&(struct joining){ { halves[0], halves[1] },
                                                 { tables[0], tables[1] } });
    if (dictionary != NULL) {
        follow(parts, first, middle, numbers, tables[0]);
        follow(parts, middle, end, numbers, tables[1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        memory_release(tables[i]);
        dictionary_release(halves[i]);
    }
    return dictionary;
}

struct dictionary *dictionary_join(struct dictionary *const *parts,
                                   size_t count, uint32_t *const *numbers)
{
    struct dictionary *dictionary = NULL;
    uint32_t **own = memory_zeroed(count + 1, sizeof *own);
    bool room = own != NULL;

    for (size_t i = 0; room && i < count; i++) {
        size_t need = parts[i] != NULL ? parts[i]->count : 0;
        own[i] = numbers != NULL ? numbers[i] : NULL;
        if (own[i] == NULL)
            own[i] = memory_resize(NULL, (need + 1) * sizeof **own);
        room = own[i] != NULL;
    }
    if (room)
        dictionary = count > 0 ? join_range(parts, 0, count, own)
                               : dictionary_room(0, 0);
    for (size_t i = 0; own != NULL && i < count; i++)
        if (numbers == NULL || numbers[i] == NULL)
            memory_release(own[i]);
    memory_release(own);
    return dictionary;
}

/* ------------------------------------------------------------- tablet -- */

struct dictionary *dictionary_of_tablet(const void *block, unsigned column)
{
    const struct tablet_words *head = tablet_words(block, column);
    const uint32_t *ends = (const uint32_t *)(head + 1);
    struct dictionary *dictionary = dictionary_room(head->count, head->bytes);

    if (dictionary == NULL)
        return NULL;
    memcpy((uint32_t *)dictionary->ends, ends, head->count * sizeof *ends);
    memcpy((char *)dictionary->bytes, ends + head->count, head->bytes);
    return dictionary;
}
