/* SPDX-License-Identifier: MIT */
/*
 * Streams whose rows may stay on a device, for what takes them there.
 */
#include "exec/stream/stream_inner.h"

#include <assert.h>
#include <string.h>

#include "device/kernel.h"
#include "program/steps/sort_bound.h"

struct device *stream_taker(const struct run_place *place)
{
    return place->takes && device_has_kernels(place->device) ? place->device
                                                             : NULL;
}

const struct run_place *stream_place(const struct stream *stream)
{
    const struct stream_device_calls *calls = stream->calls->device;
    return calls != NULL ? calls->place(stream) : NULL;
}

/* What a step may take of the memory that a place's device has. */
static uint64_t device_room(const struct run_place *place)
{
    return device_facts(place->device)->memory_bytes / 4;
}

/* The same of what the device's budget allows. */
static uint64_t place_room(const struct run_place *place)
{
    uint64_t room = device_room(place);
    uint64_t budget =
        place->resident != NULL ? resident_budget(place->resident) : room;
    return budget < room ? budget : room;
}

struct device *stream_device(const struct stream *stream, uint64_t *room)
{
    const struct run_place *place = stream_place(stream);
    if (room != NULL)
        *room = place != NULL ? place_room(place) : 0;
    return place != NULL ? place->device : NULL;
}

/* ----------------------------------------------------------------- keep -- */

/* Bytes of which there is room for as many rows as may come; of more for about
 * as many as are expected. */
#define ROOM_SURE ((uint64_t)256 << 20)

uint64_t stream_rows_likely(const struct stream *stream)
{
    double likely = 2 * stream->step->rows + 1;
    return likely < (double)stream->rows_most ? (uint64_t)likely
                                              : stream->rows_most;
}

/* Bytes of so many rows of the columns that are read. */
static uint64_t bytes_of(const struct device_rows *rows, uint64_t count)
{
    const struct device_store *store = &rows->store;
    return device_places(rows->columns, store->sink.reads, store->column_count,
                         count, NULL);
}

/* Whether all rows that may come fit into one buffer and a step's share of the
 * device's memory, and those that likely come into its share of the budget, which
 * device_rows_settle() asks for those that came. */
static bool fits(const struct stream *stream, const struct device_rows *rows)
{
    uint64_t room = device_room(&rows->place);
    uint64_t most = device_facts(rows->store.device)->buffer_max_bytes;
    return stream->rows_most > 0 && stream->rows_most <= ROW_SET_ROWS_MAX
           && bytes_of(rows, stream->rows_most) <= (room < most ? room : most)
           && bytes_of(rows, stream_rows_likely(stream))
                  <= place_room(&rows->place);
}

/* Rows to make room for before the first comes. */
static uint64_t rows_expected(const struct stream *stream,
                              const struct device_rows *rows)
{
    uint64_t most = stream->rows_most;
    double expected = stream->step->rows + stream->step->rows / 4 + 1;
    uint64_t sure = place_room(&rows->place);
    sure = sure < ROOM_SURE ? sure : ROOM_SURE;
    return bytes_of(rows, most) <= sure || expected >= (double)most
               ? most
               : (uint64_t)expected;
}

/* Whether the device has so much room that what stays where it is, since launches
 * ahead read it, takes none that others need. */
static bool has_ample_room(const struct run_place *place)
{
    return place->resident != NULL
           && resident_bytes(place->resident)
                  <= resident_budget(place->resident) / 2;
}

/* Makes room for rows, and starts what gives the first of them, if it can. */
static enum vdbq_status start_taking(struct stream *stream,
                                     struct device_rows *rows,
                                     struct error *error)
{
    const struct stream_device_calls *calls = stream->calls->device;
    enum vdbq_status status =
        device_store_room(&rows->store, rows_expected(stream, rows), error);
    if (status != VDBQ_OK)
        return status;
    stream_sink(stream, &rows->store.sink);
    return calls->ahead != NULL && has_ample_room(&rows->place)
               ? calls->ahead(stream, error)
               : VDBQ_OK;
}

/* Has the rows taken; they are there however that ends. */
static enum vdbq_status take_all(struct stream *stream,
                                 struct device_rows *rows, struct error *error)
{
    struct sink *sink = &rows->store.sink;
    struct error waited;
    enum vdbq_status status = stream_drain(stream, error);
    assert(rows->store.rows <= stream->rows_most || status != VDBQ_OK);
    if (sink->wait(sink, &waited) != VDBQ_OK && status == VDBQ_OK) {
        *error = waited;
        status = error->status;
    }
    return status;
}

