/* SPDX-License-Identifier: MIT */
/*
 * The passes over a partition. Where all its right rows fit there is one, of
 * the join's own kind. Else right rows come block by block: pairs are made of
 * all left rows with each block; what asks for left rows without a partner, or
 * with one, asks those that have found none so far, which become fewer.
 *
 *     kind    with each block                      behind the last one
 *     INNER   INNER
 *     RIGHT   RIGHT
 *     LEFT    INNER; rest = ANTI of the rest       LEFT of the rest, no row
 *     FULL    RIGHT; rest = ANTI of the rest       LEFT of the rest, no row
 *     SEMI    SEMI, ANTI of the rest
 *     ANTI    rest = ANTI of the rest              the rest
 *     MARK    MARK of the rest; not true: rest     MARK of the rest, no row
 */
#include "exec/join/join_partitions.h"

#include <assert.h>

enum {
    LEFT_FIRST = 16,     /* left rows at first, where they come a few at a
                            time ...                                       */
    LEFT_FACTOR = 4,     /* ... and how they become more, or fewer          */
    BLOCK_MIN = 1 << 10, /* bytes of a block of rows to merge               */
    BLOCK_MAX = 1 << 20,
    REST_BLOCK = 64 << 10
};

/* A partition that is being joined. */
struct partition_joining {
    struct join_partitions *partitions; /* of the join */
    struct spill_range left;            /* all of them             */
    struct spill_range rest;            /* without a partner so far */
    unsigned rests;                     /* that were made          */
    struct join_block block;            /* right rows              */
};

/* The kind of the whole join. */
static enum join_kind kind_of(const struct join_partitions *partitions)
{
    return partitions->join->head.step->join.kind;
}

/* Whether right rows without a partner go out. */
static bool gives_right(enum join_kind kind)
{
    return kind == JOIN_RIGHT || kind == JOIN_FULL;
}

/* --------------------------------------------------------------- passes -- */

/* A pass whose rows go out. */
static enum vdbq_status give(const struct partition_joining *partition,
                             enum join_kind kind,
                             const struct spill_range *left,
                             struct error *error)
{
    struct spill *output = &partition->partitions->output;
    if (left->rows == 0 && !gives_right(kind))
        return VDBQ_OK;
    enum vdbq_status status = spill_partition_add(output, error);
    if (status == VDBQ_OK)
        status = join_pass_run(
            &(struct join_pass){ .partitions = partition->partitions,
                                 .kind = kind,
                                 .left = *left,
                                 .right = &partition->block,
                                 .to = output },
            error);
    return status == VDBQ_OK ? spill_partition_end(
               output, (unsigned)output->partitions.count - 1, error)
                             : status;
}

/* Makes an empty rest. */
static enum vdbq_status make_rest(const struct partition_joining *partition,
                                  struct spill *rest, struct error *error)
{
    const struct join_partitions *partitions = partition->partitions;
    const struct spill *left = &partitions->left.spill;
    spill_finish(rest);
    return spill_init(
        rest,
        &(struct spill_params){ .files = left->file.files,
                                .memory = left->file.memory,
                                .columns = left->columns,
                                .column_count = left->column_count,
                                .reads = left->reads,
                                .partitions = 1,
                                .block_bytes =
                                    partitions->share_bytes / 8 < REST_BLOCK
                                        ? partitions->share_bytes / 8
                                        : REST_BLOCK },
        error);
}

/* A pass that leaves the rows without a partner as the rest; JOIN_MARK: others
 * go out. */
static enum vdbq_status narrow(struct partition_joining *partition,
                               enum join_kind kind, struct error *error)
{
    assert(partition->left.rows > 0 || partition->rest.rows == 0);
    struct spill *rest = &partition->partitions->rest[partition->rests % 2];
    struct spill *output = &partition->partitions->output;
    bool marks = kind == JOIN_MARK;
    if (partition->rest.rows == 0)
        return VDBQ_OK;
    enum vdbq_status status = make_rest(partition, rest, error);
    if (status == VDBQ_OK && marks)
        status = spill_partition_add(output, error);
    if (status == VDBQ_OK)
        status = join_pass_run(
            &(struct join_pass){ .partitions = partition->partitions,
                                 .kind = kind,
                                 .left = partition->rest,
                                 .right = &partition->block,
                                 .to = marks ? output : rest,
                                 .rest = marks ? rest : NULL },
            error);
    if (status == VDBQ_OK && marks)
        status = spill_partition_end(
            output, (unsigned)output->partitions.count - 1, error);
    if (status == VDBQ_OK)
        status = spill_end(rest, error);
    partition->rests++;
    partition->rest = (struct spill_range){
        .spill = rest, .rows = status == VDBQ_OK ? spill_rows(rest, 0) : 0
    };
    return status;
}

