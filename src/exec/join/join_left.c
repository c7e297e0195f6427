/* SPDX-License-Identifier: MIT */
/*
 * Takes the right side of a join. Where only right rows with a partner
 * matter, the left side is looked at first: if it ends after a few rows, they
 * are indexed, and right rows that equal none of them are passed over, so
 * that the larger side is neither held nor indexed.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"

enum {
    RIGHT_ROWS_MIN = 1 << 12, /* fewer are not worth it                    */
    FEWER = 8,                /* so many times fewer left rows than right  */
    EARLY_SHARE = 4           /* of the memory that there is, at most      */
};

/* -------------------------------------------------------------- filter -- */

/* Right rows on their way through an index of the left ones. */
struct filter {
    /* its right side grows by rows that have a partner */
    struct join_stream *join;
    struct join_keys keys; /* of the left rows, which the right ones ask for */
    struct join_index index; /* of the left rows */
    struct row_set rows;     /* at hand: a view of a batch                    */
    uint64_t room;           /* rows that `kept` has room for */
    uint32_t *kept;          /* their numbers, those of each thread's share
                              from where that begins                        */
    uint64_t counts[PARALLEL_THREADS_MAX]; /* of each share                 */
    unsigned threads;                      /* that share a batch */
    struct row_set_picking pick;           /* copies the rows that are kept */
};

/* The first row of a thread's share. */
static uint64_t share_start(const struct filter *filter, unsigned share)
{
    assert(share <= filter->threads);
    return filter->rows.rows * share / filter->threads;
}

/* One thread's share: notes the rows that have a partner. */
static void keep_share(void *context, unsigned share)
{
    struct filter *filter = context;
    uint64_t first = share_start(filter, share);
    uint64_t end = share_start(filter, share + 1);
    uint32_t starts[JOIN_BLOCK], counts[JOIN_BLOCK];
    uint32_t *kept = filter->kept + first;
    uint64_t n = 0, since = 0;
    for (uint64_t at = first; at < end && !stop_after(&since, JOIN_BLOCK);
         at += JOIN_BLOCK) {
        unsigned rows =
            end - at < JOIN_BLOCK ? (unsigned)(end - at) : JOIN_BLOCK;
        join_index_find(&filter->index, at, rows, starts, counts);
        for (unsigned i = 0; i < rows; i++) {
            kept[n] = (uint32_t)(at + i);
            n += counts[i] > 0;
        }
    }
    filter->counts[share] = n;
}

/* Copies a thread's rows behind those of the threads before it. */
static void pick_share(void *context, unsigned share)
{
    const struct filter *filter = context;
    uint64_t at = filter->join->right.rows;
    for (unsigned i = 0; i < share; i++)
        at += filter->counts[i];
    row_set_pick_part(&filter->pick, at,
                      filter->kept + share_start(filter, share),
                      filter->counts[share]);
}

