/* SPDX-License-Identifier: MIT */
/*
 * STEP_GATHER of rows. Rank 0 gives its own, then those of rank 1, and so on:
 * since each has a share of the tablets side by side, they come in the order in
 * which one process would give them, and so does a failure. The others send
 * their rows and give none.
 */
#include "exec/gather/gather_batches.h"

struct gather_rows {
    struct stream head; /* first */
    struct gather_batches batches;
    struct gather_source source; /* whose rows come */
};

static enum vdbq_status gather_rows_open(struct stream *stream,
                                         struct error *error)
{
    struct gather_rows *gather = (struct gather_rows *)stream;
    rank_spend_run(stream->params->ranks, RANK_COMPUTE);
    stream->rows_most = stream->inputs[0]->rows_most;
    enum vdbq_status status =
        gather_batches_init(&gather->batches, stream, error);
    if (status == VDBQ_OK
        && !gather_source_init(&gather->source, &gather->batches, 0))
        status = error_no_memory(error);
    return status;
}

static enum vdbq_status gather_rows_batch(struct stream *stream,
                                          struct vdbq_batch *batch,
                                          struct error *error)
{
    struct gather_rows *gather = (struct gather_rows *)stream;
    const struct ranks *ranks = stream->params->ranks;
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    if (ranks != NULL && ranks->rank > 0)
        return gather_batches_send(&gather->batches, error);
    while (status == VDBQ_OK && batch->rows == 0
           && gather->source.rank < gather->batches.words.ranks) {
        status = gather_batches_take(&gather->batches, &gather->source, batch,
                                     error);
        gather->source.rank += status == VDBQ_OK && batch->rows == 0;
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

static struct dictionary *gather_rows_dictionary(const struct stream *stream,
                                                 unsigned column)
{
    return gather_batches_dictionary(
        &((const struct gather_rows *)stream)->batches, column);
}

static void gather_rows_close(struct stream *stream)
{
    struct gather_rows *gather = (struct gather_rows *)stream;
    gather_source_finish(&gather->source);
    gather_batches_finish(&gather->batches);
}

const struct stream_kind gather_rows_stream = {
    .size = sizeof(struct gather_rows),
    .calls = { .batch = gather_rows_batch,
               .dictionary = gather_rows_dictionary,
               .close = gather_rows_close },
    .open = gather_rows_open,
};
