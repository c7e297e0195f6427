/* SPDX-License-Identifier: MIT */
/*
 * STEP_MAP: functions of the host, row by row (map_compute.h), portion by portion.
 * The texts of a portion have words of their own, where each batch is read before
 * the next one comes. Where their numbers are compared, or read later, all rows are
 * computed when the stream is opened, since its words stay the same: rows that the
 * account of memory has no room for wait in a temporary file then.
 */
#include <assert.h>
#include <string.h>

#include "base/held_error.h"
#include "base/hostile.h"
#include "exec/operator/map_compute.h"
#include "exec/operator/map_table.h"
#include "exec/rows/rescan.h"
#include "exec/rows/spill.h"
#include "exec/stream/stream_inner.h"

enum {
    BLOCK_BYTES = 256 << 10, /* of rows in the file, at most */
    BESIDE_BYTES = 192, /* what functions take for a row while they compute it:
                          its texts, what they remember of it */
    PORTION_PART = 2,   /* of the room that a portion takes */
    PORTION_ROWS = HOSTILE(2, 1 << 10), /* of a portion, at least           */
    PASSING_ROWS = HOSTILE(4, 1 << 17) /* of a thread, of a portion that passes:
                                          the next one uses its memory again */
};

struct map_stream {
    struct stream head; /* first */
    /* of each batch: the input's columns, then the results */
    struct vdbq_vector *vectors;
    struct row_set results;   /* of the rows at hand: a column a function    */
    struct map_texts *texts;  /* of each function, if it makes texts         */
    struct map_table *tables; /* of each function                            */
    struct function_lookup *lookups; /* of each function, if it looks up      */
    struct function_lookup **then;   /* of each function: calls of its texts  */
    struct arena arena;              /* of these                              */
    struct held_error failed; /* of a row: none behind it counts             */
    uint64_t portion_rows;    /* of a portion, at most                       */

    /* portion by portion */
    struct vdbq_batch pending; /* of the input                               */
    uint64_t next;             /* its first row that is not computed yet     */
    struct vdbq_vector *part;  /* of the input: the rows that are computed   */

    /* all rows when it is opened */
    bool whole;                 /* ... as is so                              */
    struct rescan input;        /* all rows of the input, or in a file those
                                   of a portion, and the words               */
    uint64_t given;             /* rows of `results` that are out            */
    bool in_file;               /* all rows are in the file                  */
    struct spill file;          /* ... which is this                         */
    struct spill_reader reader; /* of the file                               */
    struct row_set all;         /* a portion's input and results, in one     */
};

static enum vdbq_status compute_all(struct map_stream *map,
                                    struct error *error);

/* ---------------------------------------------------------------- open -- */

/* One result a function. */
static unsigned function_count(const struct map_stream *map)
{
    return (unsigned)map->head.step->map.functions.count;
}

/* The number of the column of a function. */
static unsigned result_column(const struct map_stream *map, unsigned number)
{
    return map->head.step->column_count - function_count(map) + number;
}

/* The columns of the functions, behind those of the input. */
static const struct step_column *result_columns(const struct map_stream *map)
{
    return map->head.step->columns + result_column(map, 0);
}

/* What is asked of the numbers of the texts that a function gives. */
static enum texts_use asked(const struct map_stream *map, unsigned number)
{
    return (enum texts_use)map->head.texts[result_column(map, number)];
}

static bool gives_texts(const struct map_stream *map, unsigned number)
{
    return result_columns(map)[number].type == VDBQ_TEXT;
}

/* Whether the words of a result must be whole before its first row comes. */
static bool needs_words(const struct map_stream *map)
{
    for (unsigned i = 0; i < function_count(map); i++)
        if (gives_texts(map, i) && asked(map, i) > TEXTS_PASSING)
            return true;
    return false;
}

/* Bytes of so many rows of a portion, with their results. */
static uint64_t bytes_of(const struct map_stream *map, uint64_t rows)
{
    const struct step *step = map->head.step;
    return rows * spill_row_bytes(step->columns, step->column_count, NULL);
}

/* How many rows a portion has: those that take a part of the memory there is. One
 * that passes has so many of each thread at most. */
static uint64_t choose_portion(const struct map_stream *map)
{
    uint64_t bytes = account_room(&map->head.memory) / PORTION_PART;
    uint64_t rows = bytes / (bytes_of(map, 1) + BESIDE_BYTES);
    uint64_t most = (uint64_t)stream_threads(map->head.params) * PASSING_ROWS;
    if (!map->whole && rows > most)
        rows = most;
    return rows > PORTION_ROWS ? rows : PORTION_ROWS;
}

