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
#include "base/threads/parallel.h"
#include "data/words/unit_unpack.h"

enum {
    LEVEL = 1, /* of Zstandard: 3 takes as much again, and
                                      saves a tenth                        */
    PACKED_LEAST = HOSTILE(64, 4096), /* bytes of words that are worth it */
    SHARE_WORDS = HOSTILE(8, 1 << 16) /* of each share but the last */
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

/* Neighbouring words, which one thread packs. */
struct share {
    uint32_t first, end;      /* words                        */
    struct words_unit *units; /* described so far, ...        */
    uint32_t unit_count;
    uint8_t *bytes;      /* ... one behind the other     */
    size_t room, packed; /* bytes there is room for, and that are there */
    bool done;
};

/* Words on their way. Which share has which does not depend on threads, so that the
 * bytes do not. */
struct packing {
    struct plain plain;
    struct share *shares;
    uint32_t share_count;
};

/* Compresses a unit behind the others; false: there is no room. */
static bool end_unit(const struct plain *plain, struct share *share,
                     ZSTD_CCtx *context, struct unit *unit)
{
    uint32_t raw = raw_of(unit);
    size_t size;

    join_runs(unit);
    size =
        ZSTD_compressCCtx(context, share->bytes + share->packed,
                          share->room - share->packed, unit->room, raw, LEVEL);
    if (ZSTD_isError(size))
        return false;
    share->units[share->unit_count++] =
        (struct words_unit){ .words = unit->words,
                             .bytes = plain->ends[unit->first + unit->words - 1]
                                      - start_of(plain, unit->first),
                             .raw = raw,
                             .packed = (uint32_t)size };
    share->packed += size;
    return true;
}

/* Bytes of the longest word. */
static uint32_t longest(const struct plain *plain, const struct share *share)
{
    uint32_t most = 0;

    for (uint32_t i = share->first; i < share->end; i++)
        if (plain->ends[i] - start_of(plain, i) > most)
            most = plain->ends[i] - start_of(plain, i);
    return most;
}

/* Packs all units; false: there is no room. */
static bool pack_units(const struct plain *plain, struct share *share,
                       ZSTD_CCtx *context, struct unit *unit)
{
    bool fits = true;

    begin_unit(unit, share->first);
    for (uint32_t i = share->first; i < share->end && fits; i++)
        if (!add_word(unit, plain, i)) {
            fits = end_unit(plain, share, context, unit);
            begin_unit(unit, i--);
        }
    return fits && end_unit(plain, share, context, unit);
}

/* Room for a share's units: each but the last is nearly full, and none becomes much
 * larger. */
static bool make_room(const struct plain *plain, struct share *share)
{
    uint64_t words = share->end - share->first;
    uint64_t raw = plain->ends[share->end - 1] - start_of(plain, share->first)
                   + 2 * UNIT_NUMBER_MAX * words;
    uint64_t units = 2 * raw / UNIT_RAW + 2;

    share->room = (size_t)(raw + units * ZSTD_compressBound(0) + raw / 256);
    share->bytes = memory_resize(NULL, share->room);
    share->units = memory_zeroed((size_t)units, sizeof *share->units);
    return share->bytes != NULL && share->units != NULL;
}

static void pack_share(void *context, unsigned i)
{
    const struct packing *packing = context;
    struct share *share = &packing->shares[i];
    const struct plain *plain = &packing->plain;
    struct unit unit = { .room_size = UNIT_RAW + UNIT_NUMBER_MAX
                                      + (size_t)longest(plain, share) };
    ZSTD_CCtx *compressor = ZSTD_createCCtx();

    unit.room = memory_resize(NULL, 3 * unit.room_size);
    share->done = make_room(plain, share) && unit.room != NULL
                  && compressor != NULL
                  && pack_units(plain, share, compressor, &unit);
    memory_release(unit.room);
    ZSTD_freeCCtx(compressor);
}

/* Writes a description and all units behind it, if they save enough; the bytes. */
static uint64_t put_shares(const struct tablet_words *words,
                           const struct packing *packing, uint8_t *to)
{
    struct packed_words head = { .count = words->count, .bytes = words->bytes };
    uint64_t packed = 0, used, size;
    struct words_unit *units = (struct words_unit *)(void *)(to + sizeof head);

    for (uint32_t i = 0; i < packing->share_count; i++) {
        head.units += packing->shares[i].unit_count;
        packed += packing->shares[i].packed;
    }
    size = PACKED_WORDS_SIZE(head.units, packed);
    if (size >= words_size(words) / 8 * 7
        || size * UNIT_RATIO_MAX < words_size(words))
        return 0;
    head.packed = (uint32_t)packed;
    *(struct packed_words *)(void *)to = head;
    used = sizeof head + head.units * sizeof *units;
    for (uint32_t i = 0; i < packing->share_count; i++) {
        const struct share *share = &packing->shares[i];
        memcpy(units, share->units, share->unit_count * sizeof *units);
        memcpy(to + used, share->bytes, share->packed);
        units += share->unit_count;
        used += share->packed;
    }
    memset(to + used, 0, (size_t)(size - used));
    return size;
}

/* Packs words, all shares; the bytes, or 0. */
static uint64_t pack(const struct tablet_words *words,
                     const struct packing *packing, uint8_t *to)
{
    bool done = true;

    for (uint32_t i = 0; i < packing->share_count; i++) {
        uint32_t first = i * SHARE_WORDS, left = words->count - first;
        packing->shares[i].first = first;
        packing->shares[i].end =
            first + (left < SHARE_WORDS ? left : SHARE_WORDS);
    }
    parallel_run(packing->share_count, pack_share, (void *)packing);
    for (uint32_t i = 0; i < packing->share_count; i++)
        done = done && packing->shares[i].done;
    return done ? put_shares(words, packing, to) : 0;
}

uint64_t words_pack(const struct tablet_words *words, void *to)
{
    struct packing packing = { .plain = plain_of(words),
                               .share_count = (words->count + SHARE_WORDS - 1)
                                              / SHARE_WORDS };
    uint64_t size = 0;

    if (words->bytes < PACKED_LEAST)
        return 0;
    packing.shares = memory_zeroed(packing.share_count, sizeof *packing.shares);
    if (packing.shares != NULL)
        size = pack(words, &packing, to);
    for (uint32_t i = 0; packing.shares != NULL && i < packing.share_count;
         i++) {
        memory_release(packing.shares[i].bytes);
        memory_release(packing.shares[i].units);
    }
    memory_release(packing.shares);
    return size;
}
