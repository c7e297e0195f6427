/* SPDX-License-Identifier: MIT */
/*
 * Sets of numbers that look random, of which each may be said to have a number that
 * it has not, but never to lack one that it has: a Bloom filter (Bloom, CACM 1970) a
 * set. They lie side by side, a bit of each word for each set, so that two words tell
 * which of all sets may have a number.
 */
#ifndef VDBQ_BASE_SIEVE_H
#define VDBQ_BASE_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

enum {
    SIEVE_SETS = 64,
    /* for each number of a set, or up to twice as many: a set is said to have one
     * number of twenty to seventy that it has not */
    SIEVE_WORDS = 8
};

struct sieve {
    uint64_t *words;
    uint64_t mask; /* words, which are a power of two, less one */
};

/* Bytes for sets of so many numbers each. */
static inline uint64_t sieve_bytes(uint64_t numbers)
{
    uint64_t words = SIEVE_WORDS;

    while (words / SIEVE_WORDS < numbers)
        words *= 2;
    return words * sizeof(uint64_t);
}

/* Empty sets. False: no memory. sieve_finish() is due. */
static inline bool sieve_init(struct sieve *sieve, uint64_t numbers)
{
    uint64_t words = sieve_bytes(numbers) / sizeof *sieve->words;

    *sieve =
        (struct sieve){ memory_zeroed(words, sizeof *sieve->words), words - 1 };
    return sieve->words != NULL;
}

static inline void sieve_finish(struct sieve *sieve)
{
    memory_release(sieve->words);
    sieve->words = NULL;
}

static inline void sieve_add(struct sieve *sieve, unsigned set, uint64_t number)
{
    sieve->words[number & sieve->mask] |= UINT64_C(1) << set;
    sieve->words[number >> 32 & sieve->mask] |= UINT64_C(1) << set;
}

/* The sets that may have a number: a bit each. */
static inline uint64_t sieve_sets(const struct sieve *sieve, uint64_t number)
{
    return sieve->words[number & sieve->mask]
           & sieve->words[number >> 32 & sieve->mask];
}

#endif
