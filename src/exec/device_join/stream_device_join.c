/* SPDX-License-Identifier: MIT */
/*
 * STEP_JOIN where a device has the left rows and joins itself. Its rows stay
 * there if somebody takes them; else they come to the host round by round.
 */
#include <assert.h>
#include <stdio.h>

#include "exec/device_join/device_join.h"
#include "exec/launch/device_rows.h"
#include "exec/stream/stream_inner.h"

struct device_join_stream {
    struct stream head;                 /* first */
    struct run_place place;             /* whose device has the left rows */
    struct device_column *left, *right; /* what is known of the columns  */
    struct dictionary **dictionaries;   /* of the left ones, then of the
                                            right ones; held              */
    unsigned word_count;                /* of `words` */
    struct device_condition condition;  /* of the step; zeroed: it has none */
    struct device_join *join;           /* on the device */
    struct sink *sink;                  /* takes the rows; NULL: none    */
    bool left_ended;                    /* the left side has no more rows */
    struct device_fetch fetch;          /* of a round, for the host      */
    char where[96];                     /* for stats                     */
};

/* --------------------------------------------------------------- choose -- */

/* The columns of a row set: what there is in them. */
static void describe(const struct row_set *row_set, unsigned number,
                     struct device_column *column)
{
    const struct row_set_column *from = &row_set->columns[number];
    *column = (struct device_column){ .type = from->type,
                                      .nullable = from->nulls != NULL };
    if (from->type == VDBQ_FLOAT || from->type == VDBQ_DOUBLE)
        return;
    for (uint64_t i = 0; i < row_set->rows; i++) {
        if (row_set_is_null(from, i))
            continue;
        int64_t value = row_set_integer(from, i);
        if (!column->ranged || value < column->low)
            column->low = value;
        if (!column->ranged || value > column->high)
            column->high = value;
        column->ranged = true;
    }
}

/* What is known of columns that the host holds. */
static struct device_column *row_set_facts(const struct row_set *row_set)
{
    struct device_column *columns =
        memory_zeroed(row_set->column_count + 1, sizeof *columns);
    for (unsigned i = 0; columns != NULL && i < row_set->column_count; i++)
        describe(row_set, i, &columns[i]);
    return columns;
}

/* What is known of the right columns. */
static struct device_column *right_columns(struct stream *right,
                                           const struct device *device)
{
    if (stream_row_set(right) != NULL)
        return row_set_facts(stream_row_set(right));
    return stream_device(right, NULL) == device ? stream_device_columns(right)
                                                : NULL;
}

/* Columns as the right ones may be at most. */
static struct device_column *widest_columns(const struct step *right)
{
    struct device_column *columns =
        memory_zeroed(right->column_count + 1, sizeof *columns);
    for (unsigned i = 0; columns != NULL && i < right->column_count; i++)
        columns[i] = (struct device_column){ .type = right->columns[i].type,
                                             .nullable = true };
    return columns;
}

/* Whether the device has the rows, and no more than it is told. */
static bool is_on(const struct stream *stream, const struct device *device)
{
    return stream_device(stream, NULL) == device && stream_bounded(stream);
}

/* Bytes of a pair's columns that a condition may read, and of what is noted of the
 * pair; 0: there is no condition. */
static uint64_t pair_bytes(const struct step *step,
                           struct stream *const *inputs)
{
    enum { COLUMN_BYTES = sizeof(u64) + 1, NOTED = sizeof(u64) + sizeof(u32) };
    unsigned count =
        inputs[0]->step->column_count + inputs[1]->step->column_count;
    return step->join.condition != NULL ? COLUMN_BYTES * count + NOTED : 0;
}

/* The right side, as the device is to have it. */
struct right_side {
    struct stream **stream;
    const struct device *device;
    struct device_column *columns; /* as wide as they may be */
    uint64_t pair_bytes;           /* as above               */
    uint64_t room;                 /* of the device          */
};

/* Whether so many rows of it fit. */
static bool right_fits(const struct right_side *right, uint64_t rows)
{
    return device_join_fits(right->device, right->columns,
                            (*right->stream)->step->column_count,
                            right->pair_bytes, rows, right->room);
}

/* Whether the right rows fit on the device whatever their columns are; where only
 * those that likely come do, or nobody knows how many these are, they are counted
 * first. */
static enum vdbq_status count_right(const struct right_side *right, bool *fits,
                                    struct error *error)
{
    struct stream **stream = right->stream;
    enum vdbq_status status = VDBQ_OK;
    *fits = right_fits(right, (*stream)->rows_most);
    if (!right_fits(right, stream_rows_likely(*stream)))
        return VDBQ_OK;
    if (!*fits && is_on(*stream, right->device))
        status = stream_kept(stream, error);
    if (status == VDBQ_OK && !is_on(*stream, right->device))
        status = stream_materialised(stream, error);
    if (status == VDBQ_OK)
        *fits = right_fits(right, (*stream)->rows_most);
    return status;
}

