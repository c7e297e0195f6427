/* SPDX-License-Identifier: MIT */
/*
 * A stream of rows that were materialised before anybody asked for them: where
 * what is to be done with them depends on how many there are.
 */
#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"

struct materialised_stream {
    struct stream head;
    struct rescan rows;
};

static enum vdbq_status materialised_batch(struct stream *stream,
                                           struct vdbq_batch *batch,
                                           struct error *error)
{
    (void)error;
    rescan_batch(&((struct materialised_stream *)stream)->rows, batch);
    return VDBQ_OK;
}

static struct dictionary *materialised_dictionary(const struct stream *stream,
                                                  unsigned column)
{
    return ((const struct materialised_stream *)stream)
        ->rows.row_set.columns[column]
        .dictionary;
}

static void materialised_close(struct stream *stream)
{
    rescan_finish(&((struct materialised_stream *)stream)->rows);
}

static const struct stream_calls materialised_calls = {
    .batch = materialised_batch,
    .stays = stream_stays,
    .dictionary = materialised_dictionary,
    .close = materialised_close,
};

enum vdbq_status stream_materialised(struct stream **stream,
                                     struct error *error)
{
    struct stream *from = *stream;
    size_t inputs = from->step->inputs.count;
    struct materialised_stream *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;
    if (made == NULL)
        return error_no_memory(error);
    made->head =
        (struct stream){ .calls = &materialised_calls,
                         .params = from->params,
                         .step = from->step,
                         .memory = { .account = from->params->account },
                         .rescans = true };
    made->head.inputs = memory_zeroed(inputs + 1, sizeof *made->head.inputs);
    made->head.reads = stream_copy_reads(from);
    status = made->head.inputs != NULL && made->head.reads != NULL
                 ? VDBQ_OK
                 : error_no_memory(error);
    if (status == VDBQ_OK)
        status = stream_materialise(from, &made->rows.row_set, error);
    if (status == VDBQ_OK)
        status = rescan_begin(&made->rows, error);
    made->head.rows_most = made->rows.row_set.rows;
    if (status != VDBQ_OK) {
        stream_close(&made->head);
        return status;
    }
    stream_close(from);
    *stream = &made->head;
    return VDBQ_OK;
}

const struct row_set *stream_row_set(const struct stream *stream)
{
    return stream->calls == &materialised_calls
               ? &((const struct materialised_stream *)stream)->rows.row_set
               : NULL;
}
