/* SPDX-License-Identifier: MIT */
/*
 * STEP_MAP: functions of the host, row by row. Where one of them makes texts,
 * all rows are computed first, since the words of a stream are known when it
 * is opened.
 */
#include <assert.h>
#include <string.h>

#include "exec/rows/rescan.h"
#include "base/threads/stop.h"
#include "exec/stream/stream_inner.h"
#include "program/functions/function.h"

enum { CALL_ROWS = 16 }; /* that one call takes as long as */

struct map_stream {
    struct stream head;     /* first */
    bool materialised;      /* the rows are all here                      */
    struct rescan input;    /* ... these                                  */
    struct row_set results; /* of these rows, or of the batch: a column a
                                 function                                   */
    uint64_t given;         /* rows of `results` that are out             */
    struct arena arena;     /* of texts                                   */
    struct vector texts;    /* of struct vdbq_text: of the function at
                                 hand, one a row                            */
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
    map->texts = VECTOR(struct vdbq_text);
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
    arena_finish(&map->arena);
    vector_finish(&map->texts);
    memory_release(map->vectors);
}

/* ------------------------------------------------------------- compute -- */

/* One function over a batch. */
struct computing {
    struct map_stream *map;           /* whose function runs */
    const struct step_function *step; /* names the arguments */
    const struct function *function;  /* found by the step's name */
    const struct vdbq_batch *batch;   /* gives the arguments */
    struct row_set_column *column;    /* of the results */
};

/* The value of an argument; false: it is NULL. */
static bool argument(const struct computing *computing, unsigned i,
                     uint64_t row, struct function_value *value)
{
    unsigned number =
        (unsigned)VECTOR_ITEMS(&computing->step->arguments, int)[i];
    assert(number < computing->batch->columns);
    const struct vdbq_vector *vector = &computing->batch->column[number];
    struct row_set_column column = { .type = vector->type,
                                     .width = row_set_width(vector->type),
                                     .values = (void *)vector->values,
                                     .nulls = (uint8_t *)vector->nulls };
    *value = (struct function_value){ 0 };
    if (row_set_is_null(&column, row))
        return false;
    if (vector->type == VDBQ_TEXT)
        value->text = dictionary_text(
            stream_dictionary(computing->map->head.inputs[0], number),
            (uint32_t)row_set_integer(&column, row));
    else if (vector->type == VDBQ_FLOAT || vector->type == VDBQ_DOUBLE)
        value->real = row_set_real(&column, row);
    else
        value->integer = row_set_integer(&column, row);
    return true;
}

/* Puts a value into row `at` of the results. */
static enum vdbq_status put_value(const struct computing *computing,
                                  uint64_t at,
                                  const struct function_value *value,
                                  struct error *error)
{
    struct row_set_column *column = computing->column;
    column->nulls[at] = value->null;
    if (column->type == VDBQ_TEXT) {
        ((uint32_t *)column->values)[at] = (uint32_t)at;
        return vector_append(&computing->map->texts, &value->text, 1)
                   ? VDBQ_OK
                   : error_no_memory(error);
    }
    if (column->type == VDBQ_DOUBLE)
        ((double *)column->values)[at] = value->real;
    else if (column->type == VDBQ_FLOAT)
        ((float *)column->values)[at] = (float)value->real;
    else if (column->width == sizeof(int32_t))
        ((int32_t *)column->values)[at] = (int32_t)value->integer;
    else
        ((int64_t *)column->values)[at] = value->integer;
    return VDBQ_OK;
}

/* NULL arguments give NULL without a call. */
static enum vdbq_status compute_row(const struct computing *computing,
                                    uint64_t row, uint64_t at,
                                    struct error *error)
{
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX];
    struct function_value value = { 0 };
    unsigned count = (unsigned)computing->step->arguments.count;
    enum vdbq_status status = VDBQ_OK;
    assert(count <= FUNCTION_ARGUMENTS_MAX);
    for (unsigned i = 0; i < count && !value.null; i++)
        value.null = !argument(computing, i, row, &arguments[i]);
    if (!value.null)
        status = function_call(computing->function, arguments, count,
                               &computing->map->arena, &value, error);
    if (status != VDBQ_OK) {
        error->line = computing->step->at.line;
        error->column = computing->step->at.column;
        return status;
    }
    if (value.null)
        value =
            (struct function_value){ .null = true, .text = { .bytes = "" } };
    return put_value(computing, at, &value, error);
}

/* One function over a batch; its values go behind the results so far. The batch
 * ends before a row for which it fails. */
static enum vdbq_status compute(struct map_stream *map, unsigned number,
                                struct vdbq_batch *batch, struct error *error)
{
    struct computing computing = {
        .map = map,
        .step = vector_at(&map->head.step->map.functions, number),
        .batch = batch,
        .column = &map->results.columns[number],
    };
    enum vdbq_status status = row_set_flags(&map->results, number, error);
    uint64_t since = 0;
    computing.function = function_find(computing.step->name);
    assert(computing.function != NULL);
    for (uint64_t row = 0; row < batch->rows && status == VDBQ_OK; row++) {
        status = compute_row(&computing, row, map->results.rows + row, error);
        if (stream_row_failed(status)) {
            batch->rows = row;
            return stream_hold(&map->head, error);
        }
        if (status == VDBQ_OK && stop_after(&since, CALL_ROWS))
            status = error_cancelled(error);
    }
    return status;
}

/* The texts of a column become words. */
static enum vdbq_status make_dictionary(struct map_stream *map, unsigned number,
                                        struct error *error)
{
    struct row_set_column *column = &map->results.columns[number];
    if (column->type != VDBQ_TEXT || map->texts.count == 0)
        return VDBQ_OK;
    column->dictionary =
        dictionary_make(map->texts.items, map->texts.count, column->values);
    map->texts.count = 0;
    return column->dictionary != NULL ? VDBQ_OK : stop_or_no_memory(error);
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
    for (unsigned i = 0; i < function_count(map) && status == VDBQ_OK; i++) {
        status = compute(map, i, &batch, error);
        if (status == VDBQ_OK)
            status = make_dictionary(map, i, error);
        arena_finish(&map->arena);
    }
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
    arena_finish(&map->arena);
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
