/* SPDX-License-Identifier: MIT */
/*
 * Unpacks words as they come, some units at a time, on several threads: of the
 * packed ones no more is in memory.
 */
#include "data/words/words_pack.h"

#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/parallel.h"
#include "data/words/unit_unpack.h"
#include "data/words/words_check.h"

enum {
    BATCH_UNITS = HOSTILE(2, 64), /* that are unpacked together, ... */
    BATCH_BYTES = 1 << 20         /* ... of so many packed bytes, or one */
};

bool words_sizes(const void *start, bool packed, struct words_sizes *sizes)
{
    const struct packed_words *head = start;

    sizes->memory = TABLET_WORDS_SIZE(head->count, head->bytes);
    sizes->file =
        packed ? PACKED_WORDS_SIZE(head->units, head->packed) : sizes->memory;
    return sizes->memory / UNIT_RATIO_MAX <= sizes->file;
}

/* Neighbouring units that are unpacked together. */
struct batch {
    const struct words_unit *units; /* the first one */
    uint32_t count;
    struct unit_place places[BATCH_UNITS];
    const uint8_t *packed[BATCH_UNITS];
};

/* Words as they are unpacked. */
struct unpacking {
    const struct packed_words *head;
    const struct words_unit *units;
    struct unit_place next; /* where those of the next unit go */
    uint64_t left;          /* bytes of the next units */
    struct batch batch;
    unsigned threads; /* that unpack it, each with: */
    struct unit_room rooms[PARALLEL_THREADS_MAX];
    const char *faults[PARALLEL_THREADS_MAX];
};

/* What is left from the next unit on. */
static struct units_left units_left(const struct unpacking *to)
{
    return (struct units_left){ to->head->count - to->next.word,
                                to->head->bytes - to->next.start, to->left };
}

/* Chooses the next units, and where their words go. Their packed bytes, or 0:
 * one does not fit. */
static uint64_t choose_batch(struct unpacking *to, uint32_t first)
{
    struct batch *batch = &to->batch;
    uint64_t size = 0;

    batch->units = to->units + first;
    batch->count = 0;
    while (batch->count < BATCH_UNITS && size < BATCH_BYTES
           && first + batch->count < to->head->units) {
        const struct words_unit *unit = &batch->units[batch->count];
        if (!unit_is_sound(unit, units_left(to)))
            return 0;
        batch->places[batch->count++] = to->next;
        to->next.word += unit->words;
        to->next.start += unit->bytes;
        to->left -= unit->packed;
        size += unit->packed;
    }
    return size;
}

/* Unpacks a thread's share of the batch. */
static void unpack_share(void *context, unsigned number)
{
    struct unpacking *to = context;
    const struct batch *batch = &to->batch;
    uint32_t first = batch->count * number / to->threads;
    uint32_t end = batch->count * (number + 1) / to->threads;

    to->faults[number] = NULL;
    for (uint32_t i = first; i < end && to->faults[number] == NULL; i++) {
        to->faults[number] = unit_unpack(&batch->units[i], batch->packed[i],
                                         &batch->places[i], &to->rooms[number]);
        paged_put_away();
    }
}

/* Whether the first word of a unit, if there are others before it, comes behind
 * them. */
static bool is_behind(const struct unit_place *place)
{
    uint32_t word = place->word, start = place->start;

    if (word == 0)
        return true;
    uint32_t before = word > 1 ? place->ends[word - 2] : 0;
    return word_behind(place->bytes + before, start - before,
                       place->bytes + start, place->ends[word] - start);
}

/* Unpacks a batch that was read; what is wrong. */
static const char *unpack_batch(struct unpacking *to)
{
    const struct batch *batch = &to->batch;

    parallel_run(to->threads, unpack_share, to);
    for (unsigned i = 0; i < to->threads; i++)
        if (to->faults[i] != NULL)
            return to->faults[i];
    for (uint32_t i = 0; i < batch->count; i++)
        if (!is_behind(&batch->places[i]))
            return "the words are not in order";
    return NULL;
}