/* Reads the calls that are computed with a function. */
static enum vdbq_status read_then(struct map_stream *map, unsigned number,
                                  struct error *error)
{
    const struct step_function *function =
        vector_at(&map->head.step->map.functions, number);
    size_t count = function->then.count;
    enum vdbq_status status = VDBQ_OK;
    map->then[number] =
        arena_alloc(&map->arena, (count + 1) * sizeof **map->then);
    if (map->then[number] == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count && status == VDBQ_OK; i++)
        status =
            function_lookup_read(VECTOR_ITEMS(&function->then, const char *)[i],
                                 &map->arena, &map->then[number][i], error);
    return status;
}

/* Reads the calls that are looked up. */
static enum vdbq_status read_lookups(struct map_stream *map,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    map->lookups =
        arena_alloc(&map->arena, function_count(map) * sizeof *map->lookups);
    map->then =
        arena_alloc(&map->arena, function_count(map) * sizeof *map->then);
    if (map->lookups == NULL || map->then == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < function_count(map) && status == VDBQ_OK; i++) {
        const struct step_function *function =
            vector_at(&map->head.step->map.functions, i);
        if (function->looks_up)
            status = function_lookup_read(function->name, &map->arena,
                                          &map->lookups[i], error);
        if (status == VDBQ_OK)
            status = read_then(map, i, error);
    }
    return status;
}

static enum vdbq_status map_open(struct stream *stream, struct error *error)
{
    struct map_stream *map = (struct map_stream *)stream;
    stream->rows_most = stream->inputs[0]->rows_most;
    map->vectors =
        memory_zeroed(stream->step->column_count, sizeof *map->vectors);
    map->part =
        memory_zeroed(result_column(map, 0) + (size_t)1, sizeof *map->part);
    map->texts = memory_zeroed(function_count(map), sizeof *map->texts);
    map->tables = memory_zeroed(function_count(map), sizeof *map->tables);
    if (map->vectors == NULL || map->part == NULL || map->texts == NULL
        || map->tables == NULL)
        return error_no_memory(error);
    enum vdbq_status status = row_set_init(&map->results, result_columns(map),
                                           function_count(map), error);
    if (status == VDBQ_OK)
        status = read_lookups(map, error);
    for (unsigned i = 0; i < function_count(map); i++)
        map->texts[i].is_given = asked(map, i) <= TEXTS_GIVEN;
    map->whole = needs_words(map);
    map->portion_rows = choose_portion(map);
    if (status == VDBQ_OK && map->whole)
        status = compute_all(map, error);
    return status;
}

/* Frees the texts that were made so far, and their words. */
static void forget_texts(struct map_stream *map)
{
    for (unsigned i = 0; i < map->results.column_count; i++) {
        map_texts_finish(&map->texts[i]);
        row_set_dictionary(&map->results, i, NULL);
    }
}

/* Frees the results and the kept rows. */
static void map_close(struct stream *stream)
{
    struct map_stream *map = (struct map_stream *)stream;
    if (map->texts != NULL)
        forget_texts(map);
    for (unsigned i = 0; map->tables != NULL && i < function_count(map); i++)
        map_table_finish(&map->tables[i]);
    memory_release(map->tables);
    memory_release(map->texts);
    spill_reader_finish(&map->reader);
    spill_finish(&map->file);
    memory_release(map->all.columns);
    rescan_finish(&map->input);
    row_set_finish(&map->results);
    arena_finish(&map->arena);
    held_error_finish(&map->failed);
    memory_release(map->vectors);
    memory_release(map->part);
}

/* ------------------------------------------------------------- compute -- */

/* Whether a call's values were taken from a table of all words. */
static bool put_table(struct map_stream *map, unsigned number,
                      const struct map_call *call)
{
    if (call->lookup == NULL || call->batch->rows == 0)
        return false;
    int argument = *(const int *)vector_at(&call->step->arguments, 0);
    return map_table_put(
        &map->tables[number], call,
        stream_dictionary(map->head.inputs[0], (unsigned)argument),
        account_room(&map->head.memory));
}

/* One function over a batch. The batch ends before a row for which it fails. */
static enum vdbq_status compute(struct map_stream *map, unsigned number,
                                struct vdbq_batch *batch, struct error *error)
{
    struct map_call call = {
        .step = vector_at(&map->head.step->map.functions, number),
        .batch = batch,
        .column = &map->results.columns[number],
        .texts = gives_texts(map, number) ? &map->texts[number] : NULL,
        .threads = stream_threads(map->head.params),
        .then = map->then[number],
    };
    const int *arguments = VECTOR_ITEMS(&call.step->arguments, int);
    uint64_t rows;
    call.lookup = call.step->looks_up ? &map->lookups[number] : NULL;
    for (size_t i = 0; i < call.step->arguments.count; i++)
        call.words[i] =
            stream_dictionary(map->head.inputs[0], (unsigned)arguments[i]);
    enum vdbq_status status = row_set_flags(&map->results, number, error);
    if (status == VDBQ_OK && put_table(map, number, &call))
        return VDBQ_OK;
    if (status == VDBQ_OK)
        status = map_compute(&call, &rows, error);
    if (!stream_row_failed(status))
        return status;
    batch->rows = rows;
    held_error_set(&map->failed, error);
    return VDBQ_OK;
}