/* The passes with a block of several. */
static enum vdbq_status join_block(struct partition_joining *partition,
                                   struct error *error)
{
    assert(partition->partitions->block_rows > 0);
    enum join_kind kind = kind_of(partition->partitions);
    enum vdbq_status status = VDBQ_OK;
    if (kind == JOIN_INNER || kind == JOIN_LEFT)
        status = give(partition, JOIN_INNER, &partition->left, error);
    if (gives_right(kind))
        status = give(partition, JOIN_RIGHT, &partition->left, error);
    if (kind == JOIN_SEMI)
        status = give(partition, JOIN_SEMI, &partition->rest, error);
    if (status != VDBQ_OK || kind == JOIN_INNER || kind == JOIN_RIGHT)
        return status;
    return narrow(partition, kind == JOIN_MARK ? JOIN_MARK : JOIN_ANTI, error);
}

/* What is done with the rest, when there are no right rows any more. */
static enum vdbq_status join_rest(struct partition_joining *partition,
                                  struct error *error)
{
    enum join_kind kind = kind_of(partition->partitions);
    partition->block.rows.rows = 0;
    if (kind == JOIN_LEFT || kind == JOIN_FULL)
        return give(partition, JOIN_LEFT, &partition->rest, error);
    return kind == JOIN_ANTI || kind == JOIN_MARK
               ? give(partition, kind, &partition->rest, error)
               : VDBQ_OK;
}

/* --------------------------------------------------------------- blocks -- */

/* An empty block, with the dictionaries of the right side. */
static enum vdbq_status open_block(struct partition_joining *partition,
                                   struct error *error)
{
    const struct row_set *right = &partition->partitions->join->right;
    const struct spill *spill = &partition->partitions->right.spill;
    return row_set_init_like(&partition->block.rows, spill->columns,
                             spill->column_count, right, error);
}

/* Adds rows to a block. */
static enum vdbq_status add_rows(struct partition_joining *partition,
                                 const struct vdbq_batch *batch,
                                 struct error *error)
{
    struct join_block *block = &partition->block;
    uint64_t first = block->rows.rows, rows = first + batch->rows;
    assert(first <= block->room);
    const uint64_t *from = batch->column[batch->columns].values;
    if (rows > block->room) {
        uint64_t room = rows + rows / 2;
        uint64_t *numbers =
            memory_resize(block->numbers, room * sizeof *numbers);
        if (numbers == NULL)
            return error_no_memory(error);
        block->numbers = numbers;
        block->room = room;
    }
    for (uint64_t i = 0; i < batch->rows; i++)
        block->numbers[first + i] = from[i];
    return row_set_append(&block->rows, batch,
                          partition->partitions->join->threads, error);
}

