/* SPDX-License-Identifier: MIT */
/*
 * A join that goes through files: see join_partitions.h. The memory that it
 * counts, how many partitions it takes, and what comes into them and out.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>
#include <stdio.h>

enum {
    INDEX_BYTES = 44, /* of an index for each row, while it is made      */
    PARTITIONS_MIN = 4,
    PARTITIONS_MAX = 256,
    BLOCK_MIN =
        4 << 10, /* bytes of a block in a file, where partitions are more
                             than PARTITIONS_MIN                             */
    BLOCK_MAX = 1 << 20,
    BLOCK_ROWS_MIN = 16,
    COUNTED_ROWS = 1 << 15, /* that are cut at once */
    SPARE = 4 /* part of the memory that an average partition leaves, so that
                 larger ones fit, too */
};

/* -------------------------------------------------------------- memory -- */

bool join_memory(struct join_stream *join, uint64_t bytes)
{
    struct account_share *memory = &join->head.memory;
    uint64_t before = memory->used_bytes;
    if (bytes > before)
        return account_take(memory, bytes - before);
    account_give(memory, before - bytes);
    return true;
}

uint64_t join_memory_room(const struct join_stream *join)
{
    uint64_t more = account_room(&join->head.memory);
    uint64_t bytes = join->head.memory.used_bytes;
    return more < UINT64_MAX - bytes ? bytes + more : UINT64_MAX;
}

/* Bytes of a right row in memory. */
static uint64_t right_row_bytes(const struct join_stream *join)
{
    const struct step *step = join->head.inputs[1]->step;
    return spill_row_bytes(step->columns, step->column_count, NULL)
           + INDEX_BYTES;
}

/* Bytes of the rows in memory. */
static uint64_t held_bytes(const struct join_stream *join)
{
    const struct step *left = join->head.inputs[0]->step;
    return key_counts_bytes(&join->counted)
           + join->right.rows * right_row_bytes(join)
           + join->early.rows
                 * spill_row_bytes(left->columns, left->column_count, NULL);
}

/* -------------------------------------------------------- open, finish -- */

/* How many partitions, of about how many right rows; what a block then
 * takes. */
static void choose_partitions(struct join_partitions *partitions)
{
    const struct join_stream *join = partitions->join;
    uint64_t half = partitions->share_bytes / 2, row = right_row_bytes(join);
    uint64_t rows = join->head.inputs[1]->rows_most;
    rows = rows > 2 * join->right.rows ? rows : 2 * join->right.rows;
    partitions->count = PARTITIONS_MIN;
    while (partitions->count < PARTITIONS_MAX
           && partitions->count * (half - half / SPARE) < rows * row
           && half / partitions->count > 2 * BLOCK_MIN)
        partitions->count *= 2;
    if (join->head.step->join.right_keys.count == 0)
        partitions->count = 1;
    assert((partitions->count & (partitions->count - 1)) == 0
           && partitions->count <= PARTITIONS_MAX);
    partitions->block_bytes = half / partitions->count < BLOCK_MAX
                                  ? half / partitions->count
                                  : BLOCK_MAX;
    partitions->block_rows =
        half / row > BLOCK_ROWS_MIN ? half / row : BLOCK_ROWS_MIN;
}

/* The join goes to disk: takes all memory that it may have. */
static enum vdbq_status parts_create(struct join_stream *join,
                                     struct error *error)
{
    assert(join->partitions == NULL);
    struct join_partitions *partitions = memory_zeroed(1, sizeof *partitions);
    join->partitions = partitions;
    if (partitions == NULL)
        return error_no_memory(error);
    partitions->join = join;
    partitions->any_order =
        join->head.any_order && step_passes_order(join->head.step);
    partitions->share_bytes = join_memory_room(join);
    join_memory(join, partitions->share_bytes);
    choose_partitions(partitions);
    enum vdbq_status status = join_cut_make_room(partitions, error);
    if (status == VDBQ_OK)
        status = join_cut_init(partitions, &partitions->right, 1, error);
    if (status == VDBQ_OK)
        status = join_cut_init(partitions, &partitions->left, 0, error);
    return status == VDBQ_OK ? join_cut_make_texts(partitions, error) : status;
}

void join_partitions_destroy(struct join_partitions *partitions)
{
    if (partitions == NULL)
        return;
    join_merge_destroy(partitions->merge);
    join_passes_finish(partitions);
    join_cut_end(partitions);
    join_cut_texts_finish(partitions);
    join_cut_finish(&partitions->left);
    join_cut_finish(&partitions->right);
    spill_finish(&partitions->output);
    spill_finish(&partitions->rest[0]);
    spill_finish(&partitions->rest[1]);
    memory_release(partitions);
}

