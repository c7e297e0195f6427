/* SPDX-License-Identifier: MIT */
/*
 * A row set that views rows of a stream's batches (row_set_view()).
 */
#include "exec/join/join.h"

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
