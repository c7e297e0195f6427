/* SPDX-License-Identifier: MIT */
/*
 * A stream of rows that were gathered before anybody asked for them: where
 * what is to be done with them depends on how many there are.
 */
#include "exec/rows/replay.h"
#include "exec/stream/stream_inner.h"

struct gathered_stream {
    struct stream head;
    struct replay rows;
};

static enum vdbq_status gathered_batch(struct stream *stream,
                                       struct vdbq_batch *batch,
                                       struct error *error)
{
    (void)error;
    replay_batch(&((struct gathered_stream *)stream)->rows, batch);
    return VDBQ_OK;
}

static struct words *gathered_words(const struct stream *stream,
                                    unsigned column)
{
    return ((const struct gathered_stream *)stream)
        ->rows.relation.columns[column]
        .words;
}

static void gathered_close(struct stream *stream)
{
    replay_finish(&((struct gathered_stream *)stream)->rows);
}

static const struct stream_calls gathered_calls = {
    .batch = gathered_batch,
    .words = gathered_words,
    .close = gathered_close,
};

enum vdbq_status stream_gathered(struct stream **stream, struct error *error)
{
    struct stream *from = *stream;
    size_t inputs = from->step->inputs.count;
    struct gathered_stream *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;
    if (made == NULL)
        return error_no_memory(error);
    made->head = (struct stream){ .calls = &gathered_calls,
                                  .params = from->params,
                                  .step = from->step,
                                  .replays = true };
    made->head.inputs = memory_zeroed(inputs + 1, sizeof *made->head.inputs);
    status = made->head.inputs != NULL ? VDBQ_OK : error_no_memory(error);
    if (status == VDBQ_OK)
        status = stream_gather(from, &made->rows.relation, error);
    if (status == VDBQ_OK)
        status = replay_begin(&made->rows, error);
    made->head.rows_most = made->rows.relation.rows;
    if (status != VDBQ_OK) {
        stream_close(&made->head);
        return status;
    }
    stream_close(from);
    *stream = &made->head;
    return VDBQ_OK;
}

const struct relation *stream_relation(const struct stream *stream)
{
    return stream->calls == &gathered_calls
               ? &((const struct gathered_stream *)stream)->rows.relation
               : NULL;
}
