/* SPDX-License-Identifier: MIT */
/*
 * Sets of hashes: open addressing, at most half full.
 */
#include "data/database/unique_set.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"

enum { SLOTS_FIRST = 64 }; /* of a set */

void unique_set_finish(struct unique_set *set)
{
    memory_release(set->columns);
    memory_release(set->slots);
    *set = (struct unique_set){ 0 };
}

/* The hash's slot, or the free one where it belongs. */
static struct unique_hash *find_slot(const struct unique_set *set,
                                     struct unique_hash hash)
{
    assert(set->capacity > 0 && (set->capacity & (set->capacity - 1)) == 0);
    size_t mask = set->capacity - 1, at = hash.low & mask;

    for (;; at = (at + 1) & mask) {
        struct unique_hash *slot = &set->slots[at];
        if ((slot->low == hash.low && slot->high == hash.high)
            || (slot->low == 0 && slot->high == 0))
            return slot;
    }
}

bool unique_set_has(const struct unique_set *set, struct unique_hash hash)
{
    const struct unique_hash *slot =
        set->capacity > 0 ? find_slot(set, hash) : NULL;

    return slot != NULL && (slot->low != 0 || slot->high != 0);
}

void unique_set_fetch(const struct unique_set *set, struct unique_hash hash)
{
    if (set->capacity > 0)
        __builtin_prefetch(&set->slots[hash.low & (set->capacity - 1)], 1);
}

/* Puts every hash into so many slots. */
static bool enlarge(struct unique_set *set, size_t capacity)
{
    struct unique_set larger = *set;

    assert(capacity > set->capacity && (capacity & (capacity - 1)) == 0);
    larger.capacity = capacity;
    larger.slots = memory_zeroed(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < set->capacity && !stop_at(i); i++)
        if (set->slots[i].low != 0 || set->slots[i].high != 0)
            *find_slot(&larger, set->slots[i]) = set->slots[i];
    if (larger.capacity > STOP_ROWS && stop_asked()) {
        memory_release(larger.slots);
        return false;
    }
    memory_release(set->slots);
    *set = larger;
    return true;
}

bool unique_set_reserve(struct unique_set *set, uint64_t count)
{
    size_t capacity = set->capacity > 0 ? set->capacity : SLOTS_FIRST;
    while (capacity / 2 <= count)
        capacity *= 2;
    return capacity == set->capacity || enlarge(set, capacity);
}

bool unique_set_add(struct unique_set *set, struct unique_hash hash)
{
    struct unique_hash *slot;

    if (2 * set->count >= set->capacity && !unique_set_reserve(set, set->count))
        return false;
    slot = find_slot(set, hash);
    assert(set->count < set->capacity);
    set->count += slot->low == 0 && slot->high == 0;
    *slot = hash;
    return true;
}

void unique_sets_follow(struct vector *sets, struct identity from,
                        struct identity to, const bool *changed)
{
    for (size_t i = 0; i < sets->count; i++) {
        struct unique_set *set = vector_at(sets, i);
        bool same = set->made && identity_equal(set->of, from);
        for (unsigned k = 0; same && k < set->column_count; k++)
            same = !changed[set->columns[k].number];
        if (same)
            set->of = to;
    }
}

void unique_sets_finish(struct vector *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        unique_set_finish(vector_at(sets, i));
    vector_finish(sets);
}
