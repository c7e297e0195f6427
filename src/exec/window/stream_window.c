/* SPDX-License-Identifier: MIT */
/*
 * STEP_WINDOW as a stream: all rows are materialised and their windows computed
 * while it is opened; in files, where the rows do not fit into memory. Where a
 * device has the rows and computes the functions itself, they stay there.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "exec/rows/rescan.h"
#include "exec/rows/spill.h"
#include "exec/stream/stream_inner.h"
#include "exec/window/window_firsts.h"
#include "exec/window/window_joined.h"
#include "exec/window/window_parts.h"
#include "exec/window/window_rows.h"
#include "exec/window/window_select.h"
#include "exec/window/window_spill.h"

/* For a row, while it is sorted and its windows are computed. */
enum { COMPUTE_BYTES = 64 };

struct window_stream {
    struct stream head;           /* first */
    struct rescan input;          /* all rows of the input */
    struct row_set results;       /* a column a function            */
    uint64_t given;               /* rows of `results` that are out */
    struct vdbq_vector *vectors;  /* of the batch */
    struct window_spill *spill;   /* has all rows instead; NULL: they fit */
    struct window_parts *parts;   /* has them instead, and gives first rows;
                                     else NULL */
    struct window_select *select; /* has them instead, and selects values of
                                     columns; else NULL */
    struct window_joined *joined; /* of each function; NULL: none joins texts */
    struct window_rows device;    /* has all rows, and their results; or not  */
    char where[96];               /* for stats                                */
};

static const struct step_window_function *
function_at(const struct window_stream *window, unsigned number)
{
    return vector_at(&window->head.step->window.functions, number);
}

/* ---------------------------------------------------------------- texts -- */

/* Makes room for texts that functions join, if one does; false: no memory. */
static bool make_joined(struct window_stream *window)
{
    unsigned count = (unsigned)window->head.step->window.functions.count;
    bool any = false;
    for (unsigned i = 0; i < count; i++)
        any |= function_at(window, i)->function == WINDOW_STRING_AGG;
    if (!any)
        return true;
    window->joined = memory_zeroed(count, sizeof *window->joined);
    for (unsigned i = 0; window->joined != NULL && i < count; i++)
        window_joined_init(&window->joined[i]);
    return window->joined != NULL;
}

/* Tells functions that join texts the words of these. */
static void find_words(struct window_stream *window)
{
    const struct row_set_column *columns = window->input.row_set.columns;
    for (unsigned i = 0; window->joined != NULL
                         && i < window->head.step->window.functions.count;
         i++) {
        const struct step_window_function *function = function_at(window, i);
        if (function->function != WINDOW_STRING_AGG)
            continue;
        window->joined[i].values =
            columns[function->aggregate.column].dictionary;
        if (function->fallback >= 0)
            window->joined[i].separators =
                columns[function->fallback].dictionary;
    }
}

/* Makes words of the texts that were joined. */
static enum vdbq_status make_words(struct window_stream *window,
                                   struct error *error)
{
    unsigned before = window->input.row_set.column_count;
    for (unsigned i = 0;
         window->joined != NULL && i < window->results.column_count; i++) {
        if (function_at(window, i)->function != WINDOW_STRING_AGG)
            continue;
        struct dictionary *words = window_joined_words(
            &window->joined[i], (enum texts_use)window->head.texts[before + i],
            stream_threads(window->head.params));
        if (words == NULL)
            return stop_or_no_memory(error);
        row_set_dictionary(&window->results, i, words);
    }
    return VDBQ_OK;
}

/* Has a batch's results name words. */
static enum vdbq_status follow_words(struct window_stream *window,
                                     uint64_t rows, struct error *error)
{
    unsigned before = window->input.row_set.column_count;
    for (unsigned i = 0;
         window->joined != NULL && i < window->results.column_count; i++)
        if (function_at(window, i)->function == WINDOW_STRING_AGG
            && !window_joined_follow(&window->joined[i],
                                     &window->vectors[before + i], rows))
            return error_no_memory(error);
    return VDBQ_OK;
}

/* ------------------------------------------------------------- compute -- */

