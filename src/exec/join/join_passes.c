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
#include <string.h>

enum {
    LEFT_FIRST = 16,     /* left rows at first, where they come a few at a
                            time ...                                       */
    LEFT_FACTOR = 4,     /* ... and how they become more, or fewer          */
    BLOCK_MIN = 1 << 10, /* bytes of a block of rows to merge               */
    BLOCK_MAX = 1 << 20,
    REST_BLOCK = 64 << 10
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

/* Runs a pass whose rows go out: into the file or, in any order, while they are
 * asked for. */
static enum vdbq_status give_pass(struct join_partitions *partitions,
                                  const struct join_pass *pass,
                                  struct error *error)
{
    struct spill *output = &partitions->output;
    assert(pass->to == output && partitions->giving == NULL);
    if (partitions->any_order)
        return join_pass_open(pass, &partitions->giving, error);
    enum vdbq_status status = spill_partition_add(output, error);
    if (status == VDBQ_OK)
        status = join_pass_run(pass, error);
    return status == VDBQ_OK ? spill_partition_end(
               output, (unsigned)output->partitions.count - 1, error)
                             : status;
}

/* The same of some left rows with the right ones that are at hand. */
static enum vdbq_status give(struct join_partitions *partitions,
                             enum join_kind kind,
                             const struct spill_range *left,
                             struct error *error)
{
    if (left->rows == 0 && !gives_right(kind))
        return VDBQ_OK;
    return give_pass(partitions,
                     &(struct join_pass){ .partitions = partitions,
                                          .kind = kind,
                                          .left = *left,
                                          .right = &partitions->partition.block,
                                          .to = &partitions->output },
                     error);
}

/* Makes an empty rest. */
static enum vdbq_status make_rest(const struct join_partitions *partitions,
                                  struct spill *rest, struct error *error)
{
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

/* The rest that comes next. */
static struct spill *next_rest(struct join_partitions *partitions)
{
    return &partitions->rest[partitions->partition.rests % 2];
}

/* What comes behind a block. */
static enum join_turn behind_block(const struct join_partition *partition)
{
    return partition->right.rest.rows > 0 ? JOIN_TURN_BLOCK : JOIN_TURN_REST;
}

/* A pass that leaves the rows without a partner as the rest; JOIN_MARK: others
 * go out. */
static enum vdbq_status narrow(struct join_partitions *partitions,
                               struct error *error)
{
    struct join_partition *partition = &partitions->partition;
    assert(partition->left.rows > 0 || partition->rest.rows == 0);
    struct spill *rest = next_rest(partitions);
    bool marks = kind_of(partitions) == JOIN_MARK;
    if (partition->rest.rows == 0) {
        partition->turn = behind_block(partition);
        return VDBQ_OK;
    }
    partition->turn = JOIN_TURN_NARROWED;
    const struct join_pass pass = { .partitions = partitions,
                                    .kind = marks ? JOIN_MARK : JOIN_ANTI,
                                    .left = partition->rest,
                                    .right = &partition->block,
                                    .to = marks ? &partitions->output : rest,
                                    .rest = marks ? rest : NULL };
    enum vdbq_status status = make_rest(partitions, rest, error);
    if (status != VDBQ_OK)
        return status;
    return marks ? give_pass(partitions, &pass, error)
                 : join_pass_run(&pass, error);
}

/* All of the new rest are there. */
static enum vdbq_status end_rest(struct join_partitions *partitions,
                                 struct error *error)
{
    struct join_partition *partition = &partitions->partition;
    struct spill *rest = next_rest(partitions);
    enum vdbq_status status = spill_end(rest, error);
    partition->rests++;
    partition->turn = behind_block(partition);
    partition->rest = (struct spill_range){
        .spill = rest, .rows = status == VDBQ_OK ? spill_rows(rest, 0) : 0
    };
    return status;
}

/* What is done with the rest, when there are no right rows any more. */
static enum vdbq_status join_rest(struct join_partitions *partitions,
                                  struct error *error)
{
    struct join_partition *partition = &partitions->partition;
    enum join_kind kind = kind_of(partitions);
    partition->block.rows.rows = 0;
    partition->turn = JOIN_TURN_END;
    if (kind == JOIN_LEFT || kind == JOIN_FULL)
        return give(partitions, JOIN_LEFT, &partition->rest, error);
    return kind == JOIN_ANTI || kind == JOIN_MARK
               ? give(partitions, kind, &partition->rest, error)
               : VDBQ_OK;
}

/* --------------------------------------------------------------- blocks -- */

/* Adds the numbers of rows to those of a block. */
static enum vdbq_status add_numbers(struct join_block *block,
                                    const struct batches *batches,
                                    struct error *error)
{
    uint64_t at = block->rows.rows, rows = at + batches_rows(batches);
    if (rows > block->room) {
        uint64_t room = rows + rows / 2;
        uint64_t *numbers =
            memory_resize(block->numbers, room * sizeof *numbers);
        if (numbers == NULL)
            return error_no_memory(error);
        block->numbers = numbers;
        block->room = room;
    }
    for (unsigned i = 0; i < batches->count; i++) {
        const struct vdbq_batch *batch = &batches->batch[i];
        memcpy(block->numbers + at, batch->column[batch->columns - 1].values,
               batch->rows * sizeof *block->numbers);
        at += batch->rows;
    }
    assert(at == rows);
    return VDBQ_OK;
}

/* Adds rows to the block. */
static enum vdbq_status add_rows(struct join_partitions *partitions,
                                 struct error *error)
{
    struct join_block *block = &partitions->partition.block;
    const struct batches *batches = &partitions->partition.right.batches;
    enum vdbq_status status = VDBQ_OK;
    if (!partitions->any_order)
        status = add_numbers(block, batches, error);
    return status == VDBQ_OK ? row_set_append_all(
               &block->rows, batches, partitions->join->threads, error)
                             : status;
}

/* Takes as many right rows to hand as there is room for, and some more. */
static enum vdbq_status fill_block(struct join_partitions *partitions,
                                   struct error *error)
{
    uint64_t some = partitions->right.spill.block_rows;
    uint64_t most = partitions->block_rows;
    enum vdbq_status status = VDBQ_OK;
    struct join_gather *right = &partitions->partition.right;
    struct row_set *rows = &partitions->partition.block.rows;
    rows->rows = 0;
    do {
        status = join_gather_read(
            right, most > rows->rows + some ? most - rows->rows - some : 0,
            error);
        if (status == VDBQ_OK)
            status = add_rows(partitions, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    } while (status == VDBQ_OK && right->rest.rows > 0
             && rows->rows + some <= most);
    return status;
}

/* The pairs with a block of several. */
static enum vdbq_status give_pairs(struct join_partitions *partitions,
                                   struct error *error)
{
    const struct join_partition *partition = &partitions->partition;
    enum join_kind kind = kind_of(partitions);
    assert(partitions->block_rows > 0);
    if (kind == JOIN_INNER || kind == JOIN_LEFT)
        return give(partitions, JOIN_INNER, &partition->left, error);
    if (gives_right(kind))
        return give(partitions, JOIN_RIGHT, &partition->left, error);
    return kind == JOIN_SEMI
               ? give(partitions, JOIN_SEMI, &partition->rest, error)
               : VDBQ_OK;
}

/* Takes the next block; where it is all right rows of the partition, one pass joins
 * them. */
static enum vdbq_status join_block(struct join_partitions *partitions,
                                   struct error *error)
{
    struct join_partition *partition = &partitions->partition;
    enum join_kind kind = kind_of(partitions);
    uint64_t rows =
        spill_rows(&partitions->right.spill, partition->right.rest.partition);
    bool first = partition->right.rest.rows == rows;
    enum vdbq_status status = fill_block(partitions, error);
    if (status != VDBQ_OK)
        return status;
    if (first && partition->right.rest.rows == 0) {
        partition->turn = JOIN_TURN_END;
        return give(partitions, kind, &partition->left, error);
    }
    partition->turn = kind == JOIN_INNER || kind == JOIN_RIGHT
                          ? behind_block(partition)
                          : JOIN_TURN_NARROW;
    return give_pairs(partitions, error);
}

/* ----------------------------------------------------------- partitions -- */

/* Whether nothing comes of a partition, whose left rows these are. */
static bool gives_none(const struct join_partitions *partitions,
                       const struct spill_range *left)
{
    enum join_kind kind = kind_of(partitions);
    if (left->rows == 0)
        return !gives_right(kind);
    return spill_rows(&partitions->right.spill, left->partition) == 0
           && (kind == JOIN_INNER || kind == JOIN_RIGHT || kind == JOIN_SEMI);
}

/* Begins to join a partition, which close_partition() ends. */
static enum vdbq_status open_partition(struct join_partitions *partitions,
                                       const struct spill_range *left,
                                       struct error *error)
{
    struct join_partition *partition = &partitions->partition;
    const struct spill *right = &partitions->right.spill;
    assert(partition->turn == JOIN_TURN_END);
    *partition = (struct join_partition){ .left = *left, .rest = *left };
    if (gives_none(partitions, left))
        return VDBQ_OK;
    partition->turn = JOIN_TURN_BLOCK;
    const struct spill_range rows = { .spill = right,
                                      .partition = left->partition,
                                      .rows =
                                          spill_rows(right, left->partition) };
    enum vdbq_status status =
        row_set_init_like(&partition->block.rows, right->columns,
                          right->column_count, &partitions->join->right, error);
    return status == VDBQ_OK ? join_gather_init(
               &partition->right, &rows, partitions->join->threads, error)
                             : status;
}

static void close_partition(struct join_partitions *partitions)
{
    struct join_partition *partition = &partitions->partition;
    join_gather_finish(&partition->right);
    row_set_finish(&partition->block.rows);
    memory_release(partition->block.numbers);
    *partition = (struct join_partition){ 0 };
}

/* Does what comes next of the partition. */
static enum vdbq_status take_turn(struct join_partitions *partitions,
                                  struct error *error)
{
    switch (partitions->partition.turn) {
    case JOIN_TURN_BLOCK:
        return join_block(partitions, error);
    case JOIN_TURN_NARROW:
        return narrow(partitions, error);
    case JOIN_TURN_NARROWED:
        return end_rest(partitions, error);
    default:
        return join_rest(partitions, error);
    }
}

/* Joins one partition, in blocks where the right rows are too many. */
static enum vdbq_status join_partition(struct join_partitions *partitions,
                                       const struct spill_range *left,
                                       struct error *error)
{
    enum vdbq_status status = open_partition(partitions, left, error);
    while (status == VDBQ_OK && partitions->partition.turn != JOIN_TURN_END)
        status = take_turn(partitions, error);
    close_partition(partitions);
    return status;
}

/* All left rows of a partition. */
static struct spill_range left_rows(const struct join_partitions *partitions,
                                    unsigned partition)
{
    const struct spill *left = &partitions->left.spill;
    return (struct spill_range){ .spill = left,
                                 .partition = partition,
                                 .rows = spill_rows(left, partition) };
}

/* ------------------------------------------------------------ any order -- */

/* Goes on to what gives rows next; false: there is nothing. */
static bool go_on(struct join_partitions *partitions, enum vdbq_status *status,
                  struct error *error)
{
    if (partitions->partition.turn != JOIN_TURN_END) {
        *status = take_turn(partitions, error);
        return true;
    }
    close_partition(partitions);
    if (partitions->next == partitions->count)
        return false;
    struct spill_range left = left_rows(partitions, partitions->next++);
    *status = open_partition(partitions, &left, error);
    return true;
}

enum vdbq_status join_passes_batch(struct join_partitions *partitions,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    while (status == VDBQ_OK && batch->rows == 0) {
        status = stop_pause(error);
        if (status != VDBQ_OK)
            break;
        if (partitions->giving == NULL && !go_on(partitions, &status, error))
            break;
        if (status == VDBQ_OK && partitions->giving != NULL)
            status = join_pass_batch(partitions->giving, batch, error);
        if (status == VDBQ_OK && batch->rows == 0) {
            join_pass_close(partitions->giving);
            partitions->giving = NULL;
        }
    }
    return status;
}

void join_passes_finish(struct join_partitions *partitions)
{
    join_pass_close(partitions->giving);
    close_partition(partitions);
    partitions->giving = NULL;
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
    uint64_t bytes = partitions->share_bytes / 2 / passes_most(partitions);
    bytes = bytes > BLOCK_MIN ? bytes : BLOCK_MIN;
    spill_finish(&partitions->output);
    return spill_init(
        &partitions->output,
        &(struct spill_params){ .files = head->params->files,
                                .memory = &head->memory,
                                .columns = head->step->columns,
                                .column_count = head->step->column_count,
                                .reads = head->reads,
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
    assert(!partitions->any_order);
    enum vdbq_status status = open_output(partitions, error);
    if (all_pair(partitions))
        status = status == VDBQ_OK ? join_next_left(partitions, error) : status;
    else
        for (unsigned i = 0; i < partitions->count && status == VDBQ_OK; i++) {
            struct spill_range left = left_rows(partitions, i);
            status = join_partition(partitions, &left, error);
        }
    return status == VDBQ_OK ? spill_end(&partitions->output, error) : status;
}
