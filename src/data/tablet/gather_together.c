/* SPDX-License-Identifier: MIT */
/*
 * Putting gathers together. A text's id counts those of the gathers before. Ids
 * are dealt out to partitions by the highest bits of the texts' hashes, so that
 * a thread finds equal ones of a partition in a table that its caches hold; the
 * least id of equal texts stands for them all, and is the word.
 */
#include "data/tablet/gather_inner.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/dictionary_sort.h"

enum {
    PARTITION_WORDS = HOSTILE(2, 1 << 14), /* of a partition, about */
    PARTITION_BITS_MAX = 12
};

/* The words of one gather among those of all. */
struct gather_part {
    uint64_t first; /* id of its first text                               */
    uint64_t count; /* of its texts that are words; then their first number */
    uint64_t bytes; /* of these; then where they begin                    */
};

struct together {
    struct gather *gathers;
    struct gather_part parts[PARALLEL_THREADS_MAX]; /* one a gather */
    unsigned count;                                 /* of both      */
    unsigned threads;
    uint64_t texts;     /* of all gathers                                    */
    unsigned bits;      /* of a hash that tell partitions apart              */
    uint32_t *ends;     /* of gather g in partition p, [g << bits | p]: how many
                         ids, then behind which place of `ids` they are    */
    uint64_t *ids;      /* by partitions, ascending, half of a hash in front of
                      each; paged                                       */
    uint32_t *first;    /* of each id: the least of an equal text; paged.
                         NULL: all are words                               */
    atomic_uint next;   /* partition that no thread has taken yet            */
    atomic_bool failed; /* there was no memory                             */
    struct dictionary *dictionary;
};

