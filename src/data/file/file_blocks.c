/* SPDX-License-Identifier: MIT */
/*
 * Blocks on their way to the file. Small ones wait in memory until the commit: by
 * then the transaction has often made others in their place, which need not be
 * written, and those that are neighbours are written together. Nobody but this
 * connection can know of them before. A block that waits is read from here.
 *
 * The writer adds and takes away; threads that load tablets may read meanwhile.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "data/file/file.h"

enum {
    SMALL_BYTES = 1 << 16,                 /* of a block that waits          */
    WAITING_BYTES = HOSTILE(16, 256) << 12 /* of all; then all are written  */
};

/* A block that waits. */
struct waiting_block {
    uint64_t offset; /* where it belongs                      */
    uint64_t size;   /* whole pages                           */
    struct block block;
};

struct waiting {
    pthread_mutex_t lock;
    struct vector blocks; /* struct waiting_block: by their places       */
    uint64_t bytes;       /* of them all                                 */
};

enum vdbq_status file_waiting_create(struct file *file, struct error *error)
{
    assert(file->waiting == NULL);
    file->waiting = memory_zeroed(1, sizeof *file->waiting);
    if (file->waiting == NULL)
        return error_no_memory(error);
    file->waiting->blocks = VECTOR(struct waiting_block);
    pthread_mutex_init(&file->waiting->lock, NULL);
    return VDBQ_OK;
}

void file_waiting_destroy(struct file *file)
{
    if (file->waiting == NULL)
        return;
    file_forget_blocks(file);
    vector_finish(&file->waiting->blocks);
    pthread_mutex_destroy(&file->waiting->lock);
    memory_release(file->waiting);
    file->waiting = NULL;
}

/* ----------------------------------------------------------- the list -- */

static struct waiting_block *block_at(const struct waiting *waiting, size_t i)
{
    return vector_at(&waiting->blocks, i);
}

