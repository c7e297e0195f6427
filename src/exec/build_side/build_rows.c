/* SPDX-License-Identifier: MIT */
/*
 * Takes build rows, and puts their columns where a program reads them.
 */
#include "exec/build_side/build_rows.h"

#include <assert.h>

#include "cl/tablet.h"
#include "exec/stream/stream_inner.h"

/* Makes the row set of rows that the device took: without rows. */
static enum vdbq_status describe(struct build_rows *rows, struct stream *stream,
                                 struct error *error)
{
    const struct step *step = stream->step;
    enum vdbq_status status =
        row_set_init(&rows->row_set, step->columns, step->column_count, error);
    for (unsigned i = 0; i < step->column_count && status == VDBQ_OK; i++)
        if (step->columns[i].type == VDBQ_TEXT)
            row_set_dictionary(&rows->row_set, i,
                               dictionary_hold(stream_dictionary(stream, i)));
    rows->row_set.rows = rows->device_rows.store.rows;
    return status;
}

enum vdbq_status build_rows_begin(struct build_rows *rows,
                                  struct stream *stream,
                                  const struct build_rows_params *params,
                                  struct error *error)
{
    if (params->device == NULL || stream_device(stream, NULL) != params->device)
        return VDBQ_OK;
    return stream_keep_begin(stream,
                             &(struct stream_keep){ .reads = params->wanted },
                             &rows->device_rows, &rows->on_device, error);
}

enum vdbq_status build_rows_take(struct build_rows *rows, struct stream *stream,
                                 struct error *error)
{
    if (!rows->on_device)
        return stream_materialise(stream, &rows->row_set, error);
    enum vdbq_status status =
        stream_keep_end(stream, &rows->device_rows, error);
    return status == VDBQ_OK ? describe(rows, stream, error) : status;
}

void build_rows_finish(struct build_rows *rows)
{
    row_set_finish(&rows->row_set);
    device_rows_finish(&rows->device_rows);
    *rows = (struct build_rows){ 0 };
}

bool build_rows_nullable(const struct build_rows *rows, unsigned column)
{
    return rows->on_device ? rows->device_rows.columns[column].nullable
                           : rows->row_set.columns[column].nulls != NULL;
}

struct build_input build_rows_place(uint64_t rows, unsigned width, bool nulls,
                                    u64 *end)
{
    assert(*end % TABLET_ALIGN == 0);
    struct build_input place = { .values = *end };
    *end = TABLET_ALIGNED(*end + rows * width);
    if (!nulls)
        return place;
    place.nulls = *end;
    *end = TABLET_ALIGNED(*end + rows);
    return place;
}

enum vdbq_status build_rows_write(struct build_rows *rows, unsigned column,
                                  uint64_t first, uint64_t count,
                                  struct device_memory *to,
                                  const struct build_input *place,
                                  struct device_times *times,
                                  struct error *error)
{
    const struct row_set_column *from = &rows->row_set.columns[column];
    enum vdbq_status status;
    if (rows->on_device) {
        status = build_device_copy(&rows->device_rows, column, first, count, to,
                                   place, error);
        return status == VDBQ_OK
                   ? build_device_wait(&rows->device_rows, times, error)
                   : status;
    }
    assert(first + count <= rows->row_set.rows);
    status = device_write(to, place->values,
                          (const u8 *)from->values + first * from->width,
                          count * from->width, times, error);
    assert(place->nulls == 0 || from->nulls != NULL);
    if (status == VDBQ_OK && place->nulls != 0)
        status = device_write(to, place->nulls, from->nulls + first, count,
                              times, error);
    return status;
}