/* ---------------------------------------------------------- right side -- */

/* Puts the right rows that were materialised into their partitions. */
static enum vdbq_status cut_right(struct join_stream *join, struct error *error)
{
    unsigned count = join->right.column_count;
    struct vdbq_vector *vectors =
        memory_zeroed(count + (size_t)1, sizeof *vectors);
    if (vectors == NULL)
        return error_no_memory(error);
    row_set_vectors(&join->right, 0, vectors);
    join_note_right(join);
    enum vdbq_status status = join_cut_batch(
        join->partitions, &join->partitions->right,
        &(struct vdbq_batch){
            .rows = join->right.rows, .columns = count, .column = vectors },
        0, error);
    memory_release(vectors);
    row_set_clear(&join->right);
    return status;
}

/* The column of the right rows that has their only key. */
static struct row_set_column *right_key(const struct join_stream *join)
{
    const struct vector *keys = &join->head.step->join.right_keys;
    assert(keys->count == 1);
    return &join->right.columns[VECTOR_ITEMS(keys, int)[0]];
}

/* Whether nothing matters of right rows but how many have a key, which is an
 * integer or a word. */
static bool can_count(const struct join_stream *join)
{
    const struct step_join *step = &join->head.step->join;
    if (step->right_keys.count != 1 || step->nulls_match
        || step->range.side != RANGE_JOIN_NONE || join_asks_which(join))
        return false;
    enum vdbq_type type = right_key(join)->type;
    return type != VDBQ_FLOAT && type != VDBQ_DOUBLE;
}

/* Counts the right rows that were materialised; `*counted` false: they cannot
 * be, and are still there. */
static enum vdbq_status count_right(struct join_stream *join, bool *counted,
                                    struct error *error)
{
    enum join_kind kind = join->head.step->join.kind;
    uint64_t room = join_memory_room(join);
    *counted = can_count(join);
    if (!*counted)
        return VDBQ_OK;
    join->counted.once =
        kind == JOIN_SEMI || kind == JOIN_ANTI || kind == JOIN_MARK;
    enum vdbq_status status = key_counts_add(
        &join->counted, right_key(join), join->right.rows,
        &(struct key_counts_limits){ .bytes = room - room / SPARE,
                                     .threads = join->threads },
        counted, error);
    if (status != VDBQ_OK || !*counted)
        return status;
    join_note_right(join);
    row_set_clear(&join->right);
    join_memory(join, held_bytes(join));
    return VDBQ_OK;
}

/* Puts rows that were counted into their partitions, as rows with the key alone:
 * nobody asks for more. Those that were not stay. */
static enum vdbq_status cut_counted(struct join_stream *join,
                                    struct error *error)
{
    struct row_set rest = join->right;
    struct key_counts_place place = { 0 };
    const struct step *step = join->head.inputs[1]->step;
    enum vdbq_status status =
        row_set_init(&join->right, step->columns, step->column_count, error);
    for (uint64_t rows = 1; status == VDBQ_OK && rows > 0;) {
        status = row_set_room(&join->right, COUNTED_ROWS, error);
        if (status != VDBQ_OK)
            break;
        rows = key_counts_give(&join->counted, &place, right_key(join),
                               COUNTED_ROWS);
        join->right.rows = rows;
        status = stop_pause(error);
        if (status == VDBQ_OK)
            status = cut_right(join, error);
    }
    row_set_finish(&join->right);
    join->right = rest;
    key_counts_finish(&join->counted);
    return status;
}

/* Puts the right rows aside: counts them, or cuts them. */
static enum vdbq_status put_aside(struct join_stream *join, struct error *error)
{
    bool counted = false;
    enum vdbq_status status = VDBQ_OK;
    if (join->partitions == NULL)
        status = count_right(join, &counted, error);
    if (status != VDBQ_OK || counted)
        return status;
    if (join->partitions == NULL)
        status = parts_create(join, error);
    if (status == VDBQ_OK && join_is_counted(join))
        status = cut_counted(join, error);
    return status == VDBQ_OK ? cut_right(join, error) : status;
}

enum vdbq_status join_right_added(struct join_stream *join, struct error *error)
{
    return join->partitions == NULL && join_memory(join, held_bytes(join))
               ? VDBQ_OK
               : put_aside(join, error);
}

enum vdbq_status join_right_ended(struct join_stream *join, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (join_is_counted(join) && join->right.rows > 0)
        status = put_aside(join, error);
    return status == VDBQ_OK && join->partitions != NULL
               ? spill_end(&join->partitions->right.spill, error)
               : status;
}