/* Reads the next units and unpacks them; what is wrong. */
static const char *take_batch(struct unpacking *to, uint32_t first,
                              const struct words_source *source)
{
    struct batch *batch = &to->batch;
    uint64_t size = choose_batch(to, first);
    const uint8_t *packed;

    if (size == 0)
        return "a unit of packed words does not fit";
    packed = source->next(source->context, size);
    if (packed == NULL)
        return "packed words cannot be read";
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->packed[i] = packed;
        packed += batch->units[i].packed;
    }
    return unpack_batch(to);
}

/* Unpacks all units. */
static const char *take_units(struct unpacking *to,
                              const struct words_source *source,
                              unsigned threads)
{
    const char *fault = NULL;

    to->threads = threads < to->head->units ? threads : to->head->units;
    if (to->threads > PARALLEL_THREADS_MAX)
        to->threads = PARALLEL_THREADS_MAX;
    for (uint32_t i = 0; i < to->head->units && fault == NULL;
         i += to->batch.count)
        fault = take_batch(to, i, source);
    for (unsigned i = 0; i < to->threads; i++)
        unit_room_finish(&to->rooms[i]);
    if (fault == NULL && to->left > 0)
        return "packed words are left over";
    if (fault == NULL
        && (to->next.word != to->head->count
            || to->next.start != to->head->bytes))
        return "packed words are fewer than they say";
    return fault;
}

/* A copy of what the next bytes say of the units; NULL: no memory, or there are
 * no such bytes. */
static struct words_unit *read_units(uint32_t count,
                                     const struct words_source *source)
{
    size_t size = count * sizeof(struct words_unit);
    struct words_unit *units = memory_resize(NULL, size);
    const void *bytes =
        units != NULL ? source->next(source->context, size) : NULL;

    if (bytes != NULL)
        return memcpy(units, bytes, size);
    memory_release(units);
    return NULL;
}

/* Unpacks the words behind a head into `words`. */
static const char *take_all(const struct packed_words *head,
                            const struct words_source *source, unsigned threads,
                            struct tablet_words *words)
{
    uint32_t *ends = (uint32_t *)(words + 1);
    struct words_unit *units = read_units(head->units, source);
    struct unpacking to = { .head = head,
                            .units = units,
                            .next = { .ends = ends,
                                      .bytes = (char *)(ends + head->count) },
                            .left = head->packed };
    const char *fault;

    if (units == NULL)
        return "there is no memory to unpack its words";
    fault = take_units(&to, source, threads);
    memory_release(units);
    return fault;
}

const char *words_unpack(const struct words_source *source,
                         const struct words_sizes *sizes, unsigned threads,
                         void *to)
{
    const void *start =
        source->next(source->context, sizeof(struct packed_words));
    struct tablet_words *words = to;
    struct packed_words head;
    struct words_sizes now;
    const char *fault;
    size_t used;

    if (start == NULL || !words_sizes(start, true, &now)
        || now.file != sizes->file || now.memory != sizes->memory)
        return "the size of packed words is not what it was";
    memcpy(&head, start, sizeof head);
    *words = (struct tablet_words){ .count = head.count, .bytes = head.bytes };
    fault = take_all(&head, source, threads, words);
    used = sizeof *words + (size_t)head.count * sizeof(uint32_t) + head.bytes;
    if (fault == NULL)
        memset((uint8_t *)to + used, 0, (size_t)sizes->memory - used);
    return fault;
}

/* -------------------------------------------------------------- memory -- */

static const void *next_in_memory(void *context, size_t size)
{
    struct words_area *area = context;
    const uint8_t *at = area->at;

    if (size > (size_t)(area->end - at))
        return NULL;
    area->at += size;
    return at;
}

struct words_source words_in_memory(struct words_area *area)
{
    return (struct words_source){ next_in_memory, area };
}
