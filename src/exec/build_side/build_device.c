/* SPDX-License-Identifier: MIT */
/*
 * Rows of a scan, kept on its device: see build_device.h. While they come
 * there is room for all that may; what is left of it goes when they have been
 * copied to where they are probed.
 */
#include "exec/build_side/build_device.h"

#include <assert.h>

#include "cl/tablet.h"
#include "device/kernel.h"
#include "exec/build_side/key_index.h"
#include "exec/stream/stream_inner.h"

enum { MEMORY_SHARE = 4 }; /* of the device's memory that may be used */

/* Where a column is; values UINT64_MAX: it is not kept, nulls likewise. */
struct kept {
    /* byte offset of the first value, and of the NULL flags; UINT64_MAX: not
       kept */
    uint64_t values, nulls;
    unsigned width; /* of a value in bytes */
};

struct build_device {
    struct sink sink;              /* first */
    struct device *device;         /* it holds the rows */
    struct device_column *columns; /* of the stream; owned */
    struct kept *kept;             /* one a column; owned */
    unsigned column_count;         /* of the stream */
    struct device_memory *memory;  /* owned; NULL: no room was made */
    uint64_t rows_most;        /* the stream's bound: there is room for these */
    uint64_t rows;             /* taken so far */
    struct device_times times; /* of the calls so far */
};

/* ---------------------------------------------------------------- taking -- */

/* Copies `count` values of `width` bytes, as the kernel says. */
static enum vdbq_status copy(struct build_device *rows,
                             struct device_memory *from,
                             struct device_memory *to,
                             const uint64_t numbers[6], struct error *error)
{
    struct device_call call = { .kernel = KERNEL_SORT_KEEP,
                                .memories = { from, to },
                                .memory_count = 2,
                                .number_count = 6,
                                .items = numbers[4] };
    for (unsigned i = 0; i < 6; i++)
        call.numbers[i] = numbers[i];
    return numbers[4] > 0
               ? device_call(rows->device, &call, &rows->times, error)
               : VDBQ_OK;
}

static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *from, struct error *error)
{
    struct build_device *rows = (struct build_device *)sink;
    enum vdbq_status status = VDBQ_OK;
    if (rows->rows + from->count > rows->rows_most)
        return error_set(error, VDBQ_LIMIT, "more rows came than were read");
    for (unsigned i = 0; i < rows->column_count && status == VDBQ_OK; i++) {
        const struct kept *kept = &rows->kept[i];
        if (kept->values != UINT64_MAX)
            status = copy(rows, from->memory, rows->memory,
                          (uint64_t[6]){ from->outputs[i].values, kept->values,
                                         kept->width, from->start, from->count,
                                         rows->rows },
                          error);
        if (status == VDBQ_OK && kept->nulls != UINT64_MAX)
            status = copy(rows, from->memory, rows->memory,
                          (uint64_t[6]){ from->outputs[i].nulls, kept->nulls, 1,
                                         from->start, from->count, rows->rows },
                          error);
    }
    rows->rows += from->count;
    return status;
}

static enum vdbq_status sink_wait(struct sink *sink, struct error *error)
{
    struct build_device *rows = (struct build_device *)sink;
    return device_calls_wait(rows->device, &rows->times, error);
}

/* Places the columns that are wanted; the bytes in all. */
static uint64_t place(struct build_device *rows, const bool *wanted)
{
    uint64_t at = 0;
    for (unsigned i = 0; i < rows->column_count; i++) {
        const struct device_column *column = &rows->columns[i];
        struct kept *kept = &rows->kept[i];
        *kept = (struct kept){ UINT64_MAX, UINT64_MAX,
                               row_set_width(column->type) };
        if (!wanted[i])
            continue;
        kept->values = at;
        at = TABLET_ALIGNED(at + rows->rows_most * kept->width);
        if (!column->nullable)
            continue;
        kept->nulls = at;
        at = TABLET_ALIGNED(at + rows->rows_most);
    }
    return at > 0 ? at : 1;
}

/* Whether the rows fit into one buffer and a fair share of the memory. */
static bool has_room(const struct build_device *rows, uint64_t bytes)
{
    const struct device_facts *facts = device_facts(rows->device);
    return device_has_kernels(rows->device) && rows->rows_most > 0
           && rows->rows_most <= KEY_ROWS_MAX
           && bytes <= facts->buffer_max_bytes
           && bytes <= facts->memory_bytes / MEMORY_SHARE;
}

