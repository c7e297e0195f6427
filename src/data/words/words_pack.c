/* SPDX-License-Identifier: MIT */
/*
 * Words are sorted, so that most begin as the one before them does: with that
 * taken out, Zstandard has half as much to do, and makes less of it.
 */
#include "data/words/words_pack.h"

#include <assert.h>
#include <string.h>

#include <zstd.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "data/words/unit_unpack.h"

enum {
    LEVEL = 1,                       /* of Zstandard: 3 takes as much again, and
                                      saves a tenth                        */
    PACKED_LEAST = HOSTILE(64, 4096) /* bytes of words that are worth it */
};

/* The words as memory has them. */
struct plain {
    const uint32_t *ends;
    const char *bytes;
};

static struct plain plain_of(const struct tablet_words *words)
{
    const uint32_t *ends = (const uint32_t *)(words + 1);

    return (struct plain){ ends, (const char *)(ends + words->count) };
}

static uint32_t start_of(const struct plain *plain, uint32_t word)
{
    return word > 0 ? plain->ends[word - 1] : 0;
}

uint64_t words_size(const struct tablet_words *words)
{
    return TABLET_WORDS_SIZE(words->count, words->bytes);
}

/* ---------------------------------------------------------------- pack -- */

/* What a unit is compressed from, as it grows: three runs of bytes. */
struct unit {
    uint8_t *shared, *rest, *bytes; /* where the next goes */
    uint8_t *room;    /* of each, in this order, three times ... */
    size_t room_size; /* ... so many bytes */
    uint32_t words;
    uint32_t first; /* word of all */
};

static uint8_t *put_number(uint8_t *to, uint32_t number)
{
    for (; number > 127; number >>= 7)
        *to++ = (uint8_t)(number | 128);
    *to++ = (uint8_t)number;
    return to;
}

static uint32_t raw_of(const struct unit *unit)
{
    return (uint32_t)((unit->shared - unit->room)
                      + (unit->rest - (unit->room + unit->room_size))
                      + (unit->bytes - (unit->room + 2 * unit->room_size)));
}

static void begin_unit(struct unit *unit, uint32_t first)
{
    unit->shared = unit->room;
    unit->rest = unit->room + unit->room_size;
    unit->bytes = unit->room + 2 * unit->room_size;
    unit->words = 0;
    unit->first = first;
}

/* How many bytes both begin with. */
static uint32_t common(const char *a, uint32_t a_length, const char *b,
                       uint32_t b_length)
{
    uint32_t most = a_length < b_length ? a_length : b_length, same = 0;

    while (same < most && a[same] == b[same])
        same++;
    return same;
}

/* Adds a word, if the unit has room for it; the first one always fits. */
static bool add_word(struct unit *unit, const struct plain *plain,
                     uint32_t word)
{
    uint32_t start = start_of(plain, word);
    uint32_t length = plain->ends[word] - start, shared = 0;

    if (unit->words > 0) {
        uint32_t before = start_of(plain, word - 1);
        shared = common(plain->bytes + before, start - before,
                        plain->bytes + start, length);
        if (raw_of(unit) + length - shared + 2 * UNIT_NUMBER_MAX > UNIT_RAW)
            return false;
    }
    unit->shared = put_number(unit->shared, shared);
    unit->rest = put_number(unit->rest, length - shared);
    memcpy(unit->bytes, plain->bytes + start + shared, length - shared);
    unit->bytes += length - shared;
    unit->words++;
    return true;
}

/* Closes the gaps between the runs of bytes. */
static void join_runs(struct unit *unit)
{
    size_t rest = (size_t)(unit->rest - (unit->room + unit->room_size));
    size_t bytes = (size_t)(unit->bytes - (unit->room + 2 * unit->room_size));

    memmove(unit->shared, unit->room + unit->room_size, rest);
    memmove(unit->shared + rest, unit->room + 2 * unit->room_size, bytes);
}

/* Units as they are made. */
struct packing {
    const struct plain *plain;
    ZSTD_CCtx *context;
    struct words_unit *units; /* described so far */
    uint32_t unit_count;
    uint8_t *to; /* where the next one goes ... */
    size_t left; /* ... with so much room */
    uint64_t packed;
};