/* Which gather an id is of. */
static unsigned gather_of(const struct together *all, uint32_t id)
{
    unsigned low = 0, high = all->count;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (all->parts[middle].first <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct vdbq_text text_of(const struct together *all, uint32_t id)
{
    unsigned gather = gather_of(all, id);
    return all->gathers[gather].texts[id - all->parts[gather].first];
}

/* ---------------------------------------------------------- partitions -- */

static unsigned partition_of(const struct together *all, uint64_t hash)
{
    return all->bits > 0 ? (unsigned)(hash >> (64 - all->bits)) : 0;
}

/* How many ids of a gather each partition gets. */
static void count_ids(void *context, unsigned number)
{
    struct together *all = context;
    const struct gather *gather = &all->gathers[number];
    uint32_t *ends = all->ends + ((size_t)number << all->bits);
    for (uint32_t i = 0; i < gather->count && !stop_at(i); i++)
        ends[partition_of(all, gather->hashes[i])]++;
}

/* Puts the ids of a gather where they belong. */
static void deal_ids(void *context, unsigned number)
{
    struct together *all = context;
    const struct gather *gather = &all->gathers[number];
    uint32_t *ends = all->ends + ((size_t)number << all->bits);
    uint32_t id = (uint32_t)all->parts[number].first;
    for (uint32_t i = 0; i < gather->count && !stop_at(i); i++) {
        uint64_t hash = gather->hashes[i];
        all->ids[ends[partition_of(all, hash)]++] = hash << 32 | (id + i);
        all->first[id + i] = id + i;
    }
}

/* Where the ids of each gather begin in each partition. */
static void place_ids(struct together *all)
{
    uint32_t place = 0;
    for (unsigned partition = 0; partition < 1u << all->bits; partition++)
        for (unsigned i = 0; i < all->count; i++) {
            uint32_t *end = &all->ends[((size_t)i << all->bits) + partition];
            uint32_t here = *end;
            *end = place;
            place += here;
        }
}

/* A table of a partition's ids: half of a hash, and the id + 1; 0: free. */
struct table {
    uint64_t *slots;
    size_t room, mask;
};

/* Room for so many, all slots free; false: no memory. */
static bool clear_table(struct table *table, uint32_t count)
{
    size_t slots = 16;
    while (slots < (size_t)count * 2)
        slots *= 2;
    if (slots > table->room) {
        memory_release(table->slots);
        table->room = 0;
        table->slots = memory_resize(NULL, slots * sizeof *table->slots);
        if (table->slots == NULL)
            return false;
        table->room = slots;
    }
    memset(table->slots, 0, slots * sizeof *table->slots);
    table->mask = slots - 1;
    return true;
}

/* The least id of an equal text, which the table has from then on. A text is
 * looked at only where half of its hash is met again. */
static uint32_t least_id(const struct together *all, const struct table *table,
                         uint64_t half_and_id)
{
    uint32_t id = (uint32_t)half_and_id;
    size_t slot = (size_t)(half_and_id >> 32) & table->mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & table->mask) {
        uint32_t other = (uint32_t)table->slots[slot] - 1;
        if ((table->slots[slot] ^ half_and_id) >> 32 == 0
            && text_compare(text_of(all, other), text_of(all, id)) == 0)
            return other;
    }
    table->slots[slot] = half_and_id + 1;
    return id;
}

/* Finds equal texts in a partition; false: no memory, or asked to stop. */
static bool match_partition(struct together *all, unsigned partition,
                            struct table *table)
{
    const uint32_t *ends = all->ends + partition;
    uint32_t at =
        partition > 0 ? ends[((size_t)(all->count - 1) << all->bits) - 1] : 0;
    uint32_t end = ends[(size_t)(all->count - 1) << all->bits];
    if (!clear_table(table, end - at))
        return false;
    for (; at < end && !stop_at(at); at++) {
        uint32_t id = (uint32_t)all->ids[at];
        uint32_t first = least_id(all, table, all->ids[at]);
        if (first != id)
            all->first[id] = first;
    }
    return at == end;
}

/* Finds equal texts in one partition after the other. */
static void match_ids(void *context, unsigned share)
{
    struct together *all = context;
    struct table table = { 0 };
    (void)share;
    while (!atomic_load(&all->failed)) {
        unsigned partition = atomic_fetch_add(&all->next, 1);
        if (partition >= 1u << all->bits)
            break;
        if (!match_partition(all, partition, &table))
            atomic_store(&all->failed, true);
    }
    memory_release(table.slots);
}

/* Finds the first of equal texts for each id; false: no memory, or asked to
 * stop. */
static bool match(struct together *all)
{
    while (all->bits < PARTITION_BITS_MAX
           && all->texts >> all->bits > PARTITION_WORDS)
        all->bits++;
    size_t size = (size_t)(all->texts + 1) * sizeof(uint32_t);
    all->ends =
        memory_zeroed((size_t)all->count << all->bits, sizeof *all->ends);
    all->ids = paged_alloc(size * 2);
    all->first = paged_alloc(size);
    if (all->ends == NULL || all->ids == NULL || all->first == NULL)
        return false;
    parallel_run(all->count, count_ids, all);
    if (stop_asked())
        return false;
    place_ids(all);
    parallel_run(all->count, deal_ids, all);
    if (stop_asked())
        return false;
    unsigned threads = parallel_threads(all->threads, all->texts);
    parallel_run(threads, match_ids, all);
    return !atomic_load(&all->failed);
}

/* --------------------------------------------------------------- words -- */

static bool is_word(const struct together *all, uint64_t id)
{
    return all->first == NULL || all->first[id] == id;
}

/* How many texts of a gather are words, and their bytes. */
static void count_words(void *context, unsigned number)
{
    struct together *all = context;
    const struct gather *gather = &all->gathers[number];
    struct gather_part part = all->parts[number];
    for (uint32_t i = 0; i < gather->count && !stop_at(i); i++)
        if (is_word(all, part.first + i)) {
            part.count++;
            part.bytes += gather->texts[i].length;
        }
    all->parts[number] = part;
}

/* Writes the words of a gather, and notes their numbers. */
static void write_words(void *context, unsigned number)
{
    struct together *all = context;
    struct gather *gather = &all->gathers[number];
    const struct gather_part *part = &all->parts[number];
    uint32_t *ends = (uint32_t *)all->dictionary->ends;
    uint32_t word = (uint32_t)part->count;
    char *to = (char *)all->dictionary->bytes + part->bytes;
    for (uint32_t i = 0; i < gather->count && !stop_at(i); i++) {
        if (!is_word(all, part->first + i))
            continue;
        struct vdbq_text text = gather->texts[i];
        paged_copy(to, text.bytes, text.length);
        to += text.length;
        ends[word] = (uint32_t)(to - all->dictionary->bytes);
        gather->numbers[i] = word++;
    }
}

/* Texts that are no words have the numbers of their first ones. */
static void number_others(void *context, unsigned number)
{
    struct together *all = context;
    const struct gather *gather = &all->gathers[number];
    uint64_t id = all->parts[number].first;
    for (uint32_t i = 0; i < gather->count && !stop_at(i); i++) {
        uint32_t first = all->first[id + i];
        unsigned other = gather_of(all, first);
        if (first != id + i)
            gather->numbers[i] =
                all->gathers[other].numbers[first - all->parts[other].first];
    }
}

/* Where the words of each gather begin; false: they are too many. */
static bool place_words(struct together *all)
{
    uint64_t count = 0, bytes = 0;
    for (unsigned i = 0; i < all->count; i++) {
        struct gather_part *part = &all->parts[i];
        uint64_t words = part->count, size = part->bytes;
        part->count = count;
        part->bytes = bytes;
        count += words;
        bytes += size;
    }
    all->dictionary = dictionary_room((uint32_t)count, bytes);
    if (all->dictionary == NULL)
        return false;
    all->dictionary->unordered = count > 1;
    all->dictionary->repeats = count > 1 && all->first == NULL;
    return true;
}

/* Room for the numbers of all places. */
static bool numbers_room(const struct together *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        struct gather *gather = &all->gathers[i];
        gather->numbers =
            paged_alloc((gather->count + (size_t)1) * sizeof *gather->numbers);
        if (gather->numbers == NULL)
            return false;
    }
    return true;
}