/* Takes as many right rows to hand as there is room for, and some more. */
static enum vdbq_status fill_block(struct partition_joining *partition,
                                   struct spill_reader *reader,
                                   struct error *error)
{
    uint64_t most = partition->partitions->block_rows;
    uint64_t some = partition->partitions->right.spill.block_rows;
    enum vdbq_status status = VDBQ_OK;
    struct row_set *rows = &partition->block.rows;
    rows->rows = 0;
    do {
        struct vdbq_batch batch;
        status = spill_read(reader, &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = add_rows(partition, &batch, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    } while (status == VDBQ_OK && reader->rows_left > 0
             && rows->rows + some <= most);
    return status;
}

/* Joins all blocks of a partition. */
static enum vdbq_status join_blocks(struct partition_joining *partition,
                                    struct spill_reader *reader,
                                    struct error *error)
{
    enum vdbq_status status = fill_block(partition, reader, error);
    if (status == VDBQ_OK && reader->rows_left == 0)
        return give(partition, kind_of(partition->partitions), &partition->left,
                    error);
    while (status == VDBQ_OK) {
        status = join_block(partition, error);
        if (status != VDBQ_OK || reader->rows_left == 0)
            break;
        status = fill_block(partition, reader, error);
    }
    return status == VDBQ_OK ? join_rest(partition, error) : status;
}

/* Joins one partition, in blocks where the right rows are too many. */
static enum vdbq_status join_partition(struct join_partitions *partitions,
                                       const struct spill_range *left,
                                       struct error *error)
{
    struct partition_joining partition = { .partitions = partitions,
                                           .left = *left,
                                           .rest = *left };
    struct spill *right = &partitions->right.spill;
    struct spill_range range = { .spill = right,
                                 .partition = left->partition,
                                 .rows = spill_rows(right, left->partition) };
    struct spill_reader reader = { 0 };
    if (range.rows == 0
        && (kind_of(partitions) == JOIN_INNER
            || kind_of(partitions) == JOIN_RIGHT
            || kind_of(partitions) == JOIN_SEMI))
        return VDBQ_OK;
    if (left->rows == 0 && !gives_right(kind_of(partitions)))
        return VDBQ_OK;
    enum vdbq_status status = open_block(&partition, error);
    if (status == VDBQ_OK)
        status = spill_reader_init(&reader, &range, error);
    if (status == VDBQ_OK)
        status = join_blocks(&partition, &reader, error);
    spill_reader_finish(&reader);
    row_set_finish(&partition.block.rows);
    memory_release(partition.block.numbers);
    return status;
}

/* ------------------------------------------------------------------ run -- */

/* About how many passes give rows, at most. */
static uint64_t passes_most(const struct join_partitions *partitions)
{
    uint64_t passes = 0;
    for (unsigned i = 0; i < partitions->count; i++) {
        uint64_t rows = spill_rows(&partitions->right.spill, i);
        passes += rows <= partitions->block_rows
                      ? 1
                      : 2 * rows / partitions->block_rows + 2;
    }
    assert(passes > 0);
    return passes;
}

/* Makes new partitions for results: one a pass. */
static enum vdbq_status open_output(struct join_partitions *partitions,
                                    struct error *error)
{
    struct stream *head = &partitions->join->head;
    uint64_t bytes = partitions->share_bytes / 2;
    if (!partitions->any_order) /* else one is read after the other */
        bytes /= passes_most(partitions);
    bytes = bytes > BLOCK_MIN ? bytes : BLOCK_MIN;
    spill_finish(&partitions->output);
    return spill_init(
        &partitions->output,
        &(struct spill_params){ .files = head->params->files,
                                .memory = &head->memory,
                                .columns = head->step->columns,
                                .column_count = head->step->column_count,
                                .reads = head->reads,
                                .plain = partitions->any_order,
                                .block_bytes =
                                    bytes < BLOCK_MAX ? bytes : BLOCK_MAX },
        error);
}

/* Whether all left rows may have pairs with all right ones, so that a few come
 * at a time. Right rows without a partner are known behind all of them. */
static bool all_pair(const struct join_partitions *partitions)
{
    return partitions->right.keys->count == 0
           && !gives_right(kind_of(partitions));
}

bool join_passes_more(const struct join_partitions *partitions)
{
    return all_pair(partitions)
           && partitions->left_next < partitions->left.count;
}

/* Joins the next left rows; so many that their pairs take about as much room
 * as the right rows, which are read again for them. */
static enum vdbq_status join_next_left(struct join_partitions *partitions,
                                       struct error *error)
{
    uint64_t left = partitions->left.count - partitions->left_next;
    assert(partitions->left_next <= partitions->left.count);
    uint64_t most =
        partitions->left_most > 0 ? partitions->left_most : LEFT_FIRST;
    struct spill_range range = { .spill = &partitions->left.spill,
                                 .first = partitions->left_next,
                                 .rows = left < most ? left : most };
    enum vdbq_status status = join_partition(partitions, &range, error);
    uint64_t size = partitions->right.spill.file.bytes;
    partitions->left_next += range.rows;
    if (partitions->output.file.bytes < size / 2)
        most *= LEFT_FACTOR;
    if (partitions->output.file.bytes > size * 2 && most > LEFT_FACTOR)
        most /= LEFT_FACTOR;
    partitions->left_most = most;
    return status;
}

enum vdbq_status join_passes_run(struct join_partitions *partitions,
                                 struct error *error)
{
    enum vdbq_status status = open_output(partitions, error);
    if (all_pair(partitions))
        status = status == VDBQ_OK ? join_next_left(partitions, error) : status;
    else
        for (unsigned i = 0; i < partitions->count && status == VDBQ_OK; i++)
            status = join_partition(
                partitions,
                &(struct spill_range){
                    .spill = &partitions->left.spill,
                    .partition = i,
                    .rows = spill_rows(&partitions->left.spill, i) },
                error);
    return status == VDBQ_OK ? spill_end(&partitions->output, error) : status;
}
