/* SPDX-License-Identifier: MIT */
/*
 * Rows of a stream, kept on its device: see build_device.h. What is left of
 * them goes when they have been copied to where they are probed.
 */
#include "exec/build_side/build_device.h"

#include <assert.h>

#include "device/kernel.h"
#include "exec/build_side/key_index.h"
#include "exec/launch/device_store.h"
#include "exec/stream/stream_inner.h"

enum { MEMORY_SHARE = 4 }; /* of the device's memory that may be used */
/* Bytes of which there is room for as many rows as may come; of more for about
 * as many as are expected. */
#define ROOM_SURE ((uint64_t)256 << 20)

struct build_device {
    struct device_store store;     /* first: takes them */
    struct device_column *columns; /* of the stream; owned */
    struct device_times times;     /* of the calls so far */
};

/* ---------------------------------------------------------------- taking -- */

/* Whether so many rows fit into one buffer and a fair share of the memory. */
static bool has_room(const struct build_device *rows, const bool *wanted,
                     uint64_t most)
{
    const struct device_store *store = &rows->store;
    const struct device_facts *facts = device_facts(store->device);
    uint64_t bytes =
        device_places(rows->columns, wanted, store->column_count, most, NULL);
    return device_has_kernels(store->device) && most > 0 && most <= KEY_ROWS_MAX
           && bytes <= facts->buffer_max_bytes
           && bytes <= facts->memory_bytes / MEMORY_SHARE;
}

/* Rows to make room for before the first comes. */
static uint64_t rows_expected(const struct build_device *rows,
                              const struct stream *stream)
{
    const struct device_store *store = &rows->store;
    uint64_t most = stream->rows_most;
    double expected = stream->step->rows + stream->step->rows / 4 + 1;
    return device_places(rows->columns, store->sink.reads, store->column_count,
                         most, NULL)
                       <= ROOM_SURE
                   || expected >= (double)most
               ? most
               : (uint64_t)expected;
}

/* Prepares to take the stream's rows; `*can`: there is room. */
static enum vdbq_status prepare(struct build_device *rows,
                                const struct build_device_params *params,
                                struct stream *stream, bool *can,
                                struct error *error)
{
    rows->columns = stream_device_columns(stream);
    if (rows->columns == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        device_store_init(&rows->store, params->device, rows->columns,
                          stream->step->column_count, &rows->times, error);
    if (status != VDBQ_OK)
        return status;
    rows->store.sink.reads = params->wanted;
    *can = has_room(rows, params->wanted, stream->rows_most);
    return *can ? device_store_room(&rows->store, rows_expected(rows, stream),
                                    error)
                : VDBQ_OK;
}

/* Drains the stream into the device's memory. */
static enum vdbq_status take_all(struct build_device *rows,
                                 struct stream *stream, struct error *error)
{
    struct sink *sink = &rows->store.sink;
    stream_sink(stream, sink);
    enum vdbq_status status = stream_drain(stream, error);
    assert(rows->store.rows <= stream->rows_most || status != VDBQ_OK);
    return status == VDBQ_OK ? sink->wait(sink, error) : status;
}

enum vdbq_status build_device_take(const struct build_device_params *params,
                                   struct stream *stream,
                                   struct build_device **rows,
                                   struct error *error)
{
    bool can = false;
    *rows = NULL;
    if (params->device == NULL || !stream_bounded(stream)
        || stream_device(stream, NULL) != params->device)
        return VDBQ_OK;
    struct build_device *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    enum vdbq_status status = prepare(made, params, stream, &can, error);
    if (status == VDBQ_OK && can)
        status = take_all(made, stream, error);
    if (status == VDBQ_OK && can) {
        *rows = made;
        return VDBQ_OK;
    }
    build_device_free(made);
    return status;
}

void build_device_free(struct build_device *rows)
{
    struct error ignored;
    if (rows == NULL)
        return;
    if (rows->store.memory != NULL)
        device_calls_wait(rows->store.device, &rows->times, &ignored);
    device_store_finish(&rows->store);
    memory_release(rows->columns);
    memory_release(rows);
}

uint64_t build_device_rows(const struct build_device *rows)
{
    return rows->store.rows;
}

const struct device_column *build_device_column(const struct build_device *rows,
                                                unsigned column)
{
    assert(column < rows->store.column_count);
    return &rows->columns[column];
}

/* -------------------------------------------------------------- putting -- */

enum vdbq_status build_device_copy(struct build_device *rows, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to,
                                   const struct build_input *place,
                                   struct error *error)
{
    return device_store_copy(
        &rows->store, column, first, count, to, place->values,
        place->nulls != 0 ? place->nulls : UINT64_MAX, error);
}

/* Marks all slots of the index as free. */
static enum vdbq_status clear(struct build_device *rows,
                              const struct key_index *index,
                              struct device_memory *to, struct error *error)
{
    uint64_t width = index->kind == INDEX_DENSE ? 1 : 2;
    uint64_t count = index->count * width;
    return device_call(
        rows->store.device,
        &(struct device_call){ .kernel = KERNEL_INDEX_CLEAR,
                               .memories = { to },
                               .memory_count = 1,
                               .numbers = { index->slots, count },
                               .number_count = 2,
                               .items = count },
        &rows->times, error);
}

enum vdbq_status build_device_index(struct build_device *rows,
                                    const struct key_index *index,
                                    struct device_memory *to,
                                    const struct build_input *keys,
                                    unsigned width, struct error *error)
{
    assert(rows->store.memory != NULL);
    bool dense = index->kind == INDEX_DENSE;
    assert(dense || index->kind == INDEX_HASHED);
    struct device_call call = {
        .kernel = dense ? KERNEL_INDEX_DENSE : KERNEL_INDEX_HASHED,
        .memories = { to },
        .memory_count = 1,
        .numbers = { keys->values, keys->nulls,
                     rows->store.rows | (uint64_t)width << 32, index->slots,
                     index->count, (uint64_t)index->base },
        .number_count = dense ? 6 : 5,
        .items = rows->store.rows
    };
    if (index->count == 0)
        return VDBQ_OK;
    assert(rows->store.rows <= KEY_ROWS_MAX);
    enum vdbq_status status = clear(rows, index, to, error);
    return status == VDBQ_OK && rows->store.rows > 0
               ? device_call(rows->store.device, &call, &rows->times, error)
               : status;
}

enum vdbq_status build_device_wait(struct build_device *rows,
                                   struct device_times *times,
                                   struct error *error)
{
    enum vdbq_status status =
        device_calls_wait(rows->store.device, &rows->times, error);
    times->kernel_ns += rows->times.kernel_ns;
    times->compile_ns += rows->times.compile_ns;
    times->launches += rows->times.launches;
    rows->times = (struct device_times){ 0 };
    return status;
}
