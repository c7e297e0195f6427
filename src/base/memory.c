/* SPDX-License-Identifier: MIT */
/*
 * Memory. An arena is a list of blocks; the head is filled from its start,
 * and the next block is twice as large. A wish that is larger than that
 * gets a block of its own behind the head, which goes on being filled.
 */
#include "base/memory.h"

#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/paged.h"
#include "base/slabs.h"
#include "base/hostile.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)              \
    || defined(VDBQ_HOSTILE)
/* What watches the C library's memory is to see all of it. */
struct memory_calls memory_calls = { realloc, free };
#else
struct memory_calls memory_calls = { slabs_resize, slabs_release };
#endif

enum {
    SPARE_SIZES = 2,                   /* an arena's first blocks, which most
                                          have and no more                */
    SPARE_MOST = 64,                   /* of each size that are kept          */
    BLOCK_FIRST = HOSTILE(1, 4 << 10), /* bytes of an arena's first block     */
    BLOCK_MAX = HOSTILE(1, 1 << 18),   /* bytes at which blocks stop doubling:
                                          less than a slab, which has large
                                          pages (slabs.h)                 */
    PAGE_LARGE = 2 << 20               /* bytes of a large page               */
};

struct arena_block {
    struct arena_block *next; /* filled before this one */
    size_t used, size;        /* bytes after the head   */
    bool paged;               /* of paged_alloc()       */
};