/* Gives results that are texts the words of the column they come from. */
static void take_dictionary(struct window_stream *window)
{
    const struct vector *functions = &window->head.step->window.functions;
    for (unsigned i = 0; i < window->results.column_count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        int column = function->aggregate.column;
        if (window->results.columns[i].type == VDBQ_TEXT && column >= 0
            && function->function != WINDOW_STRING_AGG)
            row_set_dictionary(
                &window->results, i,
                dictionary_hold(
                    window->input.row_set.columns[column].dictionary));
    }
}

/* Leaves of the input's rows those that are wanted. */
static enum vdbq_status keep_firsts(struct window_stream *window,
                                    const struct window_firsts *firsts,
                                    struct error *error)
{
    struct row_set *all = &window->input.row_set, kept;
    enum vdbq_status status = row_set_init_like(
        &kept, window->head.step->columns, all->column_count, all, error);

    if (status == VDBQ_OK)
        status = row_set_room(&kept, firsts->count, error);
    if (status == VDBQ_OK)
        status = row_set_pick(&kept, 0, all, firsts->rows, firsts->count,
                              stream_threads(window->head.params), error);
    if (status == VDBQ_OK) {
        struct row_set former = *all;
        kept.rows = firsts->count;
        *all = kept;
        kept = former;
    }
    row_set_finish(&kept);
    return status;
}

/* All functions, of rows that are in memory. */
static enum vdbq_status run(struct window_stream *window, struct error *error)
{
    const struct step *step = window->head.step;
    struct window_firsts firsts = { 0 };
    enum vdbq_status status = window_run(
        &(struct window_params){ .step = &step->window,
                                 .rows = &window->input.row_set,
                                 .columns = step->columns,
                                 .joined = window->joined,
                                 .firsts = step->window.firsts ? &firsts : NULL,
                                 .threads =
                                     stream_threads(window->head.params) },
        &window->results, error);

    if (status == VDBQ_OK && firsts.count > 0)
        status = keep_firsts(window, &firsts, error);
    window_firsts_finish(&firsts);
    return status;
}

/* One result column a function. */
static enum vdbq_status compute(struct window_stream *window,
                                struct error *error)
{
    assert(window->head.step->column_count
           >= window->input.row_set.column_count);
    if (window->select != NULL)
        return window_select_end(window->select, error);
    if (window->parts != NULL)
        return window_parts_end(window->parts, error);
    return window->spill != NULL ? window_spill_end(window->spill, error)
                                 : run(window, error);
}

/* Makes what puts rows aside, with so much memory. */
static enum vdbq_status make_spill(struct window_stream *window, uint64_t room,
                                   struct error *error)
{
    const struct step *step = window->head.step;
    unsigned inputs = window->input.row_set.column_count;
    struct account_share *memory = &window->head.memory;
    if (window_select_can(&step->window))
        return window_select_create(
            &(struct window_select_params){
                .step = &step->window,
                .columns = step->columns,
                .column_count = inputs,
                .reads = window->head.reads,
                .threads = stream_threads(window->head.params),
                .room_bytes = room,
                .files = window->head.params->files,
                .memory = memory },
            &window->select, error);
    const struct window_spill_params params = {
        .step = &step->window,
        .columns = step->columns,
        .input_count = inputs,
        .joined = window->joined,
        .threads = stream_threads(window->head.params),
        .room_bytes = room,
        .files = window->head.params->files,
        .memory = memory,
        .reads = window->head.reads,
        .any_order = window->head.any_order
    };
    return window_parts_can(&step->window)
               ? window_parts_create(&params, &window->parts, error)
               : window_spill_create(&params, &window->spill, error);
}

/* Puts a batch's rows aside. */
static enum vdbq_status put_aside(struct window_stream *window,
                                  const struct vdbq_batch *batch,
                                  struct error *error)
{
    if (window->select != NULL)
        return window_select_add(window->select, batch, error);
    return window->parts != NULL
               ? window_parts_add(window->parts, batch, error)
               : window_spill_add(window->spill, batch, error);
}