/* Compresses a unit behind the others; false: there is no room. */
static bool end_unit(struct packing *packing, struct unit *unit)
{
    uint32_t raw = raw_of(unit);
    size_t size;

    join_runs(unit);
    size = ZSTD_compressCCtx(packing->context, packing->to, packing->left,
                             unit->room, raw, LEVEL);
    if (ZSTD_isError(size))
        return false;
    packing->units[packing->unit_count++] = (struct words_unit){
        .words = unit->words,
        .bytes = packing->plain->ends[unit->first + unit->words - 1]
                 - start_of(packing->plain, unit->first),
        .raw = raw,
        .packed = (uint32_t)size
    };
    packing->to += size;
    packing->left -= size;
    packing->packed += size;
    return true;
}

/* Bytes of the longest word. */
static uint32_t longest(const struct plain *plain, uint32_t count)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        if (plain->ends[i] - start_of(plain, i) > most)
            most = plain->ends[i] - start_of(plain, i);
    return most;
}

/* Packs all units; false: they take more room than there is, or there is no
 * memory. */
static bool pack_units(struct packing *packing, uint32_t count)
{
    struct unit unit = { .room_size =
                             UNIT_RAW + UNIT_NUMBER_MAX
                             + (size_t)longest(packing->plain, count) };
    bool fits;

    unit.room = memory_resize(NULL, 3 * unit.room_size);
    fits = unit.room != NULL;
    begin_unit(&unit, 0);
    for (uint32_t i = 0; i < count && fits; i++)
        if (!add_word(&unit, packing->plain, i)) {
            fits = end_unit(packing, &unit);
            begin_unit(&unit, i--);
        }
    fits = fits && end_unit(packing, &unit);
    memory_release(unit.room);
    return fits;
}

/* Most units that words make: each but the last is nearly full. */
static uint32_t units_most(const struct tablet_words *words)
{
    uint64_t raw =
        (uint64_t)words->bytes + 2 * (uint64_t)UNIT_NUMBER_MAX * words->count;

    return (uint32_t)(2 * raw / UNIT_RAW + 2);
}

/* Puts the description in front of the units that lie behind `head_room`. */
static uint64_t put_head(const struct tablet_words *words,
                         const struct packing *packing, const uint8_t *frames,
                         uint8_t *to)
{
    size_t units = packing->unit_count * sizeof *packing->units;
    uint64_t used = sizeof(struct packed_words) + units + packing->packed;
    uint64_t size = PACKED_WORDS_SIZE(packing->unit_count, packing->packed);

    memmove(to + sizeof(struct packed_words) + units, frames,
            (size_t)packing->packed);
    *(struct packed_words *)(void *)to =
        (struct packed_words){ .count = words->count,
                               .bytes = words->bytes,
                               .units = packing->unit_count,
                               .packed = (uint32_t)packing->packed };
    memcpy(to + sizeof(struct packed_words), packing->units, units);
    memset(to + used, 0, (size_t)(size - used));
    return size;
}

/* Packs words for which there is a context and room for the units. */
static uint64_t pack(const struct tablet_words *words, ZSTD_CCtx *context,
                     struct words_unit *units, uint8_t *to)
{
    const struct plain plain = plain_of(words);
    uint64_t most = words_size(words) / 8 * 7;
    size_t head = sizeof(struct packed_words)
                  + units_most(words) * sizeof(struct words_unit);
    struct packing packing = { .plain = &plain,
                               .context = context,
                               .units = units,
                               .to = to + head,
                               .left =
                                   most > head ? (size_t)(most - head) : 0 };
    uint64_t size;

    if (packing.left == 0 || !pack_units(&packing, words->count))
        return 0;
    size = put_head(words, &packing, to + head, to);
    return size >= most || size * UNIT_RATIO_MAX < words_size(words) ? 0 : size;
}

uint64_t words_pack(const struct tablet_words *words, void *to)
{
    struct words_unit *units;
    ZSTD_CCtx *context;
    uint64_t size = 0;

    if (words->bytes < PACKED_LEAST)
        return 0;
    units = memory_zeroed(units_most(words), sizeof *units);
    context = ZSTD_createCCtx();
    if (units != NULL && context != NULL)
        size = pack(words, context, units, to);
    ZSTD_freeCCtx(context);
    memory_release(units);
    return size;
}
