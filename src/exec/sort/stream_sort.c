/* SPDX-License-Identifier: MIT */
/*
 * STEP_SORT as a stream: all rows are sorted while it is opened. Where few
 * rows are asked for, only those that may be among them are kept. Where a
 * device has the rows and takes them itself, that sorts them. Rows that do not
 * fit into memory are sorted in runs, which are merged as they are asked for.
 */
#include <assert.h>
#include <stdio.h>

#include "exec/sort/device_sort.h"
#include "exec/sort/sort.h"
#include "exec/sort/sort_runs.h"
#include "exec/stream/stream_inner.h"

enum {
    SORT_BATCH_ROWS = 1 << 16, /* that are given out at once ...         */
    SORT_BATCH_THREADS = 4,    /* ... for each so many threads ...       */
    SORT_BATCH_MOST = 1 << 18, /* ... and at most                        */
    SORT_BYTES = 20,           /* that sorting takes for each row        */
    TOP_SHARE = 4,             /* of the rows are wanted: most are left out */
    TOP_ROWS_MAX = 1 << 22,    /* ... and so few that none waits for them  */
    RUN_ROWS_MIN = 16,         /* of a run, whatever memory there is     */
    BATCH_PART = 8             /* of memory, for a batch that is merged  */
};

struct sort_stream {
    struct stream head;          /* first */
    struct sort_top top;         /* few rows ...                       */
    struct launch_bound bound;   /* ... that the scan below may know   */
    struct row_set materialised; /* ... or all                         */
    uint64_t rows_held;          /* ... rows that memory was taken for */
    struct sort_runs runs;       /* ... or sorted and put aside        */
    bool in_runs;                /* all rows are there                 */
    struct device_sort *device;  /* has `materialised`, sorted; or NULL  */
    struct device_times times;   /* of it                            */
    char where[96];              /* for stats                        */
    const struct row_set *rows;  /* which of the two                */
    uint32_t *order;             /* numbers of rows; NULL: as they are */
    uint64_t next, end;          /* places in the order                */
    uint64_t batch_rows;         /* that are given out at once         */
    struct row_set output;       /* rows of a batch                    */
    struct vdbq_vector *vectors; /* of the batch */
};

/* ---------------------------------------------------------------- open -- */

/* Places of the order that are asked for. */
static uint64_t places_end(const struct step_sort *step)
{
    return step->limit > UINT64_MAX - step->offset ? UINT64_MAX
                                                   : step->offset + step->limit;
}

/* Few rows are wanted: keeps the first ones of those that came so far. */
static enum vdbq_status open_top(struct sort_stream *sort, struct error *error)
{
    const struct step_sort *step = &sort->head.step->sort;
    struct stream *input = sort->head.inputs[0];
    struct batches batches;
    enum vdbq_status status = sort_top_init(
        &sort->top, step->keys.items, (unsigned)step->keys.count,
        places_end(step), input->step->columns, input->step->column_count,
        stream_threads(sort->head.params), error);
    if (status == VDBQ_OK)
        status = batches_init(&batches, input->step->column_count, error);
    if (status != VDBQ_OK)
        return status;
    stream_bound(input, step, &sort->bound);
    do {
        status = stream_batches(input, &batches, error);
        if (status == VDBQ_OK && batches.count > 0)
            status = sort_top_add(&sort->top, &batches, error);
        sort->bound = sort_top_bound(&sort->top);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    } while (status == VDBQ_OK && batches.count > 0);
    batches_finish(&batches);
    sort->rows = &sort->top.rows;
    return status == VDBQ_OK ? sort_top_end(&sort->top, error) : status;
}

