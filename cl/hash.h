/* SPDX-License-Identifier: MIT */
/*
 * Hashes of numbers, written once for host and kernels. None is stored in a
 * file: no answer and no order of rows may depend on one; but which rows a
 * table's sample has follows from hash_number(), which therefore stays as it is.
 *
 * hash_key() is the quickest, for one key: its high half is good, and the low
 * one is mixed with it. hash_mix() takes in one number after the other, and
 * then hash_end() makes all bits good.
 */
#ifndef VDBQ_CL_HASH_H
#define VDBQ_CL_HASH_H

#include "types.h"

/* 2^64 divided by the golden ratio (Knuth), and two odd numbers whose bits are
 * as good as random (of splitmix64, and of Pelle Evensen's rrmxmx). */
#define HASH_GOLDEN 0x9e3779b97f4a7c15UL
#define HASH_SPLIT 0xbf58476d1ce4e5b9UL
#define HASH_TAG 0xd6e8feb86659fd93UL

/* Fibonacci hashing. */
static inline u64 hash_key(u64 key)
{
    u64 hash = key * HASH_GOLDEN;
    return hash ^ hash >> 32;
}

/* 32 bits of a key that tell it from others of the same hash_key(). */
static inline u32 hash_tag(u64 key)
{
    return (u32)(key * HASH_TAG >> 32);
}

static inline u64 hash_mix(u64 hash, u64 number)
{
    hash = (hash ^ number) * HASH_GOLDEN;
    return hash ^ hash >> 29;
}

static inline u64 hash_end(u64 hash)
{
    hash *= HASH_SPLIT;
    return hash ^ hash >> 32;
}

/* Of one number. */
static inline u64 hash_number(u64 number)
{
    return hash_end(hash_mix(0, number));
}

#endif
