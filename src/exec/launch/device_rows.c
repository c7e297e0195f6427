/* SPDX-License-Identifier: MIT */
/*
 * Rows that stay on a device: see device_rows.h.
 */
#include "exec/launch/device_rows.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "device/kernel.h"
#include "exec/launch/resident.h"

enum { FETCH_ROWS = HOSTILE(2, 1 << 20) }; /* of a batch */

/* ----------------------------------------------------------------- rows -- */

enum vdbq_status device_rows_init(struct device_rows *rows,
                                  const struct run_place *place,
                                  struct device_column *columns,
                                  unsigned column_count, struct error *error)
{
    *rows = (struct device_rows){ .place = *place, .columns = columns };
    rows->outputs = memory_zeroed(column_count + 1, sizeof *rows->outputs);
    if (columns == NULL || rows->outputs == NULL)
        return error_no_memory(error);
    return device_store_init(&rows->store, place->device, columns, column_count,
                             &rows->times, error);
}

void device_rows_finish(struct device_rows *rows)
{
    struct error ignored;
    if (rows->store.memory != NULL)
        device_calls_wait(rows->place.device, &rows->times, &ignored);
    if (rows->reserved_bytes > 0)
        resident_return_rows(rows->place.resident, rows->reserved_bytes);
    device_store_finish(&rows->store);
    memory_release(rows->columns);
    memory_release(rows->outputs);
    *rows = (struct device_rows){ 0 };
}

enum vdbq_status device_rows_settle(struct device_rows *rows,
                                    struct error *error)
{
    const struct device_store *store = &rows->store;
    uint64_t bytes =
        store->memory != NULL ? device_memory_size(store->memory) : 0;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < store->column_count; i++)
        rows->outputs[i] = device_place_output(&store->places[i]);
    if (rows->place.resident != NULL && bytes > 0)
        status = resident_reserve_rows(rows->place.resident, bytes, error);
    if (status == VDBQ_OK && rows->place.resident != NULL)
        rows->reserved_bytes = bytes;
    return status;
}

struct sink_rows device_rows_all(const struct device_rows *rows)
{
    return (struct sink_rows){ .memory = rows->store.memory,
                               .outputs = rows->outputs,
                               .count = rows->store.rows };
}

struct device_column *device_rows_columns(const struct device_rows *rows)
{
    unsigned count = rows->store.column_count;
    struct device_column *columns = memory_zeroed(count + 1, sizeof *columns);
    if (columns != NULL)
        memcpy(columns, rows->columns, count * sizeof *columns);
    return columns;
}

/* ---------------------------------------------------------------- fetch -- */

enum vdbq_status device_fetch_init(struct device_fetch *fetch,
                                   struct device *device, unsigned column_count,
                                   struct error *error)
{
    *fetch = (struct device_fetch){
        .device = device,
        .column_count = column_count,
        .places = memory_zeroed(column_count + 1, sizeof *fetch->places),
        .vectors = memory_zeroed(column_count + 1, sizeof *fetch->vectors),
    };
    return fetch->places != NULL && fetch->vectors != NULL
               ? VDBQ_OK
               : error_no_memory(error);
}

void device_fetch_finish(struct device_fetch *fetch)
{
    device_memory_release(fetch->pinned);
    memory_release(fetch->places);
    memory_release(fetch->vectors);
    *fetch = (struct device_fetch){ 0 };
}

/* Makes room for so many bytes on the host. */
static enum vdbq_status host_room(struct device_fetch *fetch, uint64_t bytes,
                                  struct error *error)
{
    if (fetch->pinned != NULL && device_memory_size(fetch->pinned) >= bytes)
        return VDBQ_OK;
    device_memory_release(fetch->pinned);
    fetch->pinned = NULL;
    return device_memory_create(fetch->device, MEMORY_PINNED, bytes,
                                &fetch->pinned, error);
}

/* Brings a column to its place. */
static enum vdbq_status bring(struct device_fetch *fetch,
                              const struct sink_rows *rows, unsigned number,
                              struct error *error)
{
    const struct output *output = &rows->outputs[number];
    const struct device_place *place = &fetch->places[number];
    uint8_t *host = device_memory_host(fetch->pinned);
    assert(place->values + rows->count * place->width
           <= device_memory_size(fetch->pinned));
    enum vdbq_status status = device_read(
        rows->memory, output->values + rows->start * place->width,
        host + place->values, rows->count * place->width, &fetch->times, error);
    if (status == VDBQ_OK && place->nulls != UINT64_MAX)
        status =
            device_read(rows->memory, output->nulls + rows->start,
                        host + place->nulls, rows->count, &fetch->times, error);
    return status;
}

enum vdbq_status device_fetch_rows(struct device_fetch *fetch,
                                   const struct device_column *columns,
                                   const bool *reads,
                                   const struct sink_rows *rows,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    unsigned count = fetch->column_count;
    uint64_t bytes =
        device_places(columns, reads, count, rows->count, fetch->places);
    /* Of what is not read the values are those of anything as wide. */
    uint64_t least = rows->count * sizeof(uint64_t);
    enum vdbq_status status =
        host_room(fetch, bytes > least ? bytes : least, error);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        bool read = reads == NULL || reads[i];
        uint8_t *host = device_memory_host(fetch->pinned);
        const struct device_place *place = &fetch->places[i];
        fetch->vectors[i] = (struct vdbq_vector){
            .type = columns[i].type,
            .values = read ? host + place->values : host,
            .nulls = place->nulls != UINT64_MAX ? host + place->nulls : NULL,
        };
        if (read)
            status = bring(fetch, rows, i, error);
    }
    batch->rows = rows->count;
    batch->column = fetch->vectors;
    return status;
}

/* --------------------------------------------------------------- reader -- */

enum vdbq_status device_reader_init(struct device_reader *reader,
                                    const struct device_rows *rows,
                                    const bool *reads, struct error *error)
{
    *reader = (struct device_reader){ .rows = rows, .reads = reads };
    return device_fetch_init(&reader->fetch, rows->place.device,
                             rows->store.column_count, error);
}

void device_reader_finish(struct device_reader *reader)
{
    device_fetch_finish(&reader->fetch);
}

/* The rows that come next, so many at most. */
static struct sink_rows next_rows(struct device_reader *reader, uint64_t most)
{
    struct sink_rows rows = device_rows_all(reader->rows);
    assert(reader->next <= rows.count);
    rows.start = reader->next;
    rows.count -= reader->next;
    rows.count = rows.count < most ? rows.count : most;
    reader->next += rows.count;
    return rows;
}

enum vdbq_status device_reader_batch(struct device_reader *reader,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    struct sink_rows rows = next_rows(reader, FETCH_ROWS);
    batch->rows = 0;
    return rows.count > 0
               ? device_fetch_rows(&reader->fetch, reader->rows->columns,
                                   reader->reads, &rows, batch, error)
               : VDBQ_OK;
}

enum vdbq_status device_reader_give(struct device_reader *reader,
                                    struct error *error)
{
    struct sink_rows rows = next_rows(reader, UINT64_MAX);
    struct sink *sink = reader->sink;
    assert(sink != NULL);
    if (rows.count == 0)
        return VDBQ_OK;
    sink->rows += rows.count;
    return sink->take(sink, &rows, error);
}
