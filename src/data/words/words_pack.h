/* SPDX-License-Identifier: MIT */
/*
 * Words of a tablet as a file has them: packed (cl/tablet.h), or as memory has
 * them. In memory words are never packed.
 */
#ifndef VDBQ_DATA_WORDS_PACK_H
#define VDBQ_DATA_WORDS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/tablet.h"

/* Bytes of the area of words in memory. */
uint64_t words_size(const struct tablet_words *words);

/* Packs words into `to`, which has room for words_size() bytes. Bytes of the
 * area, a multiple of 64; 0: they save less than an eighth, or there is no
 * memory. */
uint64_t words_pack(const struct tablet_words *words, void *to);

/* Bytes of an area in a file and in memory, as its first bytes say. */
struct words_sizes {
    uint64_t file, memory;
};
/* False: no packed words say that. `start` has sizeof(struct packed_words)
 * bytes. */
bool words_sizes(const void *start, bool packed, struct words_sizes *sizes);

/* Packed bytes in order: the next `size` ones, which stay until they are asked
 * for again; NULL: there are none, for a reason that `context` knows. */
struct words_source {
    const void *(*next)(void *context, size_t size);
    void *context;
};
/* Those that lie in memory; `area` is theirs. */
struct words_area {
    const uint8_t *at, *end; /* what is left */
};
struct words_source words_in_memory(struct words_area *area);

/* Unpacks an area of sizes->file bytes, of whatever bytes, into sizes->memory
 * bytes at `to`: what is wrong with them, or NULL. No more is asked for than the
 * area has, and behind a fault nothing. What they unpack to is proven as by
 * words_fault(). So many threads unpack them at most, at least 1. */
const char *words_unpack(const struct words_source *source,
                         const struct words_sizes *sizes, unsigned threads,
                         void *to);

#endif
