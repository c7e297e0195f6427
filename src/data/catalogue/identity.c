/* SPDX-License-Identifier: MIT */
/*
 * Identities: identity.h has their rules.
 */
#include "data/catalogue/identity.h"

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/hostile.h"
#include "cl/hash.h"

enum { FEW = HOSTILE(2, 24) };    /* that are not sorted to be compared */
#define DRAWN (UINT64_C(1) << 63) /* identity rule 2 */

struct identity_source identity_source_init(uint64_t number)
{
    return (struct identity_source){ .origin = number | DRAWN };
}

struct identity identity_give(struct identity_source *source)
{
    assert(source->given < UINT64_MAX);
    return (struct identity){ source->origin, source->given++ };
}

bool identity_is_of(struct identity identity,
                    const struct identity_source *source)
{
    return identity.origin == source->origin;
}

struct identity identity_of_place(uint64_t generation, uint64_t offset,
                                  uint64_t checksum)
{
    const uint64_t place[] = { offset, checksum };

    return (struct identity){ generation & ~DRAWN,
                              XXH3_64bits(place, sizeof place) };
}

bool identity_equal(struct identity a, struct identity b)
{
    return a.origin == b.origin && a.number == b.number;
}

/* For qsort(): any order that puts equal ones side by side. */
static int compare(const void *a, const void *b)
{
    const struct identity *left = a, *right = b;

    if (left->origin != right->origin)
        return left->origin < right->origin ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Whether two of few are, each compared with those before it. */
static bool few_twice(const struct identity *identities, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (identity_equal(identities[k], identities[i]))
                return true;
    return false;
}

bool identities_twice(struct identity *identities, size_t count)
{
    if (count <= FEW)
        return few_twice(identities, count);
    qsort(identities, count, sizeof *identities, compare);
    for (size_t i = 1; i < count; i++)
        if (identity_equal(identities[i - 1], identities[i]))
            return true;
    return false;
}

uint64_t identity_hash(struct identity identity)
{
    return hash_key(identity.origin ^ identity.number);
}

struct identity identity_of_bytes(const void *bytes, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, size);

    return (struct identity){ hash.high64, hash.low64 };
}
