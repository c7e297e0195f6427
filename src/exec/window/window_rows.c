/* SPDX-License-Identifier: MIT */
/*
 * Rows of windows on a device: see window_rows.h.
 */
#include "exec/window/window_rows.h"

#include <assert.h>

#include "exec/window/device_window.h"

/* What is known of the columns of the functions; NULL: no memory. */
static struct device_column *describe(const struct stream *stream)
{
    const struct step *step = stream->step;
    struct stream *input = stream->inputs[0];
    unsigned count = input->step->column_count;
    struct device_column *columns = stream_device_columns(input);
    struct device_column *made =
        memory_zeroed(step->window.functions.count + 1, sizeof *made);
    if (columns != NULL && made != NULL)
        device_window_describe(&step->window, step->columns, columns,
                               input->rows_most, count, made);
    if (columns == NULL) {
        memory_release(made);
        made = NULL;
    }
    memory_release(columns);
    return made;
}

/* Columns that the rows have: those of the input that are read, and all of the
 * functions. */
static bool *list_reads(const struct stream *stream)
{
    const struct step *step = stream->step;
    const struct stream *input = stream->inputs[0];
    bool *reads = memory_zeroed(step->column_count + 1, sizeof *reads);
    for (unsigned i = 0; reads != NULL && i < step->column_count; i++)
        reads[i] = i >= input->step->column_count || input->reads[i];
    return reads;
}

/* Has the rows stay on the device, with room for the functions' columns. */
static enum vdbq_status take(struct window_rows *window,
                             const struct stream *stream, struct error *error)
{
    struct stream *input = stream->inputs[0];
    struct device_column *made = describe(stream);
    struct stream_keep keep = { .made = made };
    enum vdbq_status status;
    keep.made_count = stream->step->column_count - input->step->column_count;
    keep.reads = window->reads = list_reads(stream);
    status =
        made != NULL && keep.reads != NULL
            ? stream_keep(input, &keep, &window->rows, &window->taken, error)
            : error_no_memory(error);
    memory_release(made);
    return status;
}

/* The rows were taken: computes their functions, or gives the input's columns back.
 * Where the device's budget has no room for them it keeps them all the same, as it
 * does what it sorts. */
static enum vdbq_status compute(struct window_rows *window,
                                const struct stream *stream,
                                struct error *error)
{
    const struct step *step = stream->step;
    struct device_rows *rows = &window->rows;
    unsigned count = stream->inputs[0]->step->column_count;
    bool few = stream_is_few(&rows->place, rows->store.rows);
    struct error refused;
    enum vdbq_status status;
    assert(step->column_count == count + rows->store.made_count);
    (void)device_rows_settle(rows, &refused);
    for (unsigned i = count; few && i < step->column_count; i++)
        window->reads[i] = false;
    status = device_reader_init(&window->reader, rows,
                                few ? window->reads : stream->reads, error);
    if (status == VDBQ_OK && !few)
        status = device_window_run(
            &(struct device_window_params){ .step = &step->window,
                                            .columns = step->columns,
                                            .input_count = count },
            rows, error);
    window->computed = status == VDBQ_OK && !few;
    return status;
}

enum vdbq_status window_rows_open(struct window_rows *window,
                                  const struct stream *stream,
                                  struct error *error)
{
    const struct step *step = stream->step;
    const struct stream *input = stream->inputs[0];
    const struct device *device = stream_device(input, NULL);
    enum vdbq_status status = VDBQ_OK;
    *window = (struct window_rows){ .taken = false };
    if (device != NULL && device_window_does(&step->window, step->columns)
        && device_window_fits(device, input->rows_most))
        status = take(window, stream, error);
    return status == VDBQ_OK && window->taken ? compute(window, stream, error)
                                              : status;
}

void window_rows_finish(struct window_rows *window)
{
    device_reader_finish(&window->reader);
    device_rows_finish(&window->rows);
    memory_release(window->reads);
    window->reads = NULL;
    window->taken = window->computed = false;
}
