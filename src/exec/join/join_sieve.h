/* SPDX-License-Identifier: MIT */
/*
 * A filter of bits in front of the slots of an index: one for the low bits of
 * each tag. Most rows that find nothing see that here, in bits that stay in the
 * caches, and need no way to a slot. Tags that come in order are neighbours.
 * After Bloom, "Space/time trade-offs in hash coding" (1970), with one bit a tag.
 */
#ifndef VDBQ_EXEC_JOIN_SIEVE_H
#define VDBQ_EXEC_JOIN_SIEVE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"

struct join_sieve {
    _Atomic uint64_t *bits; /* owned                                     */
    uint32_t mask;          /* bits - 1, a power of two                  */
};

/* Makes an empty filter for the tags of so many rows. join_sieve_finish() is due
 * whatever it returns, and accepts a zeroed struct. */
enum vdbq_status join_sieve_init(struct join_sieve *sieve, uint64_t rows,
                                 struct error *error);
void join_sieve_finish(struct join_sieve *sieve);

/* Lets a tag pass; any thread may. */
static inline void join_sieve_add(struct join_sieve *sieve, uint32_t tag)
{
    uint32_t bit = tag & sieve->mask;
    atomic_fetch_or_explicit(&sieve->bits[bit / 64], UINT64_C(1) << bit % 64,
                             memory_order_relaxed);
}

/* Lists the numbers of those of `count` tags, 65,536 at most, that may have
 * been added; how many they are. `kept` has room for all. */
unsigned join_sieve_keep(const struct join_sieve *sieve, const uint32_t *tags,
                         unsigned count, uint16_t *kept);

#endif