/* Has the rows at hand go to files, as all others will. */
static enum vdbq_status begin_spill(struct window_stream *window,
                                    struct error *error)
{
    struct row_set *rows = &window->input.row_set;
    struct account_share *memory = &window->head.memory;
    uint64_t room = account_room(memory);
    account_take_anyway(memory, room);
    struct vdbq_batch batch = { .rows = rows->rows,
                                .columns = rows->column_count,
                                .column = window->vectors };
    enum vdbq_status status = make_spill(window, memory->used_bytes, error);
    row_set_vectors(rows, 0, window->vectors);
    if (status == VDBQ_OK)
        status = put_aside(window, &batch, error);
    row_set_clear(rows);
    return status;
}

/* Takes rows, in memory as long as there is some. */
static enum vdbq_status take_rows(struct window_stream *window,
                                  const struct batches *batches,
                                  struct error *error)
{
    const struct step *step = window->head.step;
    uint64_t bytes = spill_row_bytes(step->columns, step->column_count, NULL)
                     + COMPUTE_BYTES;
    enum vdbq_status status = VDBQ_OK;
    bool fits = window->spill == NULL && window->parts == NULL
                && window->select == NULL;
    if (fits
        && account_take(&window->head.memory, batches_rows(batches) * bytes))
        return row_set_append_all(&window->input.row_set, batches,
                                  window->head.params->threads, error);
    if (fits)
        status = begin_spill(window, error);
    for (unsigned i = 0; i < batches->count && status == VDBQ_OK; i++)
        status = put_aside(window, &batches->batch[i], error);
    return status;
}

/* The next batches of the input; where a device took its rows, of these. */
static enum vdbq_status next_batches(struct window_stream *window,
                                     struct batches *batches,
                                     struct error *error)
{
    struct vdbq_batch batch = { .columns = batches->columns };
    if (!window->device.taken)
        return stream_batches(window->head.inputs[0], batches, error);
    enum vdbq_status status =
        device_reader_batch(&window->device.reader, &batch, error);
    batches->count = 0;
    if (status == VDBQ_OK && batch.rows > 0)
        batches_add(batches, &batch);
    return status;
}