enum vdbq_status join_choose(const struct step *step, struct stream **inputs,
                             const struct stream_kind **kind,
                             struct error *error)
{
    struct right_side right = { .stream = &inputs[1],
                                .pair_bytes = pair_bytes(step, inputs) };
    bool fits = false;
    right.device = stream_device(inputs[0], &right.room);
    *kind = &join_stream;
    if (right.device == NULL || !device_join_does(&step->join, right.device))
        return VDBQ_OK;
    right.columns = widest_columns(inputs[1]->step);
    if (right.columns == NULL)
        return error_no_memory(error);
    enum vdbq_status status = count_right(&right, &fits, error);
    memory_release(right.columns);
    if (status == VDBQ_OK && fits)
        *kind = &device_join_stream;
    return status;
}

/* ----------------------------------------------------------------- open -- */

/* Holds the words of both sides: those of the right one outlive it. */
static enum vdbq_status take_dictionary(struct device_join_stream *join,
                                        struct error *error)
{
    const struct stream *left = join->head.inputs[0];
    const struct stream *right = join->head.inputs[1];
    unsigned lefts = left->step->column_count;
    unsigned rights = right->step->column_count;
    join->dictionaries =
        memory_zeroed(lefts + rights + 1, sizeof *join->dictionaries);
    join->word_count = lefts + rights;
    if (join->dictionaries == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < lefts; i++)
        join->dictionaries[i] = dictionary_hold(stream_dictionary(left, i));
    for (unsigned i = 0; i < rights; i++)
        join->dictionaries[lefts + i] =
            dictionary_hold(stream_dictionary(right, i));
    return VDBQ_OK;
}

/* Brings the right rows to the device, or takes them there, and indexes
 * them. */
static enum vdbq_status take_right(struct device_join_stream *join,
                                   struct error *error)
{
    struct stream *right = join->head.inputs[1];
    struct device_store *store = device_join_right(join->join);
    const struct row_set *row_set = stream_row_set(right);
    enum vdbq_status status = VDBQ_OK;
    if (row_set != NULL) {
        status = device_store_fill(store, row_set, error);
    } else {
        stream_sink(right, &store->sink);
        status = stream_drain(right, error);
    }
    if (status == VDBQ_OK)
        status = device_join_index(join->join, error);
    return status;
}

/* Opens the condition where the left rows are. */
static enum vdbq_status open_condition(struct device_join_stream *join,
                                       struct error *error)
{
    const struct program *program = join->head.step->join.condition;
    if (program == NULL)
        return VDBQ_OK;
    return device_condition_init(
        &join->condition,
        &(struct device_condition_params){ .stream = join->head.params,
                                           .place = &join->place,
                                           .program = program,
                                           .dictionaries = join->dictionaries,
                                           .pairs = join->head.rows_most },
        error);
}

/* Makes the join on the device that holds the left rows. */
static enum vdbq_status make_join(struct device_join_stream *join,
                                  struct error *error)
{
    const struct stream *left = join->head.inputs[0];
    const struct stream *right = join->head.inputs[1];
    const struct step *step = join->head.step;
    bool has_condition = step->join.condition != NULL;
    unsigned last = step->column_count;
    return device_join_create(
        &(struct device_join_params){
            .step = &join->head.step->join,
            .device = join->place.device,
            .left = join->left,
            .right = join->right,
            .left_count = left->step->column_count,
            .right_count = right->step->column_count,
            .left_dictionaries = join->dictionaries,
            .right_dictionaries = join->dictionaries + left->step->column_count,
            .mark_type = last > 0 ? step->columns[last - 1].type : VDBQ_BOOLEAN,
            .condition = has_condition ? &join->condition : NULL,
            .threads = stream_threads(join->head.params) },
        &join->join, error);
}

/* The right side goes to the device before the first left row. */
static enum vdbq_status device_join_open(struct stream *stream,
                                         struct error *error)
{
    struct device_join_stream *join = (struct device_join_stream *)stream;
    struct stream *left = stream->inputs[0], *right = stream->inputs[1];
    enum vdbq_status status;
    join->place = *stream_place(left);
    join->left = stream_device_columns(left);
    join->right = right_columns(right, join->place.device);
    if (!join->left || !join->right)
        return error_no_memory(error);
    stream->rows_most =
        left->rows_most > right->rows_most ? left->rows_most : right->rows_most;
    status = device_fetch_init(&join->fetch, join->place.device,
                               stream->step->column_count, error);
    if (status == VDBQ_OK)
        status = take_dictionary(join, error);
    if (status == VDBQ_OK)
        status = open_condition(join, error);
    if (status == VDBQ_OK)
        status = make_join(join, error);
    if (status == VDBQ_OK)
        status = take_right(join, error);
    if (status != VDBQ_OK)
        return status;
    stream_close_input(stream, 1);
    stream_sink(left, &device_join_left(join->join)->sink);
    return VDBQ_OK;
}

/* Frees the join before the arrays that it points to. */
static void device_join_close(struct stream *stream)
{
    struct device_join_stream *join = (struct device_join_stream *)stream;
    device_join_destroy(join->join);
    device_condition_finish(&join->condition);
    device_fetch_finish(&join->fetch);
    for (unsigned i = 0; join->dictionaries != NULL && i < join->word_count;
         i++)
        dictionary_release(join->dictionaries[i]);
    memory_release(join->dictionaries);
    memory_release(join->left);
    memory_release(join->right);
}