/* All functions over a batch, whose results are the only ones then. */
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

/* Makes words of all texts that there are. */
static enum vdbq_status make_words(struct map_stream *map, struct error *error)
{
    for (unsigned i = 0; i < function_count(map); i++) {
        if (!gives_texts(map, i))
            continue;
        const struct step_function *function =
            vector_at(&map->head.step->map.functions, i);
        struct dictionary *words =
            map_texts_words(&map->texts[i], asked(map, i), function->firsts,
                            stream_threads(map->head.params));
        if (words == NULL)
            return stop_or_no_memory(error);
        row_set_dictionary(&map->results, i, words);
    }
    return VDBQ_OK;
}

/* The results, which are all there, have numbers of words. */
static enum vdbq_status follow_results(struct map_stream *map,
                                       struct error *error)
{
    for (unsigned i = 0; i < function_count(map); i++) {
        if (!gives_texts(map, i))
            continue;
        map_texts_follow(&map->texts[i], map->results.columns[i].values,
                         map->results.columns[i].nulls, map->results.rows);
        map_texts_finish(&map->texts[i]);
    }
    return stop_pause(error);
}

/* The failure of a row, which comes behind those before it. */
static enum vdbq_status hold_failure(struct map_stream *map,
                                     struct error *error)
{
    return held_error_tell(&map->failed, error) == VDBQ_OK
               ? VDBQ_OK
               : stream_hold(&map->head, error);
}

/* ------------------------------------------------------------ all rows -- */

/* The memory that the rows have is the step's. */
static void count_rows(struct map_stream *map)
{
    uint64_t bytes = bytes_of(map, map->input.row_set.rows_room);
    uint64_t before = map->head.memory.used_bytes;
    if (bytes > before)
        account_take_anyway(&map->head.memory, bytes - before);
}

/* Computes the next rows of the input; `*ended`: there are no more. */
static enum vdbq_status compute_portion(struct map_stream *map, bool *ended,
                                        struct error *error)
{
    struct row_set *rows = &map->input.row_set;
    rows->rows = 0;
    enum vdbq_status status = stream_materialise_more(
        map->head.inputs[0], rows, map->portion_rows, ended, error);
    if (stream_row_failed(status)) {
        held_error_set(&map->failed, error);
        status = VDBQ_OK;
    }
    if (status != VDBQ_OK)
        return status;
    count_rows(map);
    row_set_vectors(rows, 0, map->input.vectors);
    struct vdbq_batch batch = { .rows = rows->rows,
                                .columns = rows->column_count,
                                .column = map->input.vectors };
    status = compute_batch(map, &batch, error);
    rows->rows = batch.rows;
    *ended |= map->failed.status != VDBQ_OK;
    return status;
}

/* Opens the file. */
static enum vdbq_status open_file(struct map_stream *map, struct error *error)
{
    const struct step *step = map->head.step;
    uint64_t least = account_least(&map->head.memory);
    map->in_file = true;
    map->all.columns =
        memory_zeroed(step->column_count, sizeof *map->all.columns);
    if (map->all.columns == NULL)
        return error_no_memory(error);
    return spill_init(
        &map->file,
        &(struct spill_params){ .files = map->head.params->files,
                                .memory = &map->head.memory,
                                .columns = step->columns,
                                .column_count = step->column_count,
                                .reads = map->head.reads,
                                .plain = true,
                                .partitions = 1,
                                .block_bytes =
                                    least < BLOCK_BYTES ? least : BLOCK_BYTES },
        error);
}

/* Writes a portion to the file. */
static enum vdbq_status put_aside(struct map_stream *map, struct error *error)
{
    const struct row_set *input = &map->input.row_set;
    struct row_set *all = &map->all;
    enum vdbq_status status = map->in_file ? VDBQ_OK : open_file(map, error);
    if (status != VDBQ_OK || input->rows == 0)
        return status;
    assert(input->rows == map->results.rows);
    memcpy(all->columns, input->columns,
           input->column_count * sizeof *all->columns);
    memcpy(all->columns + input->column_count, map->results.columns,
           map->results.column_count * sizeof *all->columns);
    all->column_count = input->column_count + map->results.column_count;
    all->rows = all->rows_room = input->rows;
    return spill_add(&map->file, 0,
                     &(struct spill_rows){ .from = all, .count = all->rows },
                     error);
}