/* The stream's columns and then those that are made; NULL: no memory. */
static struct device_column *columns_of(struct stream *stream,
                                        const struct stream_keep *keep)
{
    unsigned count = stream->step->column_count;
    struct device_column *own = stream_device_columns(stream);
    struct device_column *columns = NULL;
    if (own != NULL)
        columns = memory_resize(own, (count + keep->made_count + (size_t)1)
                                         * sizeof *columns);
    if (columns == NULL)
        memory_release(own);
    else if (keep->made_count > 0)
        memcpy(columns + count, keep->made, keep->made_count * sizeof *columns);
    return columns;
}

enum vdbq_status stream_keep_begin(struct stream *stream,
                                   const struct stream_keep *keep,
                                   struct device_rows *rows, bool *can,
                                   struct error *error)
{
    const struct run_place *place = stream_place(stream);
    uint64_t start = stream_clock(stream->params);
    *rows = (struct device_rows){ 0 };
    *can = false;
    if (place == NULL || !stream_bounded(stream))
        return VDBQ_OK;
    enum vdbq_status status =
        device_rows_init(rows, place, columns_of(stream, keep),
                         stream->step->column_count + keep->made_count, error);
    if (status != VDBQ_OK)
        return status;
    rows->store.sink.reads = keep->reads;
    rows->store.made_count = keep->made_count;
    *can = fits(stream, rows);
    if (*can)
        status = start_taking(stream, rows, error);
    stream->time_ns += stream_clock(stream->params) - start;
    return status;
}

enum vdbq_status stream_keep_end(struct stream *stream,
                                 struct device_rows *rows, struct error *error)
{
    uint64_t start = stream_clock(stream->params);
    enum vdbq_status status = take_all(stream, rows, error);
    stream->time_ns += stream_clock(stream->params) - start;
    return status;
}

enum vdbq_status stream_keep(struct stream *stream,
                             const struct stream_keep *keep,
                             struct device_rows *rows, bool *can,
                             struct error *error)
{
    enum vdbq_status status = stream_keep_begin(stream, keep, rows, can, error);
    return status == VDBQ_OK && *can ? stream_keep_end(stream, rows, error)
                                     : status;
}

enum { ROWS_FEW = 1 << 14, ASKED_ROWS_FEW = 2 };

bool stream_is_few(const struct run_place *place, uint64_t rows)
{
    return rows <= (place->settings->steps == STEPS_DEVICE ? ASKED_ROWS_FEW
                                                           : ROWS_FEW);
}

/* ---------------------------------------------------------------- facts -- */

bool stream_bounded(const struct stream *stream)
{
    if (stream->rescans || stream->step->kind == STEP_GROUP
        || stream->step->kind == STEP_WINDOW)
        return true; /* all rows were there when it was opened */
    if (stream->step->kind != STEP_SCAN)
        return false;
    const struct program *program = &stream->step->scan.program;
    const struct program_table *first = program->tables.items;
    return first == NULL || first->input == 0
           || stream_bounded(stream->inputs[first->input - 1]);
}

struct device_column *stream_device_columns(struct stream *stream)
{
    assert(stream->calls->device != NULL);
    return stream->calls->device->columns(stream);
}

struct device_column device_column_of(const struct step_column *column,
                                      bool nullable,
                                      const struct dictionary *dictionary)
{
    assert(dictionary == NULL || column->type == VDBQ_TEXT);
    struct device_column made = { .type = column->type, .nullable = nullable };
    if (column->type != VDBQ_TEXT || dictionary == NULL)
        return made;
    made.ranged = true;
    made.high = dictionary->count > 0 ? dictionary->count - 1 : 0;
    return made;
}

void stream_sink(struct stream *stream, struct sink *sink)
{
    assert(stream->calls->device != NULL && sink != NULL);
    stream->calls->device->sink(stream, sink);
}

void stream_bound(struct stream *stream, const struct step_sort *sort,
                  const struct launch_bound *bound)
{
    const struct stream_device_calls *calls = stream->calls->device;
    if (calls != NULL && calls->bound != NULL
        && sort_bound_fits(&stream->step->scan.program, sort))
        calls->bound(stream, bound);
}

enum vdbq_status stream_advance(struct stream *stream, bool *more,
                                struct error *error)
{
    assert(stream->calls->device != NULL);
    enum vdbq_status status = VDBQ_OK;
    *more = false;
    stream->asked = true;
    if (stream->ended)
        return VDBQ_OK;
    status = stream->calls->device->advance(stream, more, error);
    stream->ended = status != VDBQ_OK || !*more;
    return status;
}

enum vdbq_status stream_drain(struct stream *stream, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool more = true;
    while (status == VDBQ_OK && more) {
        status = stream_advance(stream, &more, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}
