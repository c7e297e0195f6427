/* SPDX-License-Identifier: MIT */
/*
 * STEP_WORKING: the rows of the round before, in a recursion's term. They are others
 * each time that the term's streams are opened again.
 */
#include <assert.h>

#include "exec/recurse/recurse_round.h"
#include "exec/stream/stream_inner.h"

struct working_stream {
    struct stream head;           /* first */
    struct recurse_reader reader; /* of the round */
};

static const struct recurse_round *round_of(const struct stream *stream)
{
    assert(stream->params->round != NULL);
    return stream->params->round;
}

static enum vdbq_status working_again(struct stream *stream,
                                      struct error *error)
{
    (void)error;
    stream->rows_most = recurse_round_rows(round_of(stream));
    recurse_reader_begin(&((struct working_stream *)stream)->reader);
    return VDBQ_OK;
}

/* Words are asked for once, when streams are opened: with texts it is closed. */
static bool working_rest(struct stream *stream)
{
    for (unsigned i = 0; i < stream->step->column_count; i++)
        if (stream->step->columns[i].type == VDBQ_TEXT)
            return false;
    return true;
}

static enum vdbq_status working_batch(struct stream *stream,
                                      struct vdbq_batch *batch,
                                      struct error *error)
{
    return recurse_reader_batch(&((struct working_stream *)stream)->reader,
                                round_of(stream), batch, error);
}

static struct dictionary *working_dictionary(const struct stream *stream,
                                             unsigned column)
{
    return round_of(stream)->rows.columns[column].dictionary;
}

static void working_close(struct stream *stream)
{
    recurse_reader_finish(&((struct working_stream *)stream)->reader);
}

const struct stream_kind working_stream = {
    .size = sizeof(struct working_stream),
    .calls = { .batch = working_batch,
               .dictionary = working_dictionary,
               .rest = working_rest,
               .again = working_again,
               .close = working_close },
    .open = working_again,
};