/* ----------------------------------------------------------------- rows -- */

/* What EXPLAIN ANALYZE says of the join. */
static void note_where(struct device_join_stream *join)
{
    uint64_t rounds = device_join_rounds(join->join);
    bool judges = join->head.step->join.condition != NULL;
    snprintf(join->where, sizeof join->where, "%s (join, %s%s, %llu round%s)",
             device_facts(join->place.device)->name,
             device_join_text(join->join), judges ? ", condition" : "",
             (unsigned long long)rounds, rounds == 1 ? "" : "s");
}

/* The next output rows; 0: the end. */
static enum vdbq_status next_rows(struct device_join_stream *join,
                                  struct sink_rows *rows, struct error *error)
{
    struct device_store *left = device_join_left(join->join);
    enum vdbq_status status = device_join_next(join->join, rows, error);
    bool more;
    while (status == VDBQ_OK && rows->count == 0 && !join->left_ended) {
        status = stop_pause(error);
        left->rows = 0;
        if (status == VDBQ_OK)
            status = stream_advance(join->head.inputs[0], &more, error);
        if (status == VDBQ_OK)
            status = device_join_begin(join->join, error);
        if (status == VDBQ_OK)
            status = device_join_next(join->join, rows, error);
        join->left_ended = status != VDBQ_OK || !more;
    }
    if (status == VDBQ_OK && rows->count == 0) {
        status = device_join_end(join->join, error);
        if (status == VDBQ_OK)
            status = device_join_next(join->join, rows, error);
    }
    note_where(join);
    return status;
}

/* Brings the next rows to the host. */
static enum vdbq_status device_join_batch(struct stream *stream,
                                          struct vdbq_batch *batch,
                                          struct error *error)
{
    struct device_join_stream *join = (struct device_join_stream *)stream;
    struct sink_rows rows;
    unsigned count;
    const struct device_column *columns =
        device_join_columns(join->join, &count);
    enum vdbq_status status = next_rows(join, &rows, error);
    return status == VDBQ_OK && rows.count > 0 ? device_fetch_rows(
               &join->fetch, columns, NULL, &rows, batch, error)
                                               : status;
}

/* Columns keep the dictionaries of their sides. */
static struct dictionary *device_join_dictionary(const struct stream *stream,
                                                 unsigned column)
{
    const struct device_join_stream *join =
        (const struct device_join_stream *)stream;
    bool mark = stream->step->join.kind == JOIN_MARK
                && column == stream->inputs[0]->step->column_count;
    assert(mark || column < join->word_count);
    return mark ? NULL : join->dictionaries[column];
}

static void device_join_stats(const struct stream *stream,
                              struct vdbq_stats *stats)
{
    const struct device_join_stream *join =
        (const struct device_join_stream *)stream;
    stats->steps = join->where;
    stream_add_times(&join->fetch.times, stats);
    stream_add_times(&join->condition.times, stats);
    host_morsels_stats(&join->condition.morsels, stats);
    if (join->join != NULL)
        stream_add_times(device_join_times(join->join), stats);
}

/* ---------------------------------------------------- rows on a device -- */

/* Whose device may take the rows as they are. */
static const struct run_place *join_place(const struct stream *stream)
{
    return &((const struct device_join_stream *)stream)->place;
}

/* A copy: the caller frees it. */
static struct device_column *join_columns(struct stream *stream)
{
    unsigned count;
    const struct device_column *own = device_join_columns(
        ((struct device_join_stream *)stream)->join, &count);
    struct device_column *columns = memory_zeroed(count + 1, sizeof *columns);
    for (unsigned i = 0; columns != NULL && i < count; i++)
        columns[i] = own[i];
    return columns;
}

/* From now on the sink takes the rows, and only the columns it reads are
   written. */
static void join_sink(struct stream *stream, struct sink *sink)
{
    struct device_join_stream *join = (struct device_join_stream *)stream;
    join->sink = sink;
    if (sink->reads != NULL)
        device_join_reads(join->join, sink->reads);
}

/* Gives the next rows to the sink. */
static enum vdbq_status join_advance(struct stream *stream, bool *more,
                                     struct error *error)
{
    struct device_join_stream *join = (struct device_join_stream *)stream;
    struct sink_rows rows;
    assert(join->sink != NULL);
    enum vdbq_status status = next_rows(join, &rows, error);
    *more = status == VDBQ_OK && rows.count > 0;
    stream->rows += *more ? rows.count : 0;
    return *more ? join->sink->take(join->sink, &rows, error) : status;
}

static const struct stream_device_calls device_calls = {
    .place = join_place,
    .columns = join_columns,
    .sink = join_sink,
    .advance = join_advance,
};

const struct stream_kind device_join_stream = {
    .size = sizeof(struct device_join_stream),
    .calls = { .batch = device_join_batch,
               .dictionary = device_join_dictionary,
               .stats = device_join_stats,
               .close = device_join_close,
               .device = &device_calls },
    .open = device_join_open,
};