/* Makes words of the texts of all gathers; false: no memory. */
static bool make_words(struct together *all)
{
    parallel_run(all->count, count_words, all);
    if (stop_asked() || !numbers_room(all) || !place_words(all))
        return false;
    parallel_run(all->count, write_words, all);
    if (all->first != NULL)
        parallel_run(all->count, number_others, all);
    return !stop_asked();
}

/* ---------------------------------------------------------------- order -- */

struct following {
    struct gather *gathers;
    const uint32_t *numbers; /* of each word before */
};

static void follow(void *context, unsigned number)
{
    const struct following *following = context;
    const struct gather *gather = &following->gathers[number];
    for (uint32_t i = 0; i < gather->count && !stop_at(i); i++)
        gather->numbers[i] = following->numbers[gather->numbers[i]];
}

/* Puts the words in their order, and their numbers with them. */
static struct dictionary *sort_words(struct together *all)
{
    struct dictionary *before = all->dictionary;
    uint32_t *numbers =
        paged_alloc((before->count + (size_t)1) * sizeof *numbers);
    struct dictionary *sorted =
        numbers != NULL ? dictionary_sorted(before, numbers, all->threads)
                        : NULL;
    struct following following = { all->gathers, numbers };
    if (sorted != NULL)
        parallel_run(all->count, follow, &following);
    paged_release(numbers);
    dictionary_release(before);
    return sorted;
}

/* ------------------------------------------------------------------ all -- */

/* Numbers the texts of all gathers. */
static struct together begin(struct gather *gathers, unsigned count,
                             unsigned threads)
{
    struct together all = { .gathers = gathers,
                            .count = count,
                            .threads = threads };
    assert(count > 0 && count <= PARALLEL_THREADS_MAX);
    for (unsigned i = 0; i < count; i++) {
        all.parts[i].first = all.texts;
        all.texts += gathers[i].count;
    }
    return all;
}