/* Prepares to take the stream's rows; `*can`: there is room. */
static enum vdbq_status prepare(struct build_device *rows,
                                const struct build_device_params *params,
                                struct stream *stream, bool *can,
                                struct error *error)
{
    rows->sink = (struct sink){ .reads = params->wanted,
                                .take = sink_take,
                                .wait = sink_wait };
    rows->device = params->device;
    rows->rows_most = stream->rows_most;
    rows->column_count = stream->step->column_count;
    rows->columns = stream_device_columns(stream);
    rows->kept = memory_zeroed(rows->column_count, sizeof *rows->kept);
    if (rows->columns == NULL || rows->kept == NULL)
        return error_no_memory(error);
    uint64_t bytes = place(rows, params->wanted);
    *can = has_room(rows, bytes);
    return *can ? device_memory_create(rows->device, MEMORY_DEVICE, bytes,
                                       &rows->memory, error)
                : VDBQ_OK;
}

/* Drains the stream into the device's memory. */
static enum vdbq_status take_all(struct build_device *rows,
                                 struct stream *stream, struct error *error)
{
    stream_sink(stream, &rows->sink);
    enum vdbq_status status = stream_drain(stream, error);
    assert(rows->rows <= rows->rows_most || status != VDBQ_OK);
    return status == VDBQ_OK ? sink_wait(&rows->sink, error) : status;
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
    if (rows->memory != NULL) {
        device_calls_wait(rows->device, &rows->times, &ignored);
        device_memory_release(rows->memory);
    }
    memory_release(rows->columns);
    memory_release(rows->kept);
    memory_release(rows);
}

uint64_t build_device_rows(const struct build_device *rows)
{
    return rows->rows;
}

const struct device_column *build_device_column(const struct build_device *rows,
                                                unsigned column)
{
    assert(column < rows->column_count);
    return &rows->columns[column];
}

/* -------------------------------------------------------------- putting -- */

enum vdbq_status build_device_copy(struct build_device *rows, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to,
                                   const struct build_input *place,
                                   struct error *error)
{
    assert(first + count <= rows->rows);
    assert(column < rows->column_count
           && rows->kept[column].values != UINT64_MAX);
    const struct kept *kept = &rows->kept[column];
    enum vdbq_status status =
        copy(rows, rows->memory, to,
             (uint64_t[6]){ kept->values, place->values, kept->width, first,
                            count, 0 },
             error);
    if (status == VDBQ_OK && place->nulls != 0)
        status =
            copy(rows, rows->memory, to,
                 (uint64_t[6]){ kept->nulls, place->nulls, 1, first, count, 0 },
                 error);
    return status;
}

/* Marks all slots of the index as free. */
static enum vdbq_status clear(struct build_device *rows,
                              const struct key_index *index,
                              struct device_memory *to, struct error *error)
{
    uint64_t width = index->kind == INDEX_DENSE ? 1 : 2;
    uint64_t count = index->count * width;
    return device_call(
        rows->device,
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
    assert(rows->memory != NULL);
    bool dense = index->kind == INDEX_DENSE;
    assert(dense || index->kind == INDEX_HASHED);
    struct device_call call = {
        .kernel = dense ? KERNEL_INDEX_DENSE : KERNEL_INDEX_HASHED,
        .memories = { to },
        .memory_count = 1,
        .numbers = { keys->values, keys->nulls,
                     rows->rows | (uint64_t)width << 32, index->slots,
                     index->count, (uint64_t)index->base },
        .number_count = dense ? 6 : 5,
        .items = rows->rows
    };
    if (index->count == 0)
        return VDBQ_OK;
    assert(rows->rows <= KEY_ROWS_MAX);
    enum vdbq_status status = clear(rows, index, to, error);
    return status == VDBQ_OK && rows->rows > 0
               ? device_call(rows->device, &call, &rows->times, error)
               : status;
}

enum vdbq_status build_device_wait(struct build_device *rows,
                                   struct device_times *times,
                                   struct error *error)
{
    enum vdbq_status status =
        device_calls_wait(rows->device, &rows->times, error);
    times->kernel_ns += rows->times.kernel_ns;
    times->compile_ns += rows->times.compile_ns;
    times->launches += rows->times.launches;
    rows->times = (struct device_times){ 0 };
    return status;
}
