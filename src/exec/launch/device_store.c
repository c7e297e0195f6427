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
#include "exec/launch/keeping.h"

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

/* Columns that come from a sender. */
static unsigned sent_count(const struct device_store *store)
{
    assert(store->made_count <= store->column_count);
    return store->column_count - store->made_count;
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

/* Copies of a store's rows: the caller sets what is copied, and where from and to. */
static struct keeping keeping_of(const struct device_store *store)
{
    return (struct keeping){ .device = store->device, .times = store->times };
}

/* Adds a column: its values and, where it has any, its NULL flags. */
static enum vdbq_status keep_column(struct keeping *keeping,
                                    const struct device_place *from,
                                    const struct device_place *to,
                                    struct error *error)
{
    assert(to->nulls == KEEP_NOWHERE || from->nulls != KEEP_NOWHERE);
    return keeping_add_with_nulls(keeping,
                                  &(struct keep_column){ .from = from->values,
                                                         .to = to->values,
                                                         .width = to->width },
                                  from->nulls, to->nulls, error);
}

/* Copies rows that the device has to the store's memory, behind its own; they lie
 * at `places`. */
static enum vdbq_status keep(struct device_store *store,
                             const struct sink_rows *rows,
                             const struct device_place *places,
                             struct error *error)
{
    struct keeping keeping = keeping_of(store);
    enum vdbq_status status = VDBQ_OK;
    keeping.from = rows->memory;
    keeping.to = store->memory;
    keeping.keep = (struct keep){ .first = rows->start,
                                  .count = rows->count,
                                  .place = store->rows };
    for (unsigned i = 0; i < sent_count(store) && status == VDBQ_OK; i++)
        if (is_read(store, i))
            status =
                keep_column(&keeping, &places[i], &store->places[i], error);
    return status == VDBQ_OK ? keeping_send(&keeping, error) : status;
}

enum vdbq_status device_store_copy(struct device_store *store, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to, uint64_t values_at,
                                   uint64_t nulls_at, struct error *error)
{
    assert(column < store->column_count && is_read(store, column));
    assert(first + count <= store->rows);
    const struct device_place *place = &store->places[column];
    struct keeping keeping = keeping_of(store);
    keeping.from = store->memory;
    keeping.to = to;
    keeping.keep = (struct keep){ .first = first, .count = count };
    enum vdbq_status status = keep_column(
        &keeping, place,
        &(struct device_place){
            .values = values_at, .nulls = nulls_at, .width = place->width },
        error);
    return status == VDBQ_OK ? keeping_send(&keeping, error) : status;
}

/* Moves the rows from where they were. */
static enum vdbq_status move(struct device_store *store,
                             struct device_memory *memory,
                             const struct device_place *places,
                             struct error *error)
{
    struct sink_rows rows = { .memory = memory, .count = store->rows };
    store->rows = 0;
    enum vdbq_status status = keep(store, &rows, places, error);
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

/* Where the columns of rows lie that are taken: all that the store reads have
 * outputs. */
static enum vdbq_status places_of(const struct device_store *store,
                                  const struct output *outputs,
                                  struct device_place **places,
                                  struct error *error)
{
    *places = memory_zeroed(store->column_count + 1, sizeof **places);
    if (*places == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < sent_count(store); i++)
        if (is_read(store, i))
            (*places)[i] = (struct device_place){ .values = outputs[i].values,
                                                  .nulls = outputs[i].nulls };
    return VDBQ_OK;
}

static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error)
{
    struct device_store *store = (struct device_store *)sink;
    struct device_place *places = NULL;
    enum vdbq_status status =
        device_store_room(store, store->rows + rows->count, error);
    if (status == VDBQ_OK)
        status = places_of(store, rows->outputs, &places, error);
    if (status == VDBQ_OK)
        status = keep(store, rows, places, error);
    memory_release(places);
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
    assert(store->rows == 0 && sent_count(store) <= row_set->column_count);
    uint64_t rows = row_set->rows;
    struct device_memory *pinned = NULL;
    enum vdbq_status status = device_store_room(store, rows, error);
    if (status == VDBQ_OK)
        status = device_memory_create(
            store->device, MEMORY_PINNED,
            (rows < WRITE_ROWS ? rows + 1 : WRITE_ROWS) * sizeof(uint64_t),
            &pinned, error);
    for (unsigned i = 0; i < sent_count(store) && status == VDBQ_OK; i++) {
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