/* Lets go of all but the words. */
static void end(struct together *all)
{
    for (unsigned i = 0; i < all->count; i++)
        gather_release_texts(&all->gathers[i]);
    memory_release(all->ends);
    paged_release(all->ids);
    paged_release(all->first);
}

struct dictionary *gather_together(struct gather *gathers, unsigned count,
                                   enum texts_use use, unsigned threads)
{
    struct together all = begin(gathers, count, threads);
    for (unsigned i = 0; i < count; i++)
        assert(!gathers[i].is_given || use <= TEXTS_GIVEN);
    bool made = all.texts < UINT32_MAX && (use <= TEXTS_GIVEN || match(&all))
                && make_words(&all);
    end(&all);
    if (!made) {
        dictionary_release(all.dictionary);
        return NULL;
    }
    if (use == TEXTS_ORDERED && all.dictionary->unordered)
        all.dictionary = sort_words(&all);
    return dictionary_unless_stopped(all.dictionary);
}

/* -------------------------------------------------------------- translating -- */

enum { SHARES_MAX = PARALLEL_THREADS_MAX / 2 };

/* Words of two dictionaries: a share of each is a gather, those of the one that
 * words are looked for in come first. */
struct translating {
    const struct dictionary *sides[2]; /* NULL: without words           */
    unsigned shares;                   /* of a side                      */
    struct gather gathers[2 * SHARES_MAX];
    atomic_bool failed;         /* there was no memory                    */
    const struct together *all; /* once they are listed                   */
    uint32_t *numbers;          /* of the words that are looked for       */
};

/* Takes a share of a side's words. */
static void list_share(void *context, unsigned number)
{
    struct translating *translating = context;
    const struct dictionary *words =
        translating->sides[number / translating->shares];
    unsigned share = number % translating->shares;
    uint64_t count = words != NULL ? words->count : 0;
    uint32_t first = (uint32_t)(count * share / translating->shares);
    uint32_t next = (uint32_t)(count * (share + 1) / translating->shares);
    if (!gather_list(&translating->gathers[number], words, first, next - first))
        atomic_store(&translating->failed, true);
}

/* A word has the number of the one that it equals, if that is of the first side. */
static void number_share(void *context, unsigned share)
{
    const struct translating *translating = context;
    const struct together *all = translating->all;
    uint64_t known = all->parts[translating->shares].first;
    uint64_t id = all->parts[translating->shares + share].first;
    uint32_t count = translating->gathers[translating->shares + share].count;
    for (uint32_t i = 0; i < count && !stop_at(i); i++, id++)
        translating->numbers[id - known] =
            all->first[id] < known ? all->first[id] : DICTIONARY_NONE;
}

/* Finds equal words once all are listed; false: no memory, or asked to stop. */
static bool number_listed(struct translating *translating, unsigned threads)
{
    struct together all =
        begin(translating->gathers, 2 * translating->shares, threads);
    bool found = !atomic_load(&translating->failed) && all.texts < UINT32_MAX
                 && match(&all);
    translating->all = &all;
    if (found)
        parallel_run(translating->shares, number_share, translating);
    end(&all);
    return found;
}

uint32_t *gather_translate(const struct dictionary *from,
                           const struct dictionary *to, unsigned threads)
{
    struct translating translating = { .sides = { to, from } };
    uint64_t count = from != NULL ? from->count : 0;
    unsigned shares =
        parallel_threads(threads, count + (to != NULL ? to->count : 0));
    translating.shares = shares < SHARES_MAX ? shares : SHARES_MAX;
    translating.numbers =
        paged_alloc((count + 1) * sizeof *translating.numbers);
    if (translating.numbers == NULL)
        return NULL;
    parallel_run(2 * translating.shares, list_share, &translating);
    if (number_listed(&translating, threads))
        return translating.numbers;
    paged_release(translating.numbers);
    return NULL;
}
