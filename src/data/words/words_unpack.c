/* SPDX-License-Identifier: MIT */
/*
 * Unpacks words, unit by unit, as they come: of the packed ones no more than a
 * unit is in memory. What words_fault() would look for in them is looked for in
 * each unit at once: the numbers of common bytes tell most of their order.
 */
#include "data/words/words_pack.h"

#include <string.h>

#include <zstd.h>

#include "base/memory.h"
#include "base/paged.h"
#include "base/type.h"
#include "data/words/words_check.h"

enum {
    NUMBER_BYTES_MAX = 5,
    PIECE = 16 /* bytes that are copied at a time */
};

bool words_sizes(const void *start, bool packed, struct words_sizes *sizes)
{
    const struct packed_words *head = start;

    sizes->memory = TABLET_WORDS_SIZE(head->count, head->bytes);
    sizes->file =
        packed ? PACKED_WORDS_SIZE(head->units, head->packed) : sizes->memory;
    return sizes->memory / UNIT_RATIO_MAX <= sizes->file;
}

/* Words as they are unpacked. */
struct unpacking {
    uint32_t *ends;
    char *bytes;
    uint32_t words, end; /* so far */
    uint32_t last;       /* bytes of the last word */
    uint32_t most_words, most_bytes;
};

/* Three runs of bytes that a unit was compressed from, as they are taken. */
struct runs {
    const uint8_t *shared, *rest, *bytes; /* what is next of each */
    const uint8_t *stop;                  /* where the last one ends */
};

/* Reads a number; NULL: there is none before `stop`. */
static inline const uint8_t *take_number(const uint8_t *at, const uint8_t *stop,
                                         uint32_t *number)
{
    *number = 0;
    for (unsigned i = 0; i < NUMBER_BYTES_MAX && at < stop; i++) {
        *number |= (uint32_t)(*at & 127) << 7 * i;
        if (*at++ < 128)
            return at;
    }
    return NULL;
}

/* Passes over so many numbers; NULL: there are fewer before `stop`. */
static const uint8_t *pass_numbers(const uint8_t *at, const uint8_t *stop,
                                   uint32_t count)
{
    if (count <= (size_t)(stop - at) && words_ascii(at, count))
        return at + count;
    for (uint32_t i = 0; i < count; i++) {
        while (at < stop && *at >= 128)
            at++;
        if (at++ >= stop)
            return NULL;
    }
    return at;
}

/* Finds the runs; false: they are not there. */
static bool find_runs(const struct words_unit *unit, const uint8_t *raw,
                      struct runs *runs)
{
    *runs = (struct runs){ .shared = raw, .stop = raw + unit->raw };
    runs->rest = pass_numbers(raw, runs->stop, unit->words);
    if (runs->rest != NULL)
        runs->bytes = pass_numbers(runs->rest, runs->stop, unit->words);
    return runs->bytes != NULL;
}

/* Copies bytes. `fast`: PIECE bytes less one behind them may be read there, and
 * be anything here. */
static inline void copy(char *to, const void *from, uint32_t size, bool fast)
{
    if (!fast) {
        memcpy(to, from, size);
        return;
    }
    for (uint32_t i = 0; i < size; i += PIECE) {
        char piece[PIECE];
        memcpy(piece, (const char *)from + i, PIECE);
        memcpy(to + i, piece, PIECE);
    }
}

/* Whether a word, whose first `same` bytes are the last one's, comes behind it:
 * most often one byte tells. */
static inline bool is_behind(const struct unpacking *to, uint32_t same,
                             uint32_t length)
{
    const unsigned char *word = (const unsigned char *)to->bytes + to->end;
    const unsigned char *last = word - to->last;
    uint32_t most = length < to->last ? length : to->last;

    if (same < most && word[same] != last[same])
        return word[same] > last[same];
    int order = memcmp(last + same, word + same, most - same);
    return order < 0 || (order == 0 && length > to->last);
}

/* Writes a word that begins with `same` bytes of the last one; what is wrong. */
static inline const char *take_word(struct unpacking *to, struct runs *runs,
                                    uint32_t same, uint32_t more, bool fast)
{
    char *place = to->bytes + to->end;

    copy(place, place - to->last, same, fast);
    copy(place + same, runs->bytes, more, fast);
    if (to->words > 0 && !is_behind(to, same, same + more))
        return "the words are not in order";
    runs->bytes += more;
    to->last = same + more;
    to->end += to->last;
    to->ends[to->words++] = to->end;
    return NULL;
}

static const char *const damaged_unit = "a unit of packed words is damaged";

