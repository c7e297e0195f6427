/* SPDX-License-Identifier: MIT */
/*
 * Sums of pages: behind a tablet of more than one page a file has the XXH3 of each
 * of its pages, so that each is proven without the others. The tablet's checksum is
 * then that of these sums: who has it right has all pages' right. Tablets of one
 * page, and those that vdbq 0.2 wrote, have a checksum of all their bytes alone.
 */
#ifndef VDBQ_DATA_PAGE_SUMS_H
#define VDBQ_DATA_PAGE_SUMS_H

#include <stdbool.h>

#include "cl/tablet.h"
#include "data/tablet/block.h"

enum {
    SUM_PAGE_BYTES = 16384
}; /* of a page that has a sum; part of the format */

/* The feature of files that have such sums (file rule 14). */
#define FEATURE_PAGE_SUMS (UINT64_C(1) << 5)

/* How many pages so many bytes of a tablet have. */
size_t page_sums_count(uint64_t size);
/* The bytes that their sums take behind the tablet, a multiple of 64; 0: one page
 * needs none. */
uint64_t page_sums_bytes(uint64_t size);

/* Whether `size_bytes` of a file hold the tablet that begins with this head, proven
 * or not, and sums of its pages behind it. */
bool page_sums_follow(const struct tablet *head, uint64_t size_bytes);

/* Writes the sum of each page of `size` bytes. */
void page_sums_of(const void *bytes, uint64_t size, uint64_t *sums);

/* Puts the sums of its pages behind the tablet that a block holds; the block has
 * room for them. Whether it has more than one page. */
bool page_sums_add(struct block *block);

/* The checksum of a tablet of a file, of a block with all of it. */
uint64_t page_sums_checksum(const struct block *block);

#endif
