/* SPDX-License-Identifier: MIT */
#include "data/tablet/page_sums.h"

#include <assert.h>
#include <string.h>

size_t page_sums_count(uint64_t size)
{
    return (size_t)((size + SUM_PAGE_BYTES - 1) / SUM_PAGE_BYTES);
}

uint64_t page_sums_bytes(uint64_t size)
{
    size_t count = page_sums_count(size);

    return count > 1 ? TABLET_ALIGNED(count * sizeof(uint64_t)) : 0;
}

/* Sizes that no file can have are not to wrap around. */
bool page_sums_follow(const struct tablet *head, uint64_t size_bytes)
{
    return head->size < size_bytes
           && page_sums_bytes(head->size) == size_bytes - head->size;
}

void page_sums_of(const void *bytes, uint64_t size, uint64_t *sums)
{
    const uint8_t *page = bytes;

    for (uint64_t at = 0; at < size; at += SUM_PAGE_BYTES) {
        uint64_t left = size - at;
        *sums++ = block_checksum(
            page + at, left < SUM_PAGE_BYTES ? (size_t)left : SUM_PAGE_BYTES);
    }
}

bool page_sums_add(struct block *block)
{
    uint64_t bytes = page_sums_bytes(block->size), end = block->size + bytes;
    uint8_t *sums = (uint8_t *)block->bytes + block->size;

    assert(((const struct tablet *)block->bytes)->size == block->size);
    if (bytes == 0)
        return false;
    memset(sums, 0, (size_t)(page_round(end) - block->size));
    page_sums_of(block->bytes, block->size, (uint64_t *)(void *)sums);
    block->size = (size_t)end;
    return true;
}

uint64_t page_sums_checksum(const struct block *block)
{
    const struct tablet *head = block->bytes;
    uint64_t from = 0;

    if (block->size >= sizeof *head && page_sums_follow(head, block->size))
        from = head->size;
    return block_checksum((const uint8_t *)block->bytes + from,
                          (size_t)(block->size - from));
}