/* Writes the words of a unit; what is wrong. */
static const char *take_words(struct unpacking *to,
                              const struct words_unit *unit, struct runs *runs)
{
    uint32_t end = to->end + unit->bytes;
    bool fast = to->most_bytes - end >= PIECE;
    const char *fault = NULL;

    for (uint32_t i = 0; i < unit->words && fault == NULL; i++) {
        uint32_t same, more;
        runs->shared = take_number(runs->shared, runs->stop, &same);
        runs->rest = take_number(runs->rest, runs->stop, &more);
        if (runs->shared == NULL || runs->rest == NULL
            || same > (i > 0 ? to->last : 0)
            || more > (size_t)(runs->stop - runs->bytes)
            || (uint64_t)same + more > end - to->end)
            return damaged_unit;
        fault = take_word(to, runs, same, more, fast);
    }
    if (fault != NULL)
        return fault;
    return runs->bytes == runs->stop && to->end == end ? NULL : damaged_unit;
}

/* Whether words from `first` on are UTF-8. */
static bool are_utf8(const struct unpacking *to, uint32_t first)
{
    uint32_t start = first > 0 ? to->ends[first - 1] : 0;

    for (uint32_t i = first; i < to->words; i++) {
        if (!text_is_utf8(to->bytes + start, to->ends[i] - start))
            return false;
        start = to->ends[i];
    }
    return true;
}

/* Writes the words of a unit that was unpacked, and proves them while they are
 * in the cache; what is wrong. */
static const char *take_raw(struct unpacking *to, const struct words_unit *unit,
                            const uint8_t *raw)
{
    uint32_t first = to->words;
    struct runs runs;
    const char *fault;

    if (!find_runs(unit, raw, &runs))
        return damaged_unit;
    bool ascii = words_ascii(runs.bytes, (size_t)(runs.stop - runs.bytes));
    fault = take_words(to, unit, &runs);
    if (fault == NULL && !ascii && !are_utf8(to, first))
        fault = "a word is not UTF-8";
    return fault;
}

/* Whether the next unit could be what it says, before it is unpacked. */
static bool is_sound(const struct unpacking *to, const struct words_unit *unit,
                     uint64_t left)
{
    return unit->words > 0 && unit->words <= to->most_words - to->words
           && unit->bytes <= to->most_bytes - to->end && unit->packed <= left
           && unit->raw
                  <= unit->bytes + 2 * (uint64_t)NUMBER_BYTES_MAX * unit->words
           && (unit->words == 1 || unit->raw <= UNIT_RAW);
}

/* A unit on its way. */
struct room {
    ZSTD_DCtx *context;
    uint8_t *raw; /* what the unit was compressed from */
    size_t size;  /* of `raw` */
};

static bool make_room(struct room *room, size_t size)
{
    void *more;

    if (room->context == NULL)
        room->context = ZSTD_createDCtx();
    if (size <= room->size)
        return room->context != NULL;
    more = memory_resize(room->raw, size + PIECE);
    if (more == NULL)
        return false;
    room->raw = more;
    room->size = size;
    return room->context != NULL;
}

/* Unpacks the next unit. */
static const char *take_unit(struct unpacking *to, struct room *room,
                             const struct words_unit *unit,
                             const struct words_source *source)
{
    const void *packed;

    if (!make_room(room, unit->raw))
        return "there is no memory to unpack its words";
    packed = source->next(source->context, unit->packed);
    if (packed == NULL)
        return "packed words cannot be read";
    return ZSTD_decompressDCtx(room->context, room->raw, unit->raw, packed,
                               unit->packed)
                   == unit->raw
               ? take_raw(to, unit, room->raw)
               : damaged_unit;
}

/* Unpacks one unit after the other. */
static const char *take_units(struct unpacking *to,
                              const struct packed_words *head,
                              const struct words_unit *units,
                              const struct words_source *source)
{
    uint64_t left = head->packed;
    const char *fault = NULL;
    struct room room = { 0 };

    for (uint32_t i = 0; i < head->units && fault == NULL; i++) {
        if (!is_sound(to, &units[i], left))
            fault = "a unit of packed words does not fit";
        else
            fault = take_unit(to, &room, &units[i], source);
        paged_put_away();
        left -= units[i].packed;
    }
    ZSTD_freeDCtx(room.context);
    memory_release(room.raw);
    return fault != NULL || left == 0 ? fault : "packed words are left over";
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
                            const struct words_source *source,
                            struct tablet_words *words)
{
    struct unpacking to = { .ends = (uint32_t *)(words + 1),
                            .most_words = head->count,
                            .most_bytes = head->bytes };
    struct words_unit *units = read_units(head->units, source);
    const char *fault;

    if (units == NULL)
        return "there is no memory to unpack its words";
    to.bytes = (char *)(to.ends + head->count);
    fault = take_units(&to, head, units, source);
    memory_release(units);
    if (fault == NULL && (to.words != head->count || to.end != head->bytes))
        fault = "packed words are fewer than they say";
    return fault;
}

const char *words_unpack(const struct words_source *source,
                         const struct words_sizes *sizes, void *to)
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
    fault = take_all(&head, source, words);
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