/* ----------------------------------------------------------- left side -- */

/* What EXPLAIN ANALYZE says. */
static void note_text(struct join_partitions *partitions)
{
    snprintf(partitions->text, sizeof partitions->text,
             "join in %u partition%s (%u passes)", partitions->count,
             partitions->count == 1 ? "" : "s", partitions->passes);
}

/* Notes what failed, if it is the first. */
void join_partitions_failed(struct join_partitions *partitions,
                            const struct error *error, uint64_t left,
                            unsigned pass)
{
    assert(error->status != VDBQ_OK);
    if (partitions->failure.status != VDBQ_OK
        && partitions->failed_left <= left)
        return;
    partitions->failure = *error;
    partitions->failed_left = left;
    partitions->failed_pass = pass;
}

/* Takes the next left rows to hand. Where they fail that is their end. */
static enum vdbq_status next_left(struct join_stream *join, struct error *error)
{
    struct join_partitions *partitions = join->partitions;
    enum vdbq_status status = VDBQ_OK;
    join->pending.rows = 0;
    if (join->left_failure.status != VDBQ_OK)
        *error = join->left_failure;
    else
        status = stream_batch(join->head.inputs[0], &join->pending, error);
    if (!stream_row_failed(status) && join->left_failure.status == VDBQ_OK)
        return status;
    join_partitions_failed(partitions, error, partitions->left.count, 0);
    return VDBQ_OK;
}

/* Cuts the left rows: those that came early, and the others. */
static enum vdbq_status cut_left(struct join_stream *join, struct error *error)
{
    struct join_partitions *partitions = join->partitions;
    enum vdbq_status status = VDBQ_OK;
    if (join->pending.rows > 0)
        status = join_cut_batch(partitions, &partitions->left, &join->pending,
                                0, error);
    row_set_finish(&join->early);
    join->pending.rows = 1;
    while (status == VDBQ_OK && join->pending.rows > 0) {
        status = next_left(join, error);
        if (status == VDBQ_OK && join->pending.rows > 0)
            status = join_cut_batch(partitions, &partitions->left,
                                    &join->pending, 0, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status == VDBQ_OK ? spill_end(&partitions->left.spill, error)
                             : status;
}

enum vdbq_status join_partitions_left(struct join_stream *join,
                                      struct error *error)
{
    assert(join->partitions != NULL);
    struct join_partitions *partitions = join->partitions;
    enum vdbq_status status = cut_left(join, error);
    if (status != VDBQ_OK)
        return status;
    stream_close_input(&join->head, 0);
    join_cut_end(partitions);
    join->head.rows_most = partitions->left.count > partitions->right.count
                               ? partitions->left.count
                               : partitions->right.count;
    return VDBQ_OK;
}

/* ------------------------------------------------------------- batches -- */

/* Joins what comes next, and begins to merge it. */
static enum vdbq_status begin_merge(struct join_partitions *partitions,
                                    struct error *error)
{
    join_merge_destroy(partitions->merge);
    partitions->merge = NULL;
    enum vdbq_status status = join_passes_run(partitions, error);
    return status == VDBQ_OK
               ? join_merge_create(partitions, &partitions->merge, error)
               : status;
}

/* Whether the rows that are merged are the last ones. */
static bool is_over(const struct join_partitions *partitions)
{
    bool failed = partitions->failure.status != VDBQ_OK;
    return !join_passes_more(partitions)
           || (failed && partitions->left_next > partitions->failed_left);
}

/* The next rows in their order. */
static enum vdbq_status merged_batch(struct join_partitions *partitions,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && batch->rows == 0) {
        status = stop_pause(error);
        if (status == VDBQ_OK && partitions->merge != NULL)
            status = join_merge_batch(partitions->merge, batch, error);
        if (status != VDBQ_OK || batch->rows > 0)
            break;
        if (partitions->merge != NULL && is_over(partitions))
            break;
        status = begin_merge(partitions, error);
    }
    return status;
}

enum vdbq_status join_partitions_batch(struct join_stream *join,
                                       struct vdbq_batch *batch,
                                       struct error *error)
{
    struct join_partitions *partitions = join->partitions;
    enum vdbq_status status = partitions->any_order
                                  ? join_passes_batch(partitions, batch, error)
                                  : merged_batch(partitions, batch, error);
    if (status == VDBQ_OK && batch->rows == 0
        && partitions->failure.status != VDBQ_OK) {
        *error = partitions->failure;
        status = error->status;
    }
    note_text(partitions);
    return status;
}

const char *join_partitions_text(const struct join_partitions *partitions)
{
    return partitions->text;
}
