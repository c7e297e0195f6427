/* SPDX-License-Identifier: MIT */
/*
 * Opens streams, inputs first, and hands calls to their kinds. What each kind
 * does is in a file of its own.
 */
#include "exec/stream_inner.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- open -- */

static const struct stream_kind *kind_of(const struct step *step)
{
    static const struct stream_kind *const kinds[] = {
        [STEP_SCAN] = &scan_stream,     [STEP_GROUP] = &group_stream,
        [STEP_SORT] = &sort_stream,     [STEP_LIMIT] = &limit_stream,
        [STEP_JOIN] = &join_stream,     [STEP_CONCAT] = &concat_stream,
        [STEP_APPLY] = &apply_stream,   [STEP_WINDOW] = &window_stream,
        [STEP_MAP] = &map_stream,       [STEP_VALUES] = &values_stream,
    };
    const struct program_table *first =
        step->kind == STEP_SCAN ? step->scan.program.tables.items : NULL;
    if (first != NULL && program_axes(&step->scan.program) > 1)
        return &scan_grid;
    if (first != NULL && first->input > 0)
        return &scan_rows;
    return kinds[step->kind];
}

/* Opens the inputs, then the stream itself. */
static enum vdbq_status open_all(struct stream *stream,
                                 const struct stream_kind *kind,
                                 const struct steps *steps,
                                 struct error *error)
{
    const struct vector *inputs = &stream->step->inputs;
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < inputs->count && status == VDBQ_OK; i++)
        status = stream_open(stream->params, steps,
                             VECTOR_ITEMS(inputs, int)[i], &stream->inputs[i],
                             error);
    return status == VDBQ_OK ? kind->open(stream, error) : status;
}

enum vdbq_status stream_open(const struct stream_params *params,
                             const struct steps *steps, int number,
                             struct stream **stream, struct error *error)
{
    const struct step *step = steps_at(steps, number);
    const struct stream_kind *kind = kind_of(step);
    struct stream *made = memory_zeroed(1, kind->size);
    *stream = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->calls = &kind->calls;
    made->params = params;
    made->step = step;
    if (step->inputs.count > 0)
        made->inputs = memory_zeroed(step->inputs.count, sizeof *made->inputs);
    enum vdbq_status status =
        step->inputs.count > 0 && made->inputs == NULL
            ? error_no_memory(error)
            : open_all(made, kind, steps, error);
    if (status != VDBQ_OK)
        stream_close(made);
    else
        *stream = made;
    return status;
}

void stream_close_input(struct stream *stream, unsigned number)
{
    stream_close(stream->inputs[number]);
    stream->inputs[number] = NULL;
}

/* --------------------------------------------------------------- stats -- */

void stream_stats_init(struct stream_stats *stats)
{
    *stats = (struct stream_stats){ .sum = { .device = "", .mode = "" } };
    stats->sum.build = stats->build;
    stats->sum.steps = stats->steps;
}

void stream_list(const char *name, char *room, size_t size)
{
    size_t length = strlen(room);
    if (strstr(room, name) == NULL)
        snprintf(room + length, size - length, "%s%s",
                 length > 0 ? ", " : "", name);
}

static void add_figures(const struct vdbq_stats *from, struct vdbq_stats *to)
{
    to->rows_read += from->rows_read;
    to->cells += from->cells;
    to->bytes_read += from->bytes_read;
    to->tablets += from->tablets;
    to->tablets_skipped += from->tablets_skipped;
    to->bytes_in += from->bytes_in;
    to->bytes_out += from->bytes_out;
    to->kernel_ns += from->kernel_ns;
    to->transfer_ns += from->transfer_ns;
    to->compile_ns += from->compile_ns;
    to->builds += from->builds;
    to->builds_cached += from->builds_cached;
    to->load_ns += from->load_ns;
    to->launches += from->launches;
}

void stream_add_times(const struct device_times *times,
                      struct vdbq_stats *stats)
{
    stats->bytes_in += times->bytes_in;
    stats->bytes_out += times->bytes_out;
    stats->kernel_ns += times->kernel_ns;
    stats->transfer_ns += times->transfer_ns;
    stats->compile_ns += times->compile_ns;
    stats->launches += times->launches;
}

/* Adds what a stream that is closed has cost to what all have. */
static void keep_stats(const struct stream *stream)
{
    struct vdbq_stats own = { .build = "", .steps = "" };
    struct stream_stats *stats = stream->params->stats;
    if (stream->calls->stats == NULL || stats == NULL)
        return;
    stream->calls->stats(stream, &own);
    add_figures(&own, &stats->sum);
    stream_list(own.build, stats->build, sizeof stats->build);
    stream_list(own.steps, stats->steps, sizeof stats->steps);
}

void stream_add_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->step->inputs.count; i++)
        stream_add_stats(stream->inputs[i], stats);
    if (stream->calls->stats != NULL)
        stream->calls->stats(stream, stats);
}

void stream_close(struct stream *stream)
{
    if (stream == NULL)
        return;
    keep_stats(stream);
    stream->calls->close(stream);
    for (size_t i = 0; stream->inputs && i < stream->step->inputs.count; i++)
        stream_close(stream->inputs[i]);
    memory_release(stream->inputs);
    memory_release(stream);
}

/* ---------------------------------------------------------------- rows -- */

enum vdbq_status stream_batch(struct stream *stream, struct vdbq_batch *batch,
                              struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    *batch = (struct vdbq_batch){ .columns = stream->step->column_count };
    if (stream->ended)
        return VDBQ_OK;
    status = stream->calls->batch(stream, batch, error);
    if (status != VDBQ_OK)
        batch->rows = 0;
    stream->ended = batch->rows == 0;
    return status;
}

struct words *stream_words(const struct stream *stream, unsigned column)
{
    return stream->calls->words != NULL ? stream->calls->words(stream, column)
                                        : NULL;
}

void stream_retype(const struct stream *stream, struct vdbq_batch *batch,
                   struct vdbq_vector *vectors)
{
    for (unsigned i = 0; i < batch->columns; i++) {
        vectors[i] = batch->column[i];
        vectors[i].type = stream->step->columns[i].type;
    }
    batch->column = vectors;
}

enum vdbq_status stream_pause(const struct stream_params *params,
                              struct error *error)
{
    if (params->cancelled != NULL && atomic_load(params->cancelled))
        return error_set(error, VDBQ_CANCELLED, "the query was cancelled");
    return VDBQ_OK;
}

enum vdbq_status stream_gather(struct stream *stream,
                               struct relation *relation, struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status =
        relation_init(relation, stream->step->columns,
                      stream->step->column_count, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(stream, &batch, error);
        if (status == VDBQ_OK)
            status = relation_append(relation, &batch, error);
        if (status == VDBQ_OK)
            status = stream_pause(stream->params, error);
    }
    for (unsigned i = 0; i < relation->column_count && status == VDBQ_OK; i++)
        if (relation->columns[i].type == VDBQ_TEXT)
            relation_words(relation, i, words_hold(stream_words(stream, i)));
    return status;
}
