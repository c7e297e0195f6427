/* SPDX-License-Identifier: MIT */
/*
 * Several blocks at once: see join_gather.h. Each block has a reader of its own,
 * which keeps its memory for the blocks that follow.
 */
#include "exec/join/join_gather.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/shared_error.h"

enum { ROWS_EACH = 1 << 14 }; /* that give a thread enough work */

/* -------------------------------------------------------- init, finish -- */

/* Blocks that are read at once: at most all. */
static unsigned blocks_of(const struct spill_range *range, unsigned threads)
{
    uint64_t each = range->spill->block_rows;
    uint64_t all =
        (range->first + range->rows + each - 1) / each - range->first / each;
    uint64_t wanted = (uint64_t)threads * ROWS_EACH / each + 1;
    wanted = wanted < BATCHES_MAX ? wanted : BATCHES_MAX;
    return (unsigned)(all < wanted ? all : wanted);
}

/* The next block of a range, or what is left of it, and no other. */
static struct spill_range next_block(const struct spill_range *range)
{
    struct spill_range block = *range;
    uint64_t each = range->spill->block_rows;
    uint64_t rows = each - range->first % each;
    block.rows = rows < range->rows ? rows : range->rows;
    return block;
}

/* Makes a reader of any block of the partition. */
static enum vdbq_status make_reader(struct spill_reader *reader,
                                    const struct spill_range *range,
                                    struct error *error)
{
    uint64_t rows = spill_rows(range->spill, range->partition);
    uint32_t most = range->spill->block_rows;
    enum vdbq_status status = spill_reader_init(reader, range, error);
    return status == VDBQ_OK ? spill_reader_make_room(
               reader, rows < most ? (uint32_t)rows : most, error)
                             : status;
}

enum vdbq_status join_gather_init(struct join_gather *gather,
                                  const struct spill_range *range,
                                  unsigned threads, struct error *error)
{
    assert(threads > 0);
    *gather = (struct join_gather){ .threads = threads, .rest = *range };
    unsigned count = blocks_of(range, threads);
    gather->readers = memory_zeroed(count + 1, sizeof *gather->readers);
    if (gather->readers == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        batches_init(&gather->batches, range->spill->column_count + 1, error);
    for (; gather->count < count && status == VDBQ_OK; gather->count++)
        status = make_reader(&gather->readers[gather->count], range, error);
    return status;
}

void join_gather_finish(struct join_gather *gather)
{
    for (unsigned i = 0; i < gather->count; i++)
        spill_reader_finish(&gather->readers[i]);
    memory_release(gather->readers);
    batches_finish(&gather->batches);
    *gather = (struct join_gather){ 0 };
}

/* ---------------------------------------------------------------- read -- */

/* Blocks that are being read. */
struct gathering {
    struct join_gather *gather;
    unsigned blocks, threads;
    struct vdbq_batch batch[BATCHES_MAX]; /* of each block */
    struct shared_error failure;
};

/* One thread's blocks. */
static void read_share(void *context, unsigned share)
{
    struct gathering *gathering = context;
    struct error error = { 0 };
    for (unsigned i = share;
         i < gathering->blocks && !shared_error_is_told(&gathering->failure);
         i += gathering->threads)
        if (spill_read(&gathering->gather->readers[i], &gathering->batch[i],
                       &error)
            != VDBQ_OK)
            shared_error_tell(&gathering->failure, &error);
}

/* Sends readers to the next blocks; how many have one. */
static unsigned seek_blocks(struct join_gather *gather, uint64_t rows)
{
    struct spill_range *rest = &gather->rest;
    unsigned blocks = 0;
    for (uint64_t taken = 0; rest->rows > 0 && blocks < gather->count
                             && (blocks == 0 || taken < rows);
         blocks++) {
        struct spill_range block = next_block(rest);
        spill_reader_seek(&gather->readers[blocks], &block);
        rest->first += block.rows;
        rest->rows -= block.rows;
        taken += block.rows;
    }
    return blocks;
}

enum vdbq_status join_gather_read(struct join_gather *gather, uint64_t rows,
                                  struct error *error)
{
    struct gathering gathering = { .gather = gather,
                                   .blocks = seek_blocks(gather, rows),
                                   .failure.error = error };
    gather->batches.count = 0;
    if (gathering.blocks == 0)
        return VDBQ_OK;
    gathering.threads =
        gather->threads < gathering.blocks ? gather->threads : gathering.blocks;
    parallel_run(gathering.threads, read_share, &gathering);
    enum vdbq_status status = shared_error_status(&gathering.failure);
    for (unsigned i = 0; i < gathering.blocks && status == VDBQ_OK; i++) {
        gathering.batch[i].columns++;
        batches_add(&gather->batches, &gathering.batch[i]);
    }
    return status;
}