/* Adds those of a batch that may have a partner. */
static enum vdbq_status add_kept(struct filter *filter,
                                 const struct vdbq_batch *batch,
                                 struct error *error)
{
    struct row_set *right = &filter->join->right;
    uint64_t sum = 0;
    row_set_view(&filter->rows, batch, 0, batch->rows);
    if (batch->rows > filter->room) {
        uint32_t *kept =
            memory_resize(filter->kept, batch->rows * sizeof *kept);
        if (kept == NULL)
            return error_no_memory(error);
        filter->kept = kept;
        filter->room = batch->rows;
    }
    filter->threads = parallel_threads(filter->join->threads, batch->rows);
    enum vdbq_status status =
        join_keys_begin(&filter->keys, &filter->rows, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(filter->threads, keep_share, filter);
    if (stop_asked())
        return error_cancelled(error);
    for (unsigned i = 0; i < filter->threads; i++)
        sum += filter->counts[i];
    status = row_set_room(right, sum, error);
    filter->pick =
        (struct row_set_picking){ .to = right, .from = &filter->rows };
    if (status == VDBQ_OK)
        status = row_set_pick_flags(&filter->pick, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(filter->threads, pick_share, filter);
    right->rows += sum;
    return join_right_added(filter->join, error);
}

/* Indexes the few left rows by their keys. */
static enum vdbq_status open_filter(struct filter *filter, struct error *error)
{
    struct join_stream *join = filter->join;
    const struct step_join *step = &join->head.step->join;
    enum vdbq_status status = join_keys_init(
        &filter->keys,
        &(struct join_keys_params){ .indexed = &join->early,
                                    .indexed_keys = &step->left_keys,
                                    .asking = join->head.inputs[1],
                                    .asking_keys = &step->right_keys,
                                    .nulls_match = step->nulls_match,
                                    .threads = join->threads },
        error);
    if (status == VDBQ_OK)
        status = join_index_init(
            &filter->index,
            &(struct join_index_params){ .keys = &filter->keys,
                                         .rows = join->early.rows,
                                         .once = true,
                                         .threads = join->threads },
            error);
    if (status == VDBQ_OK)
        status = join_view_init(&filter->rows, join->head.inputs[1], error);
    return status == VDBQ_OK ? stream_materialise_begin(join->head.inputs[1],
                                                        &join->right, error)
                             : status;
}

/* Frees the filter; the rows it kept stay. */
static void close_filter(struct filter *filter)
{
    join_index_finish(&filter->index);
    join_keys_finish(&filter->keys);
    row_set_view_finish(&filter->rows);
    memory_release(filter->kept);
}

/* Takes the right rows that equal an early one. */
static enum vdbq_status take_kept(struct join_stream *join, struct error *error)
{
    struct filter filter = { .join = join };
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = open_filter(&filter, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(join->head.inputs[1], &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = add_kept(&filter, &batch, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    close_filter(&filter);
    return status;
}

/* --------------------------------------------------------- early rows -- */

/* Bytes of a row of an input, materialised. */
static uint64_t row_bytes(const struct stream *input)
{
    return spill_row_bytes(input->step->columns, input->step->column_count,
                           NULL);
}

/* How many left rows may be looked at first. */
static uint64_t early_most(const struct join_stream *join)
{
    uint64_t rows = join->head.inputs[1]->rows_most / FEWER;
    uint64_t most =
        join_memory_room(join) / EARLY_SHARE / row_bytes(join->head.inputs[0]);
    return rows < most ? rows : most;
}

/* Whether the left side is all rows of a table: how many is known then. */
static bool is_whole_table(const struct stream *left)
{
    const struct program *program = &left->step->scan.program;
    if (left->step->kind != STEP_SCAN || left->step->inputs.count > 0)
        return false;
    struct program_part part = program_part(program);
    for (int pc = part.first; pc < part.converge; pc++) {
        enum op_effect effect = op_facts(program_at(program, pc)->op)->effect;
        if (effect == EFFECT_JUMP || effect == EFFECT_VALIDITY)
            return false;
    }
    return true;
}

/* Whether the left side may be looked at first. While it is, it holds a tablet
 * beside that of the right side: not where it has too many rows anyway. */
static bool looks_left(const struct join_stream *join)
{
    const struct step_join *step = &join->head.step->join;
    const struct stream *left = join->head.inputs[0];
    if (is_whole_table(left) && left->rows_most > early_most(join))
        return false;
    return step->left_keys.count > 0 && step->kind != JOIN_RIGHT
           && step->kind != JOIN_FULL && step->kind != JOIN_MARK
           && join->head.inputs[1]->rows_most >= RIGHT_ROWS_MIN;
}

/* Takes left rows until they end, fail, or are too many. */
static enum vdbq_status take_early(struct join_stream *join, bool *few,
                                   struct error *error)
{
    uint64_t most = early_most(join);
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status =
        stream_materialise_begin(join->head.inputs[0], &join->early, error);
    while (status == VDBQ_OK && batch.rows > 0 && join->early.rows <= most) {
        status = stream_batch(join->head.inputs[0], &batch, error);
        if (stream_row_failed(status)) {
            join->left_failure = *error;
            status = VDBQ_OK;
        }
        if (status == VDBQ_OK && batch.rows > 0)
            status = row_set_append(&join->early, &batch, join->threads, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    *few = status == VDBQ_OK && batch.rows == 0;
    return status;
}

/* The early rows are the first that are taken. */
static enum vdbq_status give_early(struct join_stream *join,
                                   struct error *error)
{
    unsigned count = join->early.column_count;
    join->early_vectors = memory_zeroed(count, sizeof *join->early_vectors);
    if (join->early_vectors == NULL)
        return error_no_memory(error);
    assert(join->pending_next == 0);
    row_set_vectors(&join->early, 0, join->early_vectors);
    join->pending = (struct vdbq_batch){ .rows = join->early.rows,
                                         .columns = count,
                                         .column = join->early_vectors };
    return VDBQ_OK;
}

/* Takes all right rows. */
static enum vdbq_status take_all(struct join_stream *join, struct error *error)
{
    struct stream *input = join->head.inputs[1];
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status =
        stream_materialise_begin(input, &join->right, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(input, &batch, error);
        if (status == VDBQ_OK)
            status = row_set_append(&join->right, &batch, join->threads, error);
        if (status == VDBQ_OK)
            status = join_right_added(join, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

enum vdbq_status join_materialise(struct join_stream *join, struct error *error)
{
    bool few = false;
    enum vdbq_status status = VDBQ_OK;
    if (looks_left(join)) {
        status = take_early(join, &few, error);
        if (status == VDBQ_OK)
            status = give_early(join, error);
    }
    if (status != VDBQ_OK)
        return status;
    status = few ? take_kept(join, error) : take_all(join, error);
    return status == VDBQ_OK ? join_right_ended(join, error) : status;
}