/* The block's head, rounded up so that the bytes behind it are aligned. */
enum {
    ALIGNMENT = _Alignof(max_align_t),
    HEAD_SIZE =
        (sizeof(struct arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT
};

/* Blocks that no arena has, for the next that asks: a short statement opens and
 * finishes dozens of arenas, and the C library takes longer for blocks of this
 * size than the statement does with them. A lock that somebody else holds is not
 * waited for. */
static struct {
    pthread_mutex_t lock;
    struct arena_block *blocks[SPARE_SIZES]; /* lists, by size   */
    unsigned counts[SPARE_SIZES];            /* of blocks therein */
} spare = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct arena_block *add_block(struct arena *arena, size_t size);
static void give_block(struct arena_block *block);

static _Thread_local unsigned refused;

void *memory_resize(void *old, size_t size)
{
    void *memory = memory_calls.resize(old, size > 0 ? size : 1);

    refused += memory == NULL;
    return memory;
}

void *memory_untouched(uint64_t size)
{
    void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    refused += memory == MAP_FAILED;
    if (memory == MAP_FAILED)
        return NULL;
#ifdef MADV_NOHUGEPAGE
    madvise(memory, (size_t)size, MADV_NOHUGEPAGE);
#endif
    return memory;
}

void memory_untouched_release(void *memory, uint64_t size)
{
    if (memory != NULL)
        munmap(memory, (size_t)size);
}

unsigned memory_refused(void)
{
    return refused;
}

void *memory_zeroed(size_t count, size_t width)
{
    void *memory;

    if (width > 0 && count > SIZE_MAX / width)
        return NULL;
    memory = memory_resize(NULL, count * width);
    if (memory != NULL)
        memset(memory, 0, count * width);
    return memory;
}

void *memory_spread(void *old, size_t size)
{
    char *memory = memory_resize(old, size);
#ifdef MADV_HUGEPAGE
    size_t skip = PAGE_LARGE - (uintptr_t)memory % PAGE_LARGE;

    if (memory != NULL && size >= 2 * PAGE_LARGE)
        madvise(memory + skip, (size - skip) / PAGE_LARGE * PAGE_LARGE,
                MADV_HUGEPAGE);
#endif
    return memory;
}

bool memory_extend(void *memory, size_t size)
{
    return slabs_extend(memory, size);
}

void memory_release(void *memory)
{
    if (memory != NULL)
        memory_calls.release(memory);
}

void memory_trim(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

void *arena_room(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->head;
    char *memory;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (block == NULL || block->size - block->used < size)
        block = add_block(arena, size);
    if (block == NULL)
        return NULL;
    memory = (char *)block + HEAD_SIZE + block->used;
    block->used += size;
    return memory;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *memory = arena_room(arena, size);

    return memory != NULL ? memset(memory, 0, size) : NULL;
}

void *arena_alloc_paged(struct arena *arena, size_t size)
{
    /* a block that is filled is never the head: that would have room */
    struct arena_block *head = arena->head, *block = NULL;
    if (head != NULL && size <= SIZE_MAX / 2)
        block = paged_zeroed(HEAD_SIZE + size);
    if (block == NULL)
        return arena_alloc(arena, size);
    *block = (struct arena_block){
        .next = head->next, .used = size, .size = size, .paged = true
    };
    head->next = block;
    return (char *)block + HEAD_SIZE;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = length < SIZE_MAX ? arena_alloc(arena, length + 1) : NULL;

    if (copy != NULL && length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

void arena_finish(struct arena *arena)
{
    struct arena_block *block = arena->head;

    while (block != NULL) {
        struct arena_block *next = block->next;
        if (block->paged)
            paged_release(block);
        else
            give_block(block);
        block = next;
    }
    arena->head = NULL;
}

void arena_empty(struct arena *arena)
{
    struct arena_block *block = arena->head;

    if (block == NULL || block->next != NULL || block->size > BLOCK_MAX)
        arena_finish(arena);
    else
        block->used = 0;
}

size_t arena_bytes(const struct arena *arena)
{
    size_t bytes = 0;

    for (const struct arena_block *block = arena->head; block != NULL;
         block = block->next)
        bytes += block->paged ? 0 : HEAD_SIZE + block->size;
    return bytes;
}

/* ---------------------------------------------------------------- blocks -- */

/* Which spare blocks have that size; SPARE_SIZES: none. A test that watches the
 * C library's memory, or replaces it, is to see all of it. */
static unsigned spare_size(size_t size)
{
    if (memory_calls.resize != slabs_resize
        || memory_calls.release != slabs_release)
        return SPARE_SIZES;
    return size == BLOCK_FIRST               ? 0
           : size == (size_t)2 * BLOCK_FIRST ? 1
                                             : SPARE_SIZES;
}

/* A spare block of that size; NULL: there is none. */
static struct arena_block *take_spare(size_t size)
{
    unsigned which = spare_size(size);
    struct arena_block *block = NULL;

    if (which == SPARE_SIZES || pthread_mutex_trylock(&spare.lock) != 0)
        return NULL;
    block = spare.blocks[which];
    if (block != NULL) {
        assert(spare.counts[which] > 0 && block->size == size);
        spare.blocks[which] = block->next;
        spare.counts[which]--;
    }
    pthread_mutex_unlock(&spare.lock);
    return block;
}

/* Keeps a block as a spare one; false: there are enough. */
static bool keep_spare(struct arena_block *block)
{
    unsigned which = spare_size(block->size);
    bool kept;

    if (which == SPARE_SIZES || pthread_mutex_trylock(&spare.lock) != 0)
        return false;
    kept = spare.counts[which] < SPARE_MOST;
    if (kept) {
        block->next = spare.blocks[which];
        spare.blocks[which] = block;
        spare.counts[which]++;
    }
    pthread_mutex_unlock(&spare.lock);
    return kept;
}

static void give_block(struct arena_block *block)
{
    if (!keep_spare(block))
        memory_release(block);
}

/* A block with room for `size` bytes. */
static struct arena_block *get_block(size_t size)
{
    struct arena_block *block = take_spare(size);

    if (block == NULL)
        block = memory_resize(NULL, HEAD_SIZE + size);
    if (block != NULL)
        *block = (struct arena_block){ .size = size };
    return block;
}

/* Adds a block with at least `size` bytes of room: as the head, or behind
 * the head where only this one wish is that large. */
static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *head = arena->head, *block;
    size_t usual = head == NULL ? BLOCK_FIRST : head->size * 2;
    bool alone;

    usual = usual < BLOCK_MAX ? usual : BLOCK_MAX;
    alone = head != NULL && size > usual;
    size = size > usual ? size : usual;
    block = get_block(size);
    if (block == NULL)
        return NULL;
    block->next = alone ? head->next : head;
    if (alone)
        head->next = block;
    else
        arena->head = block;
    return block;
}
