/* SPDX-License-Identifier: MIT */
/*
 * STEP_JOIN. The right rows are materialised and indexed by their keys;
 * the left ones come batch by batch. What memory it takes beside the right rows
 * is bounded: pairs are made and given out in rounds. Where the right rows are
 * too many for the memory there is, both sides are joined in partitions.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"

/* ---------------------------------------------------------------- open -- */

/* About how many pairs there are. */
static uint64_t pairs_most(const struct join_stream *join)
{
    const struct step_join *step = &join->head.step->join;
    uint64_t left = join->head.inputs[0]->rows_most;
    uint64_t right = join->right.rows + join->counted.rows;
    if (step->right_keys.count > 0
        || (step->range.low >= 0 && step->range.high >= 0
            && step->range.side != RANGE_JOIN_NONE))
        return left > right ? left : right;
    return right > 0 && left > UINT32_MAX / right ? UINT32_MAX : left * right;
}

/* Whether a row of the column is NULL. */
static bool any_null(const struct row_set_column *column, uint64_t rows)
{
    return column->nulls != NULL && memchr(column->nulls, 1, rows) != NULL;
}

bool join_asks_which(const struct join_stream *join)
{
    const struct step *step = join->head.step;
    unsigned left = join->head.inputs[0]->step->column_count;
    enum join_kind kind = step->join.kind;
    bool asks = step->join.condition != NULL || kind == JOIN_RIGHT
                || kind == JOIN_FULL || join->partitions != NULL;
    if (kind == JOIN_MARK)
        left++;
    for (unsigned i = left; i < step->column_count; i++)
        asks |= join->head.reads[i];
    return asks;
}

void join_note_right(struct join_stream *join)
{
    const struct step_join *step = &join->head.step->join;
    join->right_any |= join->right.rows > 0;
    if (step->kind == JOIN_MARK && !join->right_null)
        join->right_null = any_null(
            &join->right.columns[VECTOR_ITEMS(&step->right_keys, int)[0]],
            join->right.rows);
}

/* Indexes the right side. */
static enum vdbq_status open_right(struct join_stream *join,
                                   struct error *error)
{
    const struct step_join *step = &join->head.step->join;
    if (step->kind == JOIN_RIGHT || step->kind == JOIN_FULL) {
        join->partners = memory_zeroed(join->right.rows, 1);
        if (join->partners == NULL)
            return error_no_memory(error);
    }
    assert(join->threads > 0 && join->threads <= PARALLEL_THREADS_MAX);
    return join_search_init(
        &join->search,
        &(struct join_search_params){
            .step = step,
            .right = &join->right,
            .left = join->head.inputs[0],
            .texts = join->texts,
            .which = join_asks_which(join),
            .counted = join_is_counted(join) ? &join->counted : NULL,
            .threads = join->threads },
        error);
}

/* The threads of the run, but no more than a search has room for. */
static unsigned threads_of(const struct stream *stream)
{
    unsigned threads = stream_threads(stream->params);
    return threads < PARALLEL_THREADS_MAX ? threads : PARALLEL_THREADS_MAX;
}

enum vdbq_status join_begin(struct join_stream *join, struct error *error)
{
    struct stream *stream = &join->head;
    const struct step *step = stream->step;
    enum vdbq_status status = open_right(join, error);
    if (status != VDBQ_OK)
        return status;
    stream->rows_most = pairs_most(join);
    if (step->join.condition != NULL)
        status = condition_init(
            &join->condition,
            &(struct condition_params){ .stream = stream->params,
                                        .program = step->join.condition,
                                        .left = &join->left,
                                        .right = &join->right,
                                        .pairs = stream->rows_most },
            error);
    if (status == VDBQ_OK)
        status = row_set_init(&join->output, step->columns, step->column_count,
                              error);
    join->vectors = memory_zeroed(step->column_count, sizeof *join->vectors);
    if (status == VDBQ_OK && join->vectors == NULL)
        status = error_no_memory(error);
    return status;
}