/* The first block that ends behind a place; the count: none does. */
static size_t find_block(const struct waiting *waiting, uint64_t offset)
{
    size_t low = 0, high = waiting->blocks.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct waiting_block *block = block_at(waiting, middle);
        if (block->offset + block->size <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_block(struct waiting *waiting, size_t i)
{
    struct waiting_block *block = block_at(waiting, i);

    assert(i < waiting->blocks.count && waiting->bytes >= block->size);
    waiting->bytes -= block->size;
    block_destroy(&block->block);
    memmove(block, block + 1, (--waiting->blocks.count - i) * sizeof *block);
}

/* Whoever takes a place, or gives it back, knows that nothing there is needed. */
static void remove_at(struct waiting *waiting, uint64_t offset, uint64_t size)
{
    size_t i = find_block(waiting, offset);

    while (i < waiting->blocks.count
           && block_at(waiting, i)->offset < offset + size)
        remove_block(waiting, i);
}

/* Takes a block over, where none is; false: no memory. */
static bool add_block(struct waiting *waiting, struct block *block,
                      uint64_t offset)
{
    struct waiting_block added = { .offset = offset,
                                   .size = page_round(block->size),
                                   .block = *block };
    size_t at = find_block(waiting, offset);

    assert(at == waiting->blocks.count
           || block_at(waiting, at)->offset >= offset + added.size);
    if (!vector_append(&waiting->blocks, &added, 1))
        return false;
    *block = (struct block){ 0 };
    memmove(block_at(waiting, at) + 1, block_at(waiting, at),
            (waiting->blocks.count - 1 - at) * sizeof added);
    *block_at(waiting, at) = added;
    waiting->bytes += added.size;
    return true;
}

/* ------------------------------------------------------------- writing -- */

/* How many blocks from that one on are neighbours, and their bytes. */
static size_t count_neighbours(const struct waiting *waiting, size_t first,
                               uint64_t *size)
{
    size_t i = first;

    *size = 0;
    do
        *size += block_at(waiting, i++)->size;
    while (i < waiting->blocks.count
           && block_at(waiting, i)->offset
                  == block_at(waiting, first)->offset + *size);
    return i - first;
}

/* Writes `count` neighbours, in one call where there is memory for that. */
static enum vdbq_status write_neighbours(struct file *file, size_t first,
                                         size_t count, uint64_t size,
                                         struct error *error)
{
    const struct waiting_block *block = block_at(file->waiting, first);
    uint8_t *all = count > 1 ? memory_resize(NULL, (size_t)size) : NULL;
    uint8_t *at = all;
    enum vdbq_status status = VDBQ_OK;

    assert(count > 0 && first + count <= file->waiting->blocks.count);
    for (size_t i = 0; i < count && status == VDBQ_OK; i++) {
        if (all == NULL)
            status = file_write(file, block[i].block.bytes,
                                (size_t)block[i].size, block[i].offset, error);
        else
            at = (uint8_t *)memcpy(at, block[i].block.bytes,
                                   (size_t)block[i].size)
                 + block[i].size;
    }
    if (all != NULL)
        status = file_write(file, all, (size_t)size, block->offset, error);
    memory_release(all);
    return status;
}

enum vdbq_status file_write_waiting(struct file *file, struct error *error)
{
    const struct waiting *waiting = file->waiting;
    enum vdbq_status status = VDBQ_OK;
    uint64_t size;

    if (waiting->blocks.count == 0)
        return VDBQ_OK;
    status = file_settle(file, error);
    for (size_t i = 0, count; i < waiting->blocks.count && status == VDBQ_OK;
         i += count) {
        count = count_neighbours(waiting, i, &size);
        status = write_neighbours(file, i, count, size, error);
    }
    if (status == VDBQ_OK)
        file_forget_blocks(file);
    return status;
}

/* Has a block wait; false: there is no memory, or it is none that should. */
static bool put_off(struct file *file, struct block *block, uint64_t offset)
{
    struct waiting *waiting = file->waiting;
    bool waits = file->calls != &os_memory_files && block->size <= SMALL_BYTES;

    pthread_mutex_lock(&waiting->lock);
    remove_at(waiting, offset, page_round(block->size));
    waits = waits && add_block(waiting, block, offset);
    pthread_mutex_unlock(&waiting->lock);
    return waits;
}

enum vdbq_status file_write_block(struct file *file, struct block *block,
                                  uint64_t offset, struct error *error)
{
    assert(offset % PAGE_BYTES == 0);
    enum vdbq_status status;

    if (put_off(file, block, offset))
        return file->waiting->bytes > WAITING_BYTES
                   ? file_write_waiting(file, error)
                   : VDBQ_OK;
    status = file_settle(file, error);
    return status == VDBQ_OK
               ? file_write(file, block->bytes, (size_t)page_round(block->size),
                            offset, error)
               : status;
}

/* ----------------------------------------------------------- forgetting -- */

void file_forget_block(struct file *file, uint64_t offset, uint64_t size)
{
    pthread_mutex_lock(&file->waiting->lock);
    remove_at(file->waiting, offset, size);
    pthread_mutex_unlock(&file->waiting->lock);
}

void file_forget_blocks(struct file *file)
{
    pthread_mutex_lock(&file->waiting->lock);
    while (file->waiting->blocks.count > 0)
        remove_block(file->waiting, file->waiting->blocks.count - 1);
    pthread_mutex_unlock(&file->waiting->lock);
}

/* -------------------------------------------------------------- reading -- */

bool file_block_waits(const struct file *file, uint64_t offset)
{
    struct waiting *waiting = file->waiting;
    bool waits;

    pthread_mutex_lock(&waiting->lock);
    size_t at = find_block(waiting, offset);
    waits =
        at < waiting->blocks.count && block_at(waiting, at)->offset <= offset;
    pthread_mutex_unlock(&waiting->lock);
    return waits;
}

bool file_read_waiting(const struct file *file, void *bytes, size_t size,
                       uint64_t offset)
{
    struct waiting *waiting = file->waiting;
    bool found = false;

    pthread_mutex_lock(&waiting->lock);
    size_t at = find_block(waiting, offset);
    if (at < waiting->blocks.count) {
        const struct waiting_block *block = block_at(waiting, at);
        found = block->offset <= offset
                && size <= block->size - (offset - block->offset);
        if (found)
            memcpy(bytes,
                   (const uint8_t *)block->block.bytes
                       + (offset - block->offset),
                   size);
    }
    pthread_mutex_unlock(&waiting->lock);
    return found;
}
