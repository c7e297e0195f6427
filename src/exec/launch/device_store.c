/* SPDX-License-Identifier: MIT */
/*
 * Rows in a device's memory: see device_store.h. The room doubles where it is
 * too small, and the rows are moved by the device.
 */
#include "exec/launch/device_store.h"

#include <assert.h>
#include <string.h>

#include "cl/tablet.h"
#include "device/kernel.h"

enum { ROWS_ROOM_FIRST = 1 << 10, WRITE_ROWS = 1 << 20 };

static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error);
static enum vdbq_status sink_wait(struct sink *sink, struct error *error);

uint64_t device_places(const struct device_column *columns, const bool *reads,
                       unsigned count, uint64_t rows,
                       struct device_place *places)
{
    uint64_t at = 0;
    for (unsigned i = 0; i < count; i++) {
        bool read = reads == NULL || reads[i];
        struct device_place own = { .values = at,
                                    .nulls = UINT64_MAX,
                                    .width = row_set_width(columns[i].type) };
        at = read ? TABLET_ALIGNED(at + rows * own.width) : at;
        if (read && columns[i].nullable) {
            own.nulls = at;
            at = TABLET_ALIGNED(at + rows);
        }
        if (places != NULL)
            places[i] = own;
    }
    return at > 0 ? at : TABLET_ALIGN;
}

struct output device_place_output(const struct device_place *place)
{
    bool nulls = place->nulls != UINT64_MAX;
    return (struct output){ .values = place->values,
                            .nulls = nulls ? place->nulls : 0,
                            .null_register = nulls ? 0 : -1,
                            .width = place->width };
}

/* Places the columns of a store for so many rows. */
static uint64_t place_all(const struct device_store *store, uint64_t rows,
                          struct device_place *places)
{
    return device_places(store->columns, store->sink.reads, store->column_count,
                         rows, places);
}

static bool is_read(const struct device_store *store, unsigned column)
{
    return store->sink.reads == NULL || store->sink.reads[column];
}

enum vdbq_status
device_store_init(struct device_store *store, struct device *device,
                  const struct device_column *columns, unsigned column_count,
                  struct device_times *times, struct error *error)
{
    *store = (struct device_store){
        .sink = { .take = sink_take, .wait = sink_wait },
        .device = device,
        .times = times,
        .columns = columns,
        .column_count = column_count,
        .places = memory_zeroed(column_count + 1, sizeof *store->places),
    };
    return store->places != NULL ? VDBQ_OK : error_no_memory(error);
}

void device_store_finish(struct device_store *store)
{
    device_memory_release(store->memory);
    memory_release(store->places);
    *store = (struct device_store){ 0 };
}

/* ----------------------------------------------------------------- room -- */

/* Copies `count` values of `width` bytes from row `first` on to row `to_row`
 * of what begins at `to_at`. */
struct copying {
    struct device_memory *from, *to;
    uint64_t from_at, to_at; /* bytes */
    unsigned width;
    uint64_t first, count, to_row;
};

static enum vdbq_status copy(struct device_store *store,
                             const struct copying *copying, struct error *error)
{
    return device_call(
        store->device,
        &(struct device_call){ .kernel = KERNEL_SORT_KEEP,
                               .memories = { copying->from, copying->to },
                               .memory_count = 2,
                               .numbers = { copying->from_at, copying->to_at,
                                            copying->width, copying->first,
                                            copying->count, copying->to_row },
                               .number_count = 6,
                               .items = copying->count },
        store->times, error);
}

/* Copies values that the device has to the store's memory, behind its rows. */
static enum vdbq_status keep(struct device_store *store,
                             const struct sink_rows *rows, uint64_t from,
                             uint64_t to, unsigned width, struct error *error)
{
    return copy(store,
                &(struct copying){ .from = rows->memory,
                                   .to = store->memory,
                                   .from_at = from,
                                   .to_at = to,
                                   .width = width,
                                   .first = rows->start,
                                   .count = rows->count,
                                   .to_row = store->rows },
                error);
}

enum vdbq_status device_store_copy(struct device_store *store, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to, uint64_t values_at,
                                   uint64_t nulls_at, struct error *error)
{
    assert(column < store->column_count && is_read(store, column));
    assert(first + count <= store->rows);
    const struct device_place *place = &store->places[column];
    struct copying copying = { .from = store->memory,
                               .to = to,
                               .from_at = place->values,
                               .to_at = values_at,
                               .width = place->width,
                               .first = first,
                               .count = count };
    enum vdbq_status status = copy(store, &copying, error);
    if (status != VDBQ_OK || nulls_at == UINT64_MAX)
        return status;
    assert(place->nulls != UINT64_MAX);
    copying.from_at = place->nulls;
    copying.to_at = nulls_at;
    copying.width = 1;
    return copy(store, &copying, error);
}