/* Takes the right side first; it may turn out to need partitions on disk. */
static enum vdbq_status join_open(struct stream *stream, struct error *error)
{
    struct join_stream *join = (struct join_stream *)stream;
    join->threads = threads_of(stream);
    stream_close_up(stream->inputs[0]);
    enum vdbq_status status =
        join_view_init(&join->left, stream->inputs[0], error);
    if (status == VDBQ_OK)
        status = join_materialise(join, error);
    if (status != VDBQ_OK)
        return status;
    stream_close_input(stream, 1);
    if (join->partitions != NULL)
        return join_partitions_left(join, error);
    join_note_right(join);
    return join_begin(join, error);
}

/* Frees whatever of the join was opened. */
static void join_close(struct stream *stream)
{
    struct join_stream *join = (struct join_stream *)stream;
    condition_finish(&join->condition);
    join_search_finish(&join->search);
    join_round_finish(join);
    row_set_finish(&join->right);
    key_counts_finish(&join->counted);
    row_set_view_finish(&join->left);
    row_set_finish(&join->early);
    row_set_finish(&join->output);
    memory_release(join->early_vectors);
    join_partitions_destroy(join->partitions);
    memory_release(join->numbers);
    memory_release(join->partners);
    memory_release(join->vectors);
}

/* -------------------------------------------------------------- batches -- */

/* The early left rows ended with a failure. */
static enum vdbq_status tell_failure(const struct join_stream *join,
                                     struct error *error)
{
    *error = join->left_failure;
    return error->status;
}

/* Takes the next left rows to hand, or notes that there are none. */
static enum vdbq_status next_left(struct join_stream *join, struct error *error)
{
    enum vdbq_status status = stop_pause(error);
    if (status == VDBQ_OK && join->pending_next == join->pending.rows) {
        join->pending_next = 0;
        status = join->left_failure.status == VDBQ_OK
                     ? stream_batch(join->head.inputs[0], &join->pending, error)
                     : tell_failure(join, error);
        join->left_ended = join->pending.rows == 0;
    }
    if (status != VDBQ_OK || join->left_ended)
        return status;
    assert(join->pending_next < join->pending.rows);
    uint64_t rows = join->pending.rows - join->pending_next;
    uint64_t most = (uint64_t)LEFT_ROWS_EACH * join->threads;
    rows = rows < most ? rows : most;
    row_set_view(&join->left, &join->pending, join->pending_next, rows);
    if (join->numbered)
        join->left_numbers =
            (const uint64_t *)join->pending.column[join->pending.columns].values
            + join->pending_next;
    join->pending_next += rows;
    join->slot = 0;
    return join_search_begin(&join->search, &join->left, error);
}

/* Takes left rows until pairs come out of them. */
static enum vdbq_status
join_batch(struct stream *stream, struct vdbq_batch *batch, struct error *error)
{
    struct join_stream *join = (struct join_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    if (join->partitions != NULL)
        return join_partitions_batch(join, batch, error);
    while (status == VDBQ_OK && batch->rows == 0 && !join->left_ended) {
        status = stop_pause(error);
        if (status != VDBQ_OK)
            break;
        status = join->slot < join->search.slot_count
                     ? join_round(join, batch, error)
                     : next_left(join, error);
        if (stream->held != NULL)
            return status;
    }
    if (status == VDBQ_OK && batch->rows == 0)
        status = join_round_alone(join, batch, error);
    return status;
}

/* Columns keep the dictionaries of the side they come from; a mark has none. */
static struct dictionary *join_dictionary(const struct stream *stream,
                                          unsigned column)
{
    const struct join_stream *join = (const struct join_stream *)stream;
    if (column < join->left.column_count)
        return join->left.columns[column].dictionary;
    column -= join->left.column_count;
    return stream->step->join.kind != JOIN_MARK
                   && column < join->right.column_count
               ? join->right.columns[column].dictionary
               : NULL;
}

static void join_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    const struct join_stream *join = (const struct join_stream *)stream;
    host_morsels_stats(&join->condition.morsels, stats);
    if (join->partitions != NULL)
        stats->steps = join_partitions_text(join->partitions);
}

const struct stream_kind join_stream = {
    .size = sizeof(struct join_stream),
    .calls = { .batch = join_batch,
               .dictionary = join_dictionary,
               .stats = join_stats,
               .close = join_close },
    .open = join_open,
};