/* Takes all rows of the input. */
static enum vdbq_status materialise(struct window_stream *window,
                                    struct error *error)
{
    struct batches batches;
    enum vdbq_status status = batches_init(
        &batches, window->head.inputs[0]->step->column_count, error);
    if (status != VDBQ_OK)
        return status;
    do {
        status = next_batches(window, &batches, error);
        if (status == VDBQ_OK && batches.count > 0)
            status = take_rows(window, &batches, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    } while (status == VDBQ_OK && batches.count > 0);
    batches_finish(&batches);
    return status;
}

/* The host computes all functions. */
static enum vdbq_status open_host(struct window_stream *window,
                                  struct error *error)
{
    if (!make_joined(window))
        return error_no_memory(error);
    enum vdbq_status status = materialise(window, error);
    if (status == VDBQ_OK)
        status = rescan_begin(&window->input, error);
    if (status == VDBQ_OK) {
        find_words(window);
        status = compute(window, error);
    }
    if (status == VDBQ_OK)
        status = make_words(window, error);
    return status;
}

/* What EXPLAIN ANALYZE says of the functions; and how many rows there are. */
static void note_where(struct window_stream *window)
{
    const struct device_rows *rows = &window->device.rows;
    bool computed = window->device.computed;
    snprintf(window->where, sizeof window->where, "%s%s",
             computed ? device_facts(rows->place.device)->name : "host",
             computed ? " (window)" : "");
    window->head.rows_most =
        computed                 ? rows->store.rows
        : window->select != NULL ? window_select_rows(window->select)
        : window->parts != NULL  ? window_parts_rows(window->parts)
        : window->spill != NULL  ? window_spill_rows(window->spill)
                                 : window->input.row_set.rows;
}

/* All functions run when the stream opens. */
static enum vdbq_status window_open(struct stream *stream, struct error *error)
{
    struct window_stream *window = (struct window_stream *)stream;
    const struct step *step = stream->step;
    unsigned before = stream->inputs[0]->step->column_count;
    window->vectors =
        memory_zeroed(step->column_count, sizeof *window->vectors);
    if (window->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = stream_materialise_begin(
        stream->inputs[0], &window->input.row_set, error);
    if (status == VDBQ_OK)
        status = row_set_init(&window->results, step->columns + before,
                              step->column_count - before, error);
    if (status == VDBQ_OK)
        status = window_rows_open(&window->device, stream, error);
    if (status == VDBQ_OK && !window->device.computed)
        status = open_host(window, error);
    if (status != VDBQ_OK)
        return status;
    note_where(window);
    take_dictionary(window);
    stream_close_input(stream, 0);
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- rows -- */

/* Appends the results to the input's columns. */
static enum vdbq_status window_batch(struct stream *stream,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    struct window_stream *window = (struct window_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    if (window->device.computed)
        return device_reader_batch(&window->device.reader, batch, error);
    if (window->select != NULL)
        return window_select_batch(window->select, batch, error);
    if (window->parts != NULL)
        return window_parts_batch(window->parts, batch, error);
    if (window->spill != NULL) {
        status = window_spill_batch(window->spill, batch, error);
        if (status != VDBQ_OK || window->joined == NULL)
            return status;
        memcpy(window->vectors, batch->column,
               batch->columns * sizeof *window->vectors);
    } else {
        rescan_batch(&window->input, batch);
        memcpy(window->vectors, batch->column,
               batch->columns * sizeof *window->vectors);
        row_set_vectors(&window->results, window->given,
                        window->vectors + batch->columns);
        window->given += batch->rows;
    }
    batch->columns = stream->step->column_count;
    batch->column = window->vectors;
    return follow_words(window, batch->rows, error);
}

/* Results keep the dictionary of the column they come from. */
static struct dictionary *window_dictionary(const struct stream *stream,
                                            unsigned column)
{
    const struct window_stream *window = (const struct window_stream *)stream;
    unsigned before = window->input.row_set.column_count;
    return column < before
               ? window->input.row_set.columns[column].dictionary
               : window->results.columns[column - before].dictionary;
}

/* Frees rows and results. */
static void window_close(struct stream *stream)
{
    struct window_stream *window = (struct window_stream *)stream;
    rescan_finish(&window->input);
    row_set_finish(&window->results);
    window_spill_destroy(window->spill);
    window_parts_destroy(window->parts);
    window_select_destroy(window->select);
    for (unsigned i = 0;
         window->joined != NULL && i < stream->step->window.functions.count;
         i++)
        window_joined_finish(&window->joined[i]);
    memory_release(window->joined);
    memory_release(window->vectors);
    window_rows_finish(&window->device);
}

/* Where functions were computed, and what it took on a device. */
static void window_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    const struct window_stream *window = (const struct window_stream *)stream;
    stats->steps = window->where;
    stream_add_times(&window->device.rows.times, stats);
    stream_add_times(&window->device.reader.fetch.times, stats);
}

/* ---------------------------------------------------- rows on a device -- */

/* Whose device has the rows. */
static const struct run_place *window_place(const struct stream *stream)
{
    const struct window_stream *window = (const struct window_stream *)stream;
    return window->device.computed ? &window->device.rows.place : NULL;
}

static struct device_column *window_columns(struct stream *stream)
{
    return device_rows_columns(&((struct window_stream *)stream)->device.rows);
}

static void window_sink(struct stream *stream, struct sink *sink)
{
    ((struct window_stream *)stream)->device.reader.sink = sink;
}

/* Gives all rows. */
static enum vdbq_status window_advance(struct stream *stream, bool *more,
                                       struct error *error)
{
    struct device_reader *reader =
        &((struct window_stream *)stream)->device.reader;
    enum vdbq_status status = device_reader_give(reader, error);
    *more = false;
    stream->rows = reader->sink->rows;
    return status;
}

static const struct stream_device_calls device_calls = {
    .place = window_place,
    .columns = window_columns,
    .sink = window_sink,
    .advance = window_advance,
};

const struct stream_kind window_stream = {
    .size = sizeof(struct window_stream),
    .calls = { .batch = window_batch,
               .dictionary = window_dictionary,
               .stats = window_stats,
               .close = window_close,
               .device = &device_calls },
    .open = window_open,
};