/* Sorts the rows that were materialised. */
static enum vdbq_status make_order(struct sort_stream *sort,
                                   struct error *error)
{
    const struct vector *keys = &sort->head.step->sort.keys;
    unsigned count = (unsigned)keys->count;
    struct sort_key *made = memory_zeroed(count, sizeof *made);
    enum vdbq_status status = VDBQ_OK;
    sort->order =
        memory_resize(NULL, sort->materialised.rows * sizeof *sort->order);
    if (made == NULL || sort->order == NULL)
        status = error_no_memory(error);
    if (status == VDBQ_OK) {
        sort_keys(&sort->materialised, keys->items, count, made);
        status =
            sort_order(made, count, (uint32_t)sort->materialised.rows,
                       stream_threads(sort->head.params), sort->order, error);
    }
    memory_release(made);
    return status;
}

/* Bytes of memory for a row, until it is sorted. */
static uint64_t row_bytes(const struct sort_stream *sort)
{
    const struct step *input = sort->head.inputs[0]->step;
    return spill_row_bytes(input->columns, input->column_count, NULL)
           + SORT_BYTES;
}

/* Whether only the first rows are to be kept: few, or few of those that come,
 * for which it takes memory. */
static bool take_top(struct sort_stream *sort)
{
    uint64_t end = places_end(&sort->head.step->sort);
    if (end < SORT_TOP_MAX)
        return true;
    return end <= TOP_ROWS_MAX
           && end <= sort->head.inputs[0]->rows_most / TOP_SHARE
           && account_take(&sort->head.memory,
                           sort_top_rows(end) * row_bytes(sort));
}

/* Takes memory for up to so many rows more; how many there is room for. */
static uint64_t take_room(struct sort_stream *sort, uint64_t rows)
{
    struct account_share *memory = &sort->head.memory;
    uint64_t bytes = row_bytes(sort), left = sort->rows_held;
    left -= sort->materialised.rows;
    uint64_t more = rows > left ? rows - left : 0;
    uint64_t most = account_room(memory) / bytes;
    more = more < most ? more : most;
    if (!account_take(memory, more * bytes))
        more = 0;
    if (sort->rows_held + more < RUN_ROWS_MIN) {
        account_take_anyway(memory, RUN_ROWS_MIN * bytes);
        more += RUN_ROWS_MIN;
    }
    sort->rows_held += more;
    left += more;
    return left < rows ? left : rows;
}

/* Sorts the rows at hand and puts them aside, but those that nobody asks for.
 */
static enum vdbq_status put_aside(struct sort_stream *sort, struct error *error)
{
    const struct step *input = sort->head.inputs[0]->step;
    const struct step_sort *step = &sort->head.step->sort;
    uint64_t rows = sort->materialised.rows, end = places_end(step);
    struct sort_runs_params params = { .files = sort->head.params->files,
                                       .memory = &sort->head.memory,
                                       .columns = input->columns,
                                       .column_count = input->column_count,
                                       .keys = step->keys.items,
                                       .key_count = (unsigned)step->keys.count,
                                       .room_bytes =
                                           sort->rows_held * row_bytes(sort) };
    enum vdbq_status status = VDBQ_OK;
    if (!sort->in_runs)
        status = sort_runs_init(&sort->runs, &params, error);
    sort->in_runs = true;
    if (status == VDBQ_OK)
        status = make_order(sort, error);
    if (status == VDBQ_OK)
        status = sort_runs_add(&sort->runs, &sort->materialised, sort->order,
                               rows < end ? rows : end, error);
    memory_release(sort->order);
    sort->order = NULL;
    sort->materialised.rows = 0;
    return status;
}

/* Takes the rows of a batch; where memory ends, those at hand are a run. */
static enum vdbq_status take_rows(struct sort_stream *sort,
                                  const struct vdbq_batch *batch,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0, rows; status == VDBQ_OK && at < batch->rows;
         at += rows) {
        rows = take_room(sort, batch->rows - at);
        if (rows == batch->rows)
            status = row_set_append(&sort->materialised, batch,
                                    sort->head.params->threads, error);
        else if (rows > 0)
            status = row_set_append_part(&sort->materialised, batch, at, rows,
                                         error);
        else
            status = put_aside(sort, error);
    }
    return status;
}

