/* SPDX-License-Identifier: MIT */
/*
 * Blocks and their checksum, which is compiled in from xxHash's header.
 */
#include "data/tablet/block.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "base/text.h"
#include "cl/tablet.h"

uint64_t page_round(uint64_t size)
{
    return (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* A block with zeros from its bytes on to a multiple of `unit`. */
static struct block create(uint64_t size, uint64_t unit)
{
    struct block block = { 0 };
    uint64_t room = (size + unit - 1) / unit * unit;
    uintptr_t at;

    if (size > SIZE_MAX / 2)
        return block;
    block.memory = memory_resize(NULL, (size_t)room + TABLET_ALIGN);
    if (block.memory == NULL)
        return block;
    at = TABLET_ALIGNED((uintptr_t)block.memory);
    block.bytes = (char *)block.memory + (at - (uintptr_t)block.memory);
    block.size = (size_t)size;
    memset((char *)block.bytes + size, 0, (size_t)(room - size));
    return block;
}

struct block block_create(uint64_t size)
{
    return create(size, PAGE_BYTES);
}

struct block block_to_read(uint64_t size)
{
    return create(size, TABLET_ALIGN);
}

struct block block_of_text(struct text *text)
{
    struct block block = { 0 };

    if (!text->failed)
        block = block_create(text->length);
    if (block.bytes != NULL)
        memcpy(block.bytes, text->bytes, text->length);
    text_finish(text);
    return block;
}

void block_destroy(struct block *block)
{
    memory_release(block->memory);
    *block = (struct block){ 0 };
}

/* Fuzz targets damage what checksums are of: one value is then right for all
 * bytes. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define CHECKED(sum) ((void)(sum), (uint64_t)0)
#else
#define CHECKED(sum) (sum)
#endif

uint64_t block_checksum(const void *bytes, size_t size)
{
    return CHECKED(XXH3_64bits(bytes, size));
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct checksum),
               "room for the state of a checksum");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(struct checksum), "likewise");

static XXH3_state_t *state_of(struct checksum *checksum)
{
    return (XXH3_state_t *)(void *)checksum->state;
}

void checksum_begin(struct checksum *checksum)
{
    memset(checksum, 0, sizeof *checksum);
    XXH3_64bits_reset(state_of(checksum));
}

void checksum_add(struct checksum *checksum, const void *bytes, size_t size)
{
    XXH3_64bits_update(state_of(checksum), bytes, size);
}

uint64_t checksum_end(const struct checksum *checksum)
{
    return CHECKED(XXH3_64bits_digest(
        (const XXH3_state_t *)(const void *)checksum->state));
}
