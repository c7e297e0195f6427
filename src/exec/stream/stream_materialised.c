/* SPDX-License-Identifier: MIT */
/*
 * Materialising the rows of a stream; and a stream of rows that were materialised
 * before anybody asked for them: where what is to be done with them depends on how
 * many there are.
 */
#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"

/* ---------------------------------------------------- materialising -- */

enum vdbq_status stream_materialise_begin(struct stream *stream,
                                          struct row_set *row_set,
                                          struct error *error)
{
    enum vdbq_status status = row_set_init(row_set, stream->step->columns,
                                           stream->step->column_count, error);
    stream_close_up(stream);
    for (unsigned i = 0; i < row_set->column_count && status == VDBQ_OK; i++)
        if (row_set->columns[i].type == VDBQ_TEXT)
            row_set_dictionary(row_set, i,
                               dictionary_hold(stream_dictionary(stream, i)));
    return status;
}

/* Takes the next batches; also those in front of a failure. */
static enum vdbq_status materialise_next(struct stream *stream,
                                         struct batches *batches,
                                         struct row_set *row_set,
                                         struct error *error)
{
    enum vdbq_status status = stream_batches(stream, batches, error);
    struct error failure = *error;
    if (batches->count == 0)
        return status;
    enum vdbq_status appended =
        row_set_append_all(row_set, batches, stream->params->threads, error);
    if (appended == VDBQ_OK && status != VDBQ_OK)
        *error = failure;
    return appended == VDBQ_OK ? status : appended;
}

enum vdbq_status stream_materialise_more(struct stream *stream,
                                         struct row_set *row_set, uint64_t rows,
                                         bool *ended, struct error *error)
{
    struct batches batches;
    enum vdbq_status status =
        batches_init(&batches, stream->step->column_count, error);
    *ended = false;
    while (status == VDBQ_OK && !*ended && row_set->rows < rows) {
        status = materialise_next(stream, &batches, row_set, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
        *ended = status == VDBQ_OK && batches.count == 0;
    }
    batches_finish(&batches);
    return status;
}

enum vdbq_status stream_materialise(struct stream *stream,
                                    struct row_set *row_set,
                                    struct error *error)
{
    bool ended;
    enum vdbq_status status = stream_materialise_begin(stream, row_set, error);
    return status == VDBQ_OK ? stream_materialise_more(
               stream, row_set, UINT64_MAX, &ended, error)
                             : status;
}

enum vdbq_status stream_materialise_some(struct stream *stream,
                                         struct row_set *row_set,
                                         struct error *error)
{
    enum vdbq_status status =
        stream_materialise(stream->inputs[0], row_set, error);
    return stream_row_failed(status) ? stream_hold(stream, error) : status;
}

/* -------------------------------------------------------------- stream -- */

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
