/* SPDX-License-Identifier: MIT */
/*
 * The names of slots (pool rule 1): each is in the chain of the hash of its
 * tablet's identity, with about as many buckets as slots. A tablet
 * has several slots where these hold different columns.
 */
#include "data/pool/pool_inner.h"

#include <assert.h>

enum { BUCKETS_FIRST = 64 };

bool pool_names_init(struct pool_names *names)
{
    names->bucket_count = BUCKETS_FIRST;
    names->buckets = memory_zeroed(BUCKETS_FIRST, sizeof *names->buckets);
    return names->buckets != NULL;
}

void pool_names_finish(struct pool_names *names)
{
    assert(names->slot_count == 0);
    memory_release(names->buckets);
    *names = (struct pool_names){ 0 };
}

/* ------------------------------------------------------------- looking -- */

/* The bucket of a tablet's slots. */
static struct slot **bucket_of(const struct pool_names *names,
                               struct identity identity)
{
    assert((names->bucket_count & (names->bucket_count - 1)) == 0);
    size_t bucket = identity_hash(identity) & (names->bucket_count - 1);

    return &names->buckets[bucket];
}

/* The first slot in a chain that is of the tablet, with as many columns. */
static struct slot *of_tablet(struct slot *slot, const struct pool_want *want)
{
    while (slot != NULL
           && (!identity_equal(slot->identity, want->tablet->identity)
               || slot->head->columns != want->table->column_count))
        slot = slot->chain;
    return slot;
}

/* The first slot of a tablet: several have different columns. */
static struct slot *first_of_tablet(const struct pool_names *names,
                                    const struct pool_want *want)
{
    return of_tablet(*bucket_of(names, want->tablet->identity), want);
}

/* Whether a slot has a column as it is wanted: a text with its words, where they
 * are wanted, unless codes are enough. */
static bool has(const struct slot *slot, const struct pool_want *want,
                unsigned column)
{
    bool text = want->table->columns[column].type == VDBQ_TEXT;
    if (!slot->wanted[column] || !text || want->codes)
        return slot->wanted[column];
    return want->apart ? slot->apart[column] : !slot->codes;
}

/* Whether a slot of the tablet has every column that is wanted. */
static bool has_all(const struct slot *slot, const struct pool_want *want)
{
    bool all = !(want->copied && slot->shown.in_place)
               && !(want->reached && slot->plain);

    for (unsigned i = 0; i < want->column_count; i++)
        all &= has(slot, want, want->columns[i]);
    for (unsigned i = 0; want->columns == NULL && i < want->table->column_count;
         i++)
        all &= has(slot, want, i);
    return all;
}

struct slot *pool_names_find(const struct pool_names *names,
                             const struct pool_want *want)
{
    struct slot *slot = first_of_tablet(names, want);

    while (slot != NULL && !has_all(slot, want))
        slot = of_tablet(slot->chain, want);
    return slot;
}

struct slot *pool_names_find_idle(const struct pool_names *names,
                                  const struct pool_want *want, bool loading)
{
    struct slot *slot = first_of_tablet(names, want);

    while (slot != NULL && (slot->pins > 0 || (loading && slot->load == NULL)))
        slot = of_tablet(slot->chain, want);
    return slot;
}

/* -------------------------------------------------------------- change -- */

/* The newest stands first in its bucket. */
static void link_slot(struct pool_names *names, struct slot *slot)
{
    struct slot **bucket = bucket_of(names, slot->identity);

    slot->chain = *bucket;
    *bucket = slot;
}

/* Twice as many buckets; without memory for them it stays as it is. */
static void grow(struct pool_names *names)
{
    struct slot **old = names->buckets;
    size_t count = names->bucket_count;
    struct slot **buckets = memory_zeroed(count * 2, sizeof *buckets);

    if (buckets == NULL)
        return;
    names->buckets = buckets;
    names->bucket_count = count * 2;
    for (size_t i = 0; i < count; i++)
        for (struct slot *slot = old[i], *next; slot != NULL; slot = next) {
            next = slot->chain;
            link_slot(names, slot);
        }
    memory_release(old);
}

void pool_names_add(struct pool_names *names, struct slot *slot)
{
    if (names->slot_count >= names->bucket_count)
        grow(names);
    link_slot(names, slot);
    names->slot_count++;
}

void pool_names_remove(struct pool_names *names, struct slot *slot)
{
    assert(names->slot_count > 0);
    struct slot **at = bucket_of(names, slot->identity);

    while (*at != slot)
        at = &(*at)->chain;
    *at = slot->chain;
    names->slot_count--;
}