/* Moves the rows from where they were. */
static enum vdbq_status move(struct device_store *store,
                             struct device_memory *memory,
                             const struct device_place *places,
                             struct error *error)
{
    struct sink_rows rows = { .memory = memory, .count = store->rows };
    enum vdbq_status status = VDBQ_OK;
    store->rows = 0;
    for (unsigned i = 0; i < store->column_count && status == VDBQ_OK; i++) {
        if (is_read(store, i))
            status = keep(store, &rows, places[i].values,
                          store->places[i].values, places[i].width, error);
        if (status == VDBQ_OK && places[i].nulls != UINT64_MAX)
            status = keep(store, &rows, places[i].nulls, store->places[i].nulls,
                          1, error);
    }
    store->rows = rows.count;
    return status;
}

enum vdbq_status device_store_room(struct device_store *store, uint64_t rows,
                                   struct error *error)
{
    struct device_memory *before = store->memory;
    struct device_place *places;
    assert(store->places != NULL);
    uint64_t room = 2 * store->rows_room;
    enum vdbq_status status;
    if (rows <= store->rows_room && before != NULL)
        return VDBQ_OK;
    if (rows > ROW_SET_ROWS_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "more than %u rows on the device for one step of a "
                         "query",
                         ROW_SET_ROWS_MAX);
    room = room > rows ? room : rows;
    room = room > ROWS_ROOM_FIRST ? room : ROWS_ROOM_FIRST;
    if (place_all(store, room, NULL)
        > device_facts(store->device)->buffer_max_bytes)
        room = rows;
    places = memory_zeroed(store->column_count + 1, sizeof *places);
    if (places == NULL)
        return error_no_memory(error);
    status = device_memory_create(store->device, MEMORY_DEVICE,
                                  place_all(store, room, places),
                                  &store->memory, error);
    if (status != VDBQ_OK) {
        store->memory = before;
        memory_release(places);
        return status;
    }
    store->rows_room = room;
    struct device_place *old = store->places;
    store->places = places;
    if (store->rows > 0)
        status = move(store, before, old, error);
    if (before != NULL && status == VDBQ_OK)
        status = sink_wait(&store->sink, error);
    device_memory_release(before);
    memory_release(old);
    return status;
}

/* --------------------------------------------------------------- taking -- */

static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error)
{
    struct device_store *store = (struct device_store *)sink;
    enum vdbq_status status =
        device_store_room(store, store->rows + rows->count, error);
    for (unsigned i = 0; i < store->column_count && status == VDBQ_OK; i++) {
        const struct device_place *place = &store->places[i];
        if (is_read(store, i))
            status = keep(store, rows, rows->outputs[i].values, place->values,
                          place->width, error);
        if (status == VDBQ_OK && place->nulls != UINT64_MAX)
            status = keep(store, rows, rows->outputs[i].nulls, place->nulls, 1,
                          error);
    }
    store->rows += rows->count;
    assert(status != VDBQ_OK || store->rows <= store->rows_room);
    return status;
}

static enum vdbq_status sink_wait(struct sink *sink, struct error *error)
{
    struct device_store *store = (struct device_store *)sink;
    return device_calls_wait(store->device, store->times, error);
}

/* ----------------------------------------------------------- a row set -- */

/* Copies bytes of the host to the store's memory, through pinned memory. */
static enum vdbq_status write(struct device_store *store,
                              struct device_memory *pinned, uint64_t at,
                              const uint8_t *bytes, uint64_t size,
                              struct error *error)
{
    uint64_t room = device_memory_size(pinned);
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t done = 0; done < size && status == VDBQ_OK; done += room) {
        uint64_t some = size - done < room ? size - done : room;
        memcpy(device_memory_host(pinned), bytes + done, some);
        status =
            device_write(store->memory, at + done, device_memory_host(pinned),
                         some, store->times, error);
    }
    return status;
}

enum vdbq_status device_store_fill(struct device_store *store,
                                   const struct row_set *row_set,
                                   struct error *error)
{
    assert(store->rows == 0 && store->column_count <= row_set->column_count);
    uint64_t rows = row_set->rows;
    struct device_memory *pinned = NULL;
    enum vdbq_status status = device_store_room(store, rows, error);
    if (status == VDBQ_OK)
        status = device_memory_create(
            store->device, MEMORY_PINNED,
            (rows < WRITE_ROWS ? rows + 1 : WRITE_ROWS) * sizeof(uint64_t),
            &pinned, error);
    for (unsigned i = 0; i < store->column_count && status == VDBQ_OK; i++) {
        const struct row_set_column *column = &row_set->columns[i];
        const struct device_place *place = &store->places[i];
        status = write(store, pinned, place->values, column->values,
                       rows * place->width, error);
        if (status == VDBQ_OK && place->nulls != UINT64_MAX)
            status =
                write(store, pinned, place->nulls, column->nulls, rows, error);
    }
    device_memory_release(pinned);
    if (status == VDBQ_OK)
        store->rows = rows;
    return status;
}
