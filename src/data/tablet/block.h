/* SPDX-License-Identifier: MIT */
/*
 * Blocks: runs of bytes on their way from or to the file. Their memory is
 * aligned as tablets need it; what is written has room up to the end of its last page.
 */
#ifndef VDBQ_DATA_BLOCK_H
#define VDBQ_DATA_BLOCK_H

#include <stddef.h>
#include <stdint.h>

struct text;

enum { PAGE_BYTES = 4096 }; /* blocks start at multiples of it */

/* `size` up to the end of its page. */
uint64_t page_round(uint64_t size);

struct block {
    void *bytes;  /* 64-byte aligned; NULL: no block          */
    size_t size;  /* in use; from there to the page's end 0,
                     but for block_to_read()                  */
    void *memory; /* what was allocated                       */
};

/* A block whose bytes are not set yet; NULL bytes: there is no memory. */
struct block block_create(uint64_t size);
/* One for bytes of the file, which is not to be written: it ends at a multiple of 64,
 * and not of a page. */
struct block block_to_read(uint64_t size);
/* One with the bytes of a text, which is finished; NULL bytes: there is no memory, or
 * was none for the text. */
struct block block_of_text(struct text *text);
void block_destroy(struct block *block); /* accepts a zeroed one */

/* XXH3, 64 bits. */
uint64_t block_checksum(const void *bytes, size_t size);

/* The same checksum of bytes that come one after another. */
struct checksum {
    _Alignas(64) unsigned char state[576];
};
void checksum_begin(struct checksum *checksum);
void checksum_add(struct checksum *checksum, const void *bytes, size_t size);
uint64_t checksum_end(const struct checksum *checksum);

#endif
