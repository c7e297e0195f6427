/* SPDX-License-Identifier: MIT */
/*
 * A group lies in the slot of its keys' hash until another one takes the slot: what
 * is not known any more is gathered anew, and nothing is lost. Keys that have the
 * same bits, and are NULL alike, are of one group; others may be, too.
 */
#include "exec/operator/map_bests.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "cl/hash.h"
#include "data/tablet/dictionary_sort.h"

enum {
    SLOTS = HOSTILE(4, 1 << 13),  /* a power of two */
    TRIES = HOSTILE(64, 1 << 13), /* rows after which it is judged ...        */
    LEAST = 8                     /* ... and given up, where fewer than one in
                                      so many is behind                       */
};

/* A group's keys, of which NULL has no bits, and the place of its first text. */
struct map_best {
    uint64_t keys[STEP_FIRSTS_KEYS];
    uint32_t nulls; /* a bit for each key that is NULL, and one that is always
                       set: the slot has a group                             */
    uint32_t place;
};

void map_bests_finish(struct map_bests *bests)
{
    memory_release(bests->slots);
    *bests = (struct map_bests){ 0 };
}

/* What a row's keys are kept as. */
static struct map_best keys_of(struct step_firsts wanted,
                               const struct row_set_column *keys, uint64_t row)
{
    struct map_best best = { .nulls = 1u << STEP_FIRSTS_KEYS };

    assert(wanted.key_count <= STEP_FIRSTS_KEYS);
    for (unsigned i = 0; i < wanted.key_count; i++) {
        const struct row_set_column *key = &keys[i];
        if (row_set_is_null(key, row))
            best.nulls |= 1u << i;
        else
            best.keys[i] = key->width == sizeof(uint32_t)
                               ? ((const uint32_t *)key->values)[row]
                               : ((const uint64_t *)key->values)[row];
    }
    return best;
}

static struct map_best *slot_of(const struct map_bests *bests,
                                const struct map_best *best)
{
    uint64_t hash = best->nulls;

    for (unsigned i = 0; i < STEP_FIRSTS_KEYS; i++)
        hash = hash_mix(hash, best->keys[i]);
    return &bests->slots[hash_end(hash) & (SLOTS - 1)];
}

/* Whether a text does not come before the first one that a group has. */
static bool is_behind(struct step_firsts wanted, const struct gather *gather,
                      const struct map_best *best, struct vdbq_text text)
{
    int order = text_compare(text, gather->texts[best->place]);

    return wanted.descending ? order <= 0 : order >= 0;
}

/* Whether it goes on, now and then. */
static void judge(struct map_bests *bests)
{
    if (bests->asked++ < TRIES)
        return;
    bests->is_off = bests->behind < TRIES / LEAST;
    bests->asked = bests->behind = 0;
}

bool map_bests_add(struct map_bests *bests, struct step_firsts wanted,
                   const struct row_set_column *keys, uint64_t row,
                   struct gather *gather, struct vdbq_text text,
                   uint32_t *place)
{
    struct map_best best, *slot;

    judge(bests);
    if (bests->is_off)
        return gather_add(gather, text, place);
    best = keys_of(wanted, keys, row);
    if (bests->slots == NULL)
        bests->slots = memory_zeroed(SLOTS, sizeof *bests->slots);
    if (bests->slots == NULL)
        return false;
    slot = slot_of(bests, &best);
    if (slot->nulls == best.nulls
        && memcmp(slot->keys, best.keys, sizeof best.keys) == 0
        && is_behind(wanted, gather, slot, text)) {
        *place = slot->place;
        bests->behind++;
        return true;
    }
    if (!gather_add(gather, text, place))
        return false;
    best.place = *place;
    *slot = best;
    return true;
}