/* All rows are in the file, which is read from the first on. */
static enum vdbq_status end_file(struct map_stream *map, struct error *error)
{
    enum vdbq_status status = spill_end(&map->file, error);
    row_set_clear(&map->input.row_set);
    row_set_clear(&map->results);
    account_give_all(&map->head.memory);
    return status == VDBQ_OK ? spill_reader_init(
               &map->reader,
               &(struct spill_range){ .spill = &map->file,
                                      .rows = spill_rows(&map->file, 0) },
               error)
                             : status;
}

/* Computes all rows of all functions. */
static enum vdbq_status compute_all(struct map_stream *map, struct error *error)
{
    bool ended = false;
    enum vdbq_status status = stream_materialise_begin(
        map->head.inputs[0], &map->input.row_set, error);
    if (status == VDBQ_OK)
        status = rescan_begin(&map->input, error);
    while (status == VDBQ_OK && !ended) {
        status = compute_portion(map, &ended, error);
        if (status == VDBQ_OK && (!ended || map->in_file))
            status = put_aside(map, error);
    }
    stream_close_input(&map->head, 0);
    if (status == VDBQ_OK && map->in_file)
        status = end_file(map, error);
    if (status == VDBQ_OK)
        status = make_words(map, error);
    if (status == VDBQ_OK && !map->in_file)
        status = follow_results(map, error);
    return status == VDBQ_OK ? hold_failure(map, error) : status;
}

/* The next rows of the file. Its results have places still. */
static enum vdbq_status read_file(struct map_stream *map,
                                  struct vdbq_batch *batch, struct error *error)
{
    unsigned before = result_column(map, 0);
    enum vdbq_status status = spill_read(&map->reader, batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    stream_retype(&map->head, batch, map->vectors);
    map->results.rows = 0;
    status = row_set_room(&map->results, batch->rows, error);
    for (unsigned i = 0; i < function_count(map) && status == VDBQ_OK; i++) {
        struct vdbq_vector *vector = &map->vectors[before + i];
        uint32_t *values = map->results.columns[i].values;
        if (!gives_texts(map, i) || !map->head.reads[before + i])
            continue;
        memcpy(values, vector->values, batch->rows * sizeof *values);
        map_texts_follow(&map->texts[i], values, vector->nulls, batch->rows);
        vector->values = values;
    }
    return status == VDBQ_OK ? stop_pause(error) : status;
}

/* ---------------------------------------------------------------- rows -- */

/* The next rows of the input: a portion of a batch. */
static enum vdbq_status next_rows(struct map_stream *map,
                                  struct vdbq_batch *batch, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (map->next == map->pending.rows) {
        status = stream_batch(map->head.inputs[0], &map->pending, error);
        map->next = 0;
    }
    uint64_t left = map->pending.rows - map->next;
    *batch = (struct vdbq_batch){
        .rows = left < map->portion_rows ? left : map->portion_rows,
        .columns = map->pending.columns,
        .column = map->part,
    };
    for (unsigned i = 0; i < batch->columns && batch->rows > 0; i++) {
        struct vdbq_vector *vector = &map->part[i];
        *vector = map->pending.column[i];
        vector->values = (const char *)vector->values
                         + map->next * row_set_width(vector->type);
        if (vector->nulls != NULL)
            vector->nulls += map->next;
    }
    map->next += batch->rows;
    return status;
}

/* The next rows of the input, with what is computed of them. */
static enum vdbq_status next_batch(struct map_stream *map,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    enum vdbq_status status = next_rows(map, batch, error);
    forget_texts(map);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    status = compute_batch(map, batch, error);
    if (status == VDBQ_OK)
        status = make_words(map, error);
    if (status == VDBQ_OK)
        status = follow_results(map, error);
    return status == VDBQ_OK ? hold_failure(map, error) : status;
}

/* Appends the results' columns to the input's. */
static enum vdbq_status map_batch(struct stream *stream,
                                  struct vdbq_batch *batch, struct error *error)
{
    struct map_stream *map = (struct map_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    if (map->in_file)
        return read_file(map, batch, error);
    if (map->whole)
        rescan_batch(&map->input, batch);
    else
        status = next_batch(map, batch, error);
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
    unsigned before = result_column(map, 0);
    if (column >= before)
        return map->results.columns[column - before].dictionary;
    return map->whole ? map->input.row_set.columns[column].dictionary
                      : stream_dictionary(stream->inputs[0], column);
}

/* As many rows come as go; where all are computed, they have come. */
static void map_few(struct stream *stream, uint64_t rows)
{
    if (!((struct map_stream *)stream)->whole)
        stream_few(stream->inputs[0], rows);
}

const struct stream_kind map_stream = {
    .size = sizeof(struct map_stream),
    .calls = { .batch = map_batch,
               .few = map_few,
               .dictionary = map_dictionary,
               .close = map_close },
    .open = map_open,
};
