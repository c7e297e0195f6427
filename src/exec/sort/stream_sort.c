/* SPDX-License-Identifier: MIT */
/*
 * STEP_SORT as a stream: all rows are sorted while it is opened. Where few
 * rows are asked for, only those that may be among them are kept. Where a
 * device has the rows and takes them itself, that sorts them.
 */
#include <assert.h>
#include <stdio.h>

#include "exec/sort/device_sort.h"
#include "exec/sort/sort.h"
#include "exec/stream/stream_inner.h"

enum { SORT_BATCH_ROWS = 1 << 16 };

struct sort_stream {
    struct stream head;          /* first */
    struct sort_top top;         /* few rows ...                       */
    struct row_set materialised; /* ... or all                         */
    struct device_sort *device;  /* has `materialised`, sorted; or NULL  */
    struct device_times times;   /* of it                            */
    char where[96];              /* for stats                        */
    const struct row_set *rows;  /* which of the two                */
    uint32_t *order;             /* numbers of rows; NULL: as they are */
    uint64_t next, end;          /* places in the order                */
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
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status =
        sort_top_init(&sort->top, step->keys.items, (unsigned)step->keys.count,
                      places_end(step), input->step->columns,
                      input->step->column_count, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(input, &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = sort_top_add(&sort->top, &batch, error);
        if (status == VDBQ_OK)
            status = stream_pause(sort->head.params, error);
    }
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
    sort->order = memory_zeroed(sort->materialised.rows, sizeof *sort->order);
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

/* Takes all rows and orders their numbers. */
static enum vdbq_status open_all(struct sort_stream *sort, struct error *error)
{
    sort->rows = &sort->materialised;
    enum vdbq_status status =
        stream_materialise(sort->head.inputs[0], &sort->materialised, error);
    return status == VDBQ_OK ? make_order(sort, error) : status;
}

/* -------------------------------------------------------- on the device -- */

/* The device takes the input's rows where they are. */
static enum vdbq_status run_on_device(struct sort_stream *sort,
                                      struct error *error)
{
    enum vdbq_status status =
        row_set_init(&sort->materialised, sort->head.step->columns,
                     sort->head.step->column_count, error);
    stream_sink(sort->head.inputs[0], device_sort_sink(sort->device));
    if (status == VDBQ_OK)
        status = stream_drain(sort->head.inputs[0], error);
    if (status == VDBQ_OK)
        status = device_sort_finish(sort->device, &sort->materialised, error);
    sort->times = *device_sort_times(sort->device);
    sort->rows = &sort->materialised;
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
    if (*done && status == VDBQ_OK) {
        snprintf(sort->where, sizeof sort->where, "%s (sorted)",
                 device_facts(params.device)->name);
        status = run_on_device(sort, error);
    }
    memory_release(columns);
    return status;
}

/* ------------------------------------------------------------------ open -- */

/* The words of the columns that go out. */
static void take_dictionary(struct sort_stream *sort)
{
    for (unsigned i = 0; i < sort->output.column_count; i++)
        if (sort->output.columns[i].type == VDBQ_TEXT)
            row_set_dictionary(
                &sort->output, i,
                dictionary_hold(stream_dictionary(sort->head.inputs[0], i)));
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
        status =
            end < SORT_TOP_MAX ? open_top(sort, error) : open_all(sort, error);
    if (!done)
        snprintf(sort->where, sizeof sort->where, "host");
    if (status == VDBQ_OK)
        status = row_set_init(&sort->output, step->columns, step->column_count,
                              error);
    sort->vectors = memory_zeroed(step->column_count, sizeof *sort->vectors);
    if (status == VDBQ_OK && sort->vectors == NULL)
        status = error_no_memory(error);
    if (status != VDBQ_OK)
        return status;
    take_dictionary(sort);
    stream_close_input(stream, 0);
    sort->end = end < sort->rows->rows ? end : sort->rows->rows;
    sort->next = step->sort.offset < sort->end ? step->sort.offset : sort->end;
    if (done) { /* the others never came */
        sort->next = 0;
        sort->end = sort->rows->rows;
    }
    stream->rows_most = sort->end - sort->next;
    return VDBQ_OK;
}

/* The device's rows go back to it before it is closed. */
static void sort_close(struct stream *stream)
{
    struct sort_stream *sort = (struct sort_stream *)stream;
    sort_top_finish(&sort->top);
    device_sort_take_back(sort->device, &sort->materialised);
    device_sort_destroy(sort->device);
    row_set_finish(&sort->materialised);
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
                              rows, error);
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
    rows = rows < SORT_BATCH_ROWS ? rows : SORT_BATCH_ROWS;
    batch->rows = rows;
    batch->column = sort->vectors;
    if (rows == 0)
        return VDBQ_OK;
    if (sort->order != NULL) {
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
