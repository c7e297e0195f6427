/* SPDX-License-Identifier: MIT */
/*
 * Rows of a batch as a row set, without copying them.
 */
#include "exec/join/join.h"

#include <assert.h>

enum vdbq_status join_view_init(struct row_set *row_set,
                                const struct stream *stream,
                                struct error *error)
{
    const struct step *step = stream->step;
    enum vdbq_status status =
        row_set_init(row_set, step->columns, step->column_count, error);
    for (unsigned i = 0; i < step->column_count && status == VDBQ_OK; i++)
        row_set_dictionary(row_set, i,
                           dictionary_hold(stream_dictionary(stream, i)));
    return status;
}

void join_view_finish(struct row_set *row_set)
{
    for (unsigned i = 0; i < row_set->column_count; i++) {
        row_set->columns[i].values = NULL;
        row_set->columns[i].nulls = NULL;
    }
    row_set_finish(row_set);
}

void join_view(struct row_set *row_set, const struct vdbq_batch *batch,
               uint64_t first, uint64_t rows)
{
    assert(row_set->column_count <= batch->columns);
    assert(first + rows <= batch->rows);
    row_set->rows = rows;
    for (unsigned i = 0; i < row_set->column_count; i++) {
        const struct vdbq_vector *from = &batch->column[i];
        struct row_set_column *to = &row_set->columns[i];
        to->values = (char *)from->values + first * to->width;
        to->nulls = from->nulls != NULL ? (uint8_t *)from->nulls + first : NULL;
    }
}
