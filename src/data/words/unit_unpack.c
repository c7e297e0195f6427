/* SPDX-License-Identifier: MIT */
/*
 * Words of a unit, and what words_fault() would look for in them, which is looked
 * for at once: the numbers of common bytes tell most of their order.
 */
#include "data/words/unit_unpack.h"

#include <stdbool.h>
#include <string.h>

#include <zstd.h>

#include "base/memory.h"
#include "base/type.h"
#include "data/words/words_check.h"

enum { PIECE = 16 }; /* bytes that are copied at a time */

/* Words as they are unpacked. */
struct unpacking {
    uint32_t *ends;
    char *bytes;
    uint32_t words, end; /* so far, with all that are before the unit */
    uint32_t last;       /* bytes of the last word */
    uint32_t most;       /* where the unit's words end */
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
    for (unsigned i = 0; i < UNIT_NUMBER_MAX && at < stop; i++) {
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
    const char *word = to->bytes + to->end + same;
    const char *last = word - to->last;

    if (same < length && same < to->last && *word != *last)
        return (unsigned char)*word > (unsigned char)*last;
    return word_behind(last, to->last - same, word, length - same);
}

/* Writes the next word: `same` bytes of the last one, and `more` that follow. */
static inline void put_word(struct unpacking *to, const struct runs *runs,
                            uint32_t same, uint32_t more)
{
    char *place = to->bytes + to->end;
    bool fast = to->most - to->end - same - more >= PIECE;

    copy(place, place - to->last, same, fast);
    copy(place + same, runs->bytes, more, fast);
}

static const char *const damaged_unit = "a unit of packed words is damaged";

/* Takes the next word; what is wrong. */
static inline const char *take_word(struct unpacking *to, struct runs *runs,
                                    bool first)
{
    uint32_t same, more;

    runs->shared = take_number(runs->shared, runs->stop, &same);
    runs->rest = take_number(runs->rest, runs->stop, &more);
    if (runs->shared == NULL || runs->rest == NULL || same > to->last
        || more > (size_t)(runs->stop - runs->bytes)
        || (uint64_t)same + more > to->most - to->end)
        return damaged_unit;
    put_word(to, runs, same, more);
    if (!first && !is_behind(to, same, same + more))
        return "the words are not in order";
    runs->bytes += more;
    to->last = same + more;
    to->end += to->last;
    to->ends[to->words++] = to->end;
    return NULL;
}

/* Takes all words of a unit; what is wrong. */
static const char *take_words(struct unpacking *to,
                              const struct words_unit *unit, struct runs *runs)
{
    const char *fault = NULL;

    for (uint32_t i = 0; i < unit->words && fault == NULL; i++)
        fault = take_word(to, runs, i == 0);
    if (fault != NULL)
        return fault;
    return runs->bytes == runs->stop && to->end == to->most ? NULL
                                                            : damaged_unit;
}

/* Whether the words at a place are UTF-8. */
static bool are_utf8(const struct unit_place *place, uint32_t count)
{
    uint32_t start = place->start;

    for (uint32_t i = place->word; i < place->word + count; i++) {
        if (!text_is_utf8(place->bytes + start, place->ends[i] - start))
            return false;
        start = place->ends[i];
    }
    return true;
}

/* Writes the words of a unit that was unpacked, and proves them while they are
 * in the cache; what is wrong. */
static const char *take_raw(const struct words_unit *unit, const uint8_t *raw,
                            const struct unit_place *place)
{
    struct unpacking to = { .ends = place->ends,
                            .bytes = place->bytes,
                            .words = place->word,
                            .end = place->start,
                            .most = place->start + unit->bytes };
    struct runs runs;
    const char *fault;

    if (!find_runs(unit, raw, &runs))
        return damaged_unit;
    bool ascii = words_ascii(runs.bytes, (size_t)(runs.stop - runs.bytes));
    fault = take_words(&to, unit, &runs);
    if (fault == NULL && !ascii && !are_utf8(place, unit->words))
        fault = "a word is not UTF-8";
    return fault;
}

static bool make_room(struct unit_room *room, size_t size)
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

void unit_room_finish(struct unit_room *room)
{
    ZSTD_freeDCtx(room->context);
    memory_release(room->raw);
    *room = (struct unit_room){ 0 };
}

const char *unit_unpack(const struct words_unit *unit, const void *packed,
                        const struct unit_place *place, struct unit_room *room)
{
    if (!make_room(room, unit->raw))
        return "there is no memory to unpack its words";
    return ZSTD_decompressDCtx(room->context, room->raw, unit->raw, packed,
                               unit->packed)
                   == unit->raw
               ? take_raw(unit, room->raw, place)
               : damaged_unit;
}