/* Takes the rows of batches that are there at the same time. */
static enum vdbq_status take_batches(struct sort_stream *sort,
                                     const struct batches *batches,
                                     struct error *error)
{
    uint64_t rows = batches_rows(batches);
    enum vdbq_status status = VDBQ_OK;
    if (take_room(sort, rows) == rows)
        return row_set_append_all(&sort->materialised, batches,
                                  stream_threads(sort->head.params), error);
    for (unsigned i = 0; i < batches->count && status == VDBQ_OK; i++)
        status = take_rows(sort, &batches->batch[i], error);
    return status;
}

/* Takes all rows. */
static enum vdbq_status materialise(struct sort_stream *sort,
                                    struct error *error)
{
    struct stream *input = sort->head.inputs[0];
    struct batches batches;
    enum vdbq_status status =
        stream_materialise_begin(input, &sort->materialised, error);
    if (status == VDBQ_OK)
        status = batches_init(&batches, input->step->column_count, error);
    if (status != VDBQ_OK)
        return status;
    do {
        status = stream_batches(input, &batches, error);
        if (status == VDBQ_OK && batches.count > 0)
            status = take_batches(sort, &batches, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    } while (status == VDBQ_OK && batches.count > 0);
    batches_finish(&batches);
    return status;
}

/* Takes all rows and orders their numbers, or makes runs of them. */
static enum vdbq_status open_all(struct sort_stream *sort, struct error *error)
{
    sort->rows = &sort->materialised;
    enum vdbq_status status = materialise(sort, error);
    if (status != VDBQ_OK || !sort->in_runs)
        return status == VDBQ_OK ? make_order(sort, error) : status;
    status = put_aside(sort, error);
    row_set_finish(&sort->materialised);
    return status == VDBQ_OK ? sort_runs_begin(&sort->runs, error) : status;
}

/* -------------------------------------------------------- on the device -- */

/* Brings few rows to the host, which sorts them. */
static enum vdbq_status fetch_few(struct sort_stream *sort,
                                  const struct device_column *columns,
                                  struct error *error)
{
    struct stream *input = sort->head.inputs[0];
    struct sink_rows rows = device_sort_rows(sort->device);
    struct vdbq_batch batch = { .columns = input->step->column_count };
    struct device_fetch fetch = { 0 };
    enum vdbq_status status =
        stream_materialise_begin(input, &sort->materialised, error);
    if (status == VDBQ_OK)
        status = device_fetch_init(&fetch, stream_device(input, NULL),
                                   input->step->column_count, error);
    if (status == VDBQ_OK && rows.count > 0)
        status = device_fetch_rows(&fetch, columns, NULL, &rows, &batch, error);
    if (status == VDBQ_OK && rows.count > 0)
        status = row_set_append(&sort->materialised, &batch, 1, error);
    sort->times = *device_sort_times(sort->device);
    device_times_add(&sort->times, &fetch.times);
    device_fetch_finish(&fetch);
    device_sort_destroy(sort->device);
    sort->device = NULL;
    return status == VDBQ_OK ? make_order(sort, error) : status;
}

/* The device takes the input's rows where they are. */
static enum vdbq_status run_on_device(struct sort_stream *sort,
                                      const struct device_column *columns,
                                      struct error *error)
{
    stream_sink(sort->head.inputs[0], device_sort_sink(sort->device));
    enum vdbq_status status = stream_drain(sort->head.inputs[0], error);
    sort->rows = &sort->materialised;
    if (status == VDBQ_OK
        && stream_is_few(stream_place(sort->head.inputs[0]),
                         device_sort_rows(sort->device).count))
        return fetch_few(sort, columns, error);
    if (status == VDBQ_OK)
        status = row_set_init(&sort->materialised, sort->head.step->columns,
                              sort->head.step->column_count, error);
    if (status == VDBQ_OK)
        status = device_sort_finish(sort->device, &sort->materialised, error);
    sort->times = *device_sort_times(sort->device);
    return status;
}

/* Sorts on the device that has the rows, where there is one and it can;
 * `*done`: so it was. */
static enum vdbq_status open_device(struct sort_stream *sort, bool *done,
                                    struct error *error)
{
    struct stream *input = sort->head.inputs[0];
    struct device_sort_params params = { .step = &sort->head.step->sort,
                                         .column_count =
                                             input->step->column_count,
                                         .out_count =
                                             sort->head.step->column_count,
                                         .device = stream_device(input, NULL),
                                         .rows = input->rows_most };
    struct device_column *columns;
    enum vdbq_status status = VDBQ_OK;
    *done = false;
    if (params.device == NULL || !stream_bounded(input))
        return VDBQ_OK;
    params.columns = columns = stream_device_columns(input);
    if (columns == NULL)
        return error_no_memory(error);
    *done = device_sort_can(&params);
    if (*done)
        status = device_sort_create(&params, &sort->device, error);
    if (*done && status == VDBQ_OK)
        status = run_on_device(sort, columns, error);
    if (sort->device != NULL)
        snprintf(sort->where, sizeof sort->where, "%s (sorted)",
                 device_facts(params.device)->name);
    memory_release(columns);
    return status;
}

/* ------------------------------------------------------------------ open -- */

/* Merges the next rows of the runs. */
static enum vdbq_status merge_rows(struct sort_stream *sort, uint64_t rows,
                                   struct error *error)
{
    sort->output.rows = 0;
    enum vdbq_status status =
        sort_runs_rows(&sort->runs, rows, &sort->output, error);
    assert(status != VDBQ_OK || sort->output.rows == rows);
    row_set_vectors(&sort->output, 0, sort->vectors);
    return status;
}

/* Passes over rows in front of those that are asked for. */
static enum vdbq_status skip_rows(struct sort_stream *sort, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t left = sort->next, rows; left > 0 && status == VDBQ_OK;
         left -= rows) {
        rows = left < sort->batch_rows ? left : sort->batch_rows;
        status = merge_rows(sort, rows, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

/* The words of the columns that go out. */
static void take_dictionary(struct sort_stream *sort)
{
    for (unsigned i = 0; i < sort->output.column_count; i++)
        if (sort->output.columns[i].type == VDBQ_TEXT)
            row_set_dictionary(
                &sort->output, i,
                dictionary_hold(stream_dictionary(sort->head.inputs[0], i)));
}

/* Rows of a batch: enough for all threads, few where memory is little. */
static uint64_t batch_rows(const struct sort_stream *sort)
{
    uint64_t rows = sort->runs.params.room_bytes / BATCH_PART;
    uint64_t shared = stream_threads(sort->head.params) / SORT_BATCH_THREADS
                      * (uint64_t)SORT_BATCH_ROWS;
    if (!sort->in_runs)
        return shared < SORT_BATCH_ROWS   ? SORT_BATCH_ROWS
               : shared < SORT_BATCH_MOST ? shared
                                          : SORT_BATCH_MOST;
    rows /= row_bytes(sort);
    return rows < RUN_ROWS_MIN      ? RUN_ROWS_MIN
           : rows < SORT_BATCH_ROWS ? rows
                                    : SORT_BATCH_ROWS;
}

/* Fails where rows that are asked for may be among those that a seek left out. */
static enum vdbq_status check_hope(const struct sort_stream *sort,
                                   uint64_t rows, struct error *error)
{
    const struct step_sort *step = &sort->head.step->sort;
    const struct stream_params *params = sort->head.params;
    return step->hopes && rows < places_end(step) && params->hope->left_out
               ? stream_in_vain(params, true, error)
               : VDBQ_OK;
}

/* All rows are sorted when the stream opens; batches only read them. */
static enum vdbq_status sort_open(struct stream *stream, struct error *error)
{
    struct sort_stream *sort = (struct sort_stream *)stream;
    const struct step *step = stream->step;
    uint64_t end = places_end(&step->sort);
    bool done;
    enum vdbq_status status = open_device(sort, &done, error);
    if (status == VDBQ_OK && !done)
        status = take_top(sort) ? open_top(sort, error) : open_all(sort, error);
    if (sort->device == NULL)
        snprintf(sort->where, sizeof sort->where, "host%s",
                 sort->in_runs ? " (sorted in runs)" : "");
    if (status == VDBQ_OK)
        status = row_set_init(&sort->output, step->columns, step->column_count,
                              error);
    sort->vectors = memory_zeroed(step->column_count, sizeof *sort->vectors);
    if (status == VDBQ_OK && sort->vectors == NULL)
        status = error_no_memory(error);
    if (status != VDBQ_OK)
        return status;
    take_dictionary(sort);
    sort->batch_rows = batch_rows(sort);
    stream_close_input(stream, 0);
    uint64_t rows = sort->in_runs ? sort->runs.rows : sort->rows->rows;
    sort->end = end < rows ? end : rows;
    sort->next = step->sort.offset < sort->end ? step->sort.offset : sort->end;
    if (sort->device != NULL) { /* the others never came */
        sort->next = 0;
        sort->end = sort->rows->rows;
        rows += step->sort.offset;
    }
    stream->rows_most = sort->end - sort->next;
    status = check_hope(sort, rows, error);
    return status == VDBQ_OK && sort->in_runs ? skip_rows(sort, error) : status;
}

/* The device's rows go back to it before it is closed. */
static void sort_close(struct stream *stream)
{
    struct sort_stream *sort = (struct sort_stream *)stream;
    sort_top_finish(&sort->top);
    device_sort_take_back(sort->device, &sort->materialised);
    device_sort_destroy(sort->device);
    row_set_finish(&sort->materialised);
    sort_runs_finish(&sort->runs);
    row_set_finish(&sort->output);
    memory_release(sort->order);
    memory_release(sort->vectors);
}

/* ---------------------------------------------------------------- rows -- */

/* Rows of the order, put side by side. */
static enum vdbq_status put_rows(struct sort_stream *sort, uint64_t rows,
                                 struct error *error)
{
    assert(sort->next + rows <= sort->end);
    struct row_set from = *sort->rows; /* the columns that go out */
    from.column_count = sort->output.column_count;
    sort->output.rows = 0;
    enum vdbq_status status = row_set_room(&sort->output, rows, error);
    if (status == VDBQ_OK)
        status = row_set_pick(&sort->output, 0, &from, sort->order + sort->next,
                              rows, stream_threads(sort->head.params), error);
    sort->output.rows = rows;
    row_set_vectors(&sort->output, 0, sort->vectors);
    return status;
}

/* Gives rows in order: by number on the host, as they lie from the device. */
static enum vdbq_status
sort_batch(struct stream *stream, struct vdbq_batch *batch, struct error *error)
{
    struct sort_stream *sort = (struct sort_stream *)stream;
    assert(sort->next <= sort->end);
    uint64_t rows = sort->end - sort->next;
    enum vdbq_status status = VDBQ_OK;
    rows = rows < sort->batch_rows ? rows : sort->batch_rows;
    batch->rows = rows;
    batch->column = sort->vectors;
    if (rows == 0)
        return VDBQ_OK;
    if (sort->in_runs) {
        status = merge_rows(sort, rows, error);
    } else if (sort->order != NULL) {
        status = put_rows(sort, rows, error);
    } else {
        struct row_set from = *sort->rows;
        from.column_count = sort->output.column_count;
        row_set_vectors(&from, sort->next, sort->vectors);
    }
    sort->next += rows;
    return status;
}

/* Columns keep their dictionaries. */
static struct dictionary *sort_dictionary(const struct stream *stream,
                                          unsigned column)
{
    return ((const struct sort_stream *)stream)
        ->output.columns[column]
        .dictionary;
}

/* What the device took. */
static void sort_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    const struct sort_stream *sort = (const struct sort_stream *)stream;
    stats->steps = sort->where;
    stream_add_times(&sort->times, stats);
}

const struct stream_kind sort_stream = {
    .size = sizeof(struct sort_stream),
    .calls = { .batch = sort_batch,
               .dictionary = sort_dictionary,
               .stats = sort_stats,
               .close = sort_close },
    .open = sort_open,
};
