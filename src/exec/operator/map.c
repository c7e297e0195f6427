/* SPDX-License-Identifier: MIT */
/*
 * STEP_MAP: functions of the host, row by row (map_compute.h). Where one of
 * them makes texts, all rows are computed first, since the words of a stream
 * are known when it is opened.
 */
#include <string.h>

#include "exec/operator/map_compute.h"
#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"

struct map_stream {
    struct stream head;     /* first */
    bool materialised;      /* the rows are all here                      */
    struct rescan input;    /* ... these                                  */
    struct row_set results; /* of these rows, or of the batch: a column a
                                 function                                   */
    uint64_t given;         /* rows of `results` that are out             */
    /* of the batch: the input's columns, then the results */
    struct vdbq_vector *vectors;
};

static enum vdbq_status compute_all(struct map_stream *map,
                                    struct error *error);

/* ---------------------------------------------------------------- open -- */

/* One result a function. */
static unsigned function_count(const struct map_stream *map)
{
    return (unsigned)map->head.step->map.functions.count;
}

/* The columns of the functions, behind those of the input. */
static const struct step_column *result_columns(const struct map_stream *map)
{
    return map->head.step->columns + map->head.inputs[0]->step->column_count;
}

/* The number of the column of a function. */
static unsigned result_column(const struct map_stream *map, unsigned number)
{
    return map->head.inputs[0]->step->column_count + number;
}

/* Whether a result has texts: their dictionary must be whole first. */
static bool makes_texts(const struct map_stream *map)
{
    for (unsigned i = 0; i < function_count(map); i++)
        if (result_columns(map)[i].type == VDBQ_TEXT)
            return true;
    return false;
}

/* Texts are computed when the stream opens, all others batch by batch. */
static enum vdbq_status map_open(struct stream *stream, struct error *error)
{
    struct map_stream *map = (struct map_stream *)stream;
    stream->rows_most = stream->inputs[0]->rows_most;
    map->vectors =
        memory_zeroed(stream->step->column_count, sizeof *map->vectors);
    if (map->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = row_set_init(&map->results, result_columns(map),
                                           function_count(map), error);
    if (status == VDBQ_OK && makes_texts(map))
        status = compute_all(map, error);
    return status;
}

/* Frees the results and the kept rows. */
static void map_close(struct stream *stream)
{
    struct map_stream *map = (struct map_stream *)stream;
    rescan_finish(&map->input);
    row_set_finish(&map->results);
    memory_release(map->vectors);
}

/* ------------------------------------------------------------- compute -- */

/* One function over a batch; its values go behind the results so far. The batch
 * ends before a row for which it fails. */
static enum vdbq_status compute(struct map_stream *map, unsigned number,
                                struct vdbq_batch *batch, struct error *error)
{
    struct map_call call = {
        .step = vector_at(&map->head.step->map.functions, number),
        .batch = batch,
        .column = &map->results.columns[number],
        .first = map->results.rows,
        .use = (enum texts_use)map->head.texts[result_column(map, number)],
        .threads = stream_threads(map->head.params),
    };
    const int *arguments = VECTOR_ITEMS(&call.step->arguments, int);
    uint64_t rows;
    for (size_t i = 0; i < call.step->arguments.count; i++)
        call.words[i] =
            stream_dictionary(map->head.inputs[0], (unsigned)arguments[i]);
    enum vdbq_status status = row_set_flags(&map->results, number, error);
    if (status == VDBQ_OK)
        status = map_compute(&call, &rows, &call.column->dictionary, error);
    if (!stream_row_failed(status))
        return status;
    batch->rows = rows;
    return stream_hold(&map->head, error);
}

/* Computes all rows of all functions. */
static enum vdbq_status compute_all(struct map_stream *map, struct error *error)
{
    struct row_set *row_set = &map->input.row_set;
    enum vdbq_status status =
        stream_materialise_some(&map->head, row_set, error);
    if (status == VDBQ_OK)
        status = rescan_begin(&map->input, error);
    if (status == VDBQ_OK)
        status = row_set_room(&map->results, row_set->rows, error);
    if (status != VDBQ_OK)
        return status;
    row_set_vectors(row_set, 0, map->input.vectors);
    struct vdbq_batch batch = { .rows = row_set->rows,
                                .columns = row_set->column_count,
                                .column = map->input.vectors };
    for (unsigned i = 0; i < function_count(map) && status == VDBQ_OK; i++)
        status = compute(map, i, &batch, error);
    map->results.rows = row_set->rows = batch.rows;
    map->materialised = true;
    return status;
}

/* ---------------------------------------------------------------- rows -- */

/* Computes the functions of one batch. */
static enum vdbq_status compute_batch(struct map_stream *map,
                                      struct vdbq_batch *batch,
                                      struct error *error)
{
    map->given = map->results.rows = 0;
    enum vdbq_status status = row_set_room(&map->results, batch->rows, error);
    for (unsigned i = 0; i < function_count(map) && status == VDBQ_OK; i++)
        status = compute(map, i, batch, error);
    map->results.rows = batch->rows;
    return status;
}

/* Appends the results' columns to the input's. */
static enum vdbq_status map_batch(struct stream *stream,
                                  struct vdbq_batch *batch, struct error *error)
{
    struct map_stream *map = (struct map_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    if (map->materialised)
        rescan_batch(&map->input, batch);
    else
        status = stream_batch(stream->inputs[0], batch, error);
    if (status == VDBQ_OK && batch->rows > 0 && !map->materialised)
        status = compute_batch(map, batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    memcpy(map->vectors, batch->column, batch->columns * sizeof *map->vectors);
    row_set_vectors(&map->results, map->given, map->vectors + batch->columns);
    map->given += batch->rows;
    batch->columns = stream->step->column_count;
    batch->column = map->vectors;
    return VDBQ_OK;
}

/* Results have their own dictionary; the input's columns keep theirs. */
static struct dictionary *map_dictionary(const struct stream *stream,
                                         unsigned column)
{
    const struct map_stream *map = (const struct map_stream *)stream;
    unsigned before = stream->inputs[0]->step->column_count;
    return column < before ? stream_dictionary(stream->inputs[0], column)
                           : map->results.columns[column - before].dictionary;
}

const struct stream_kind map_stream = {
    .size = sizeof(struct map_stream),
    .calls = { .batch = map_batch,
               .dictionary = map_dictionary,
               .close = map_close },
    .open = map_open,
};
