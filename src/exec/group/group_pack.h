/* SPDX-License-Identifier: MIT */
/*
 * Packed keys of rows (group_table.h): making and hashing them.
 */
#ifndef VDBQ_EXEC_GROUP_PACK_H
#define VDBQ_EXEC_GROUP_PACK_H

#include <stdint.h>

#include "api/vdbq.h"
#include "cl/hash.h"

/* A unit of packed keys, which are words of 64 bits, too. */
typedef uint32_t pack_unit __attribute__((may_alias));

/* Where a key goes. */
struct pack_place {
    int type;       /* TYPE_...                        */
    unsigned units; /* of a row's packed keys          */
    unsigned unit;  /* where its value begins          */
    unsigned null;  /* the unit that has its NULL bit  */
    unsigned bit;   /* of that unit: set where the value is NULL */
};

/* Packs a column of rows [start, start + count) into zeroed units. */
void pack_column(const struct vdbq_vector *column, uint64_t start,
                 unsigned count, const struct pack_place *place,
                 pack_unit *units);

/* Widens a range by the values of rows whose only key takes 32 bits; NULLs
 * are left out. */
void pack_range(const uint64_t *packed, unsigned count, int64_t *low,
                int64_t *high);

/* Equal keys have equal bits, so the bits are hashed. */
static inline uint64_t pack_hash(const uint64_t *packed, unsigned words)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < words; i++)
        hash = hash_mix(hash, packed[i]);
    return hash_end(hash);
}

#endif
