/* SPDX-License-Identifier: MIT */
/*
 * STEP_LIMIT: passes over the first rows, and ends before its input does. Where it
 * gives none, there is no input: nobody asks for what that would compute.
 */
#include <assert.h>

#include "base/threads/stop.h"

#include "exec/stream/stream_inner.h"

enum { FEW_MOST = 1 << 16 }; /* rows, for which others are not worth making */

struct limit_stream {
    struct stream head;          /* first */
    uint64_t offset;             /* rows still to pass over */
    uint64_t left;               /* rows still to give      */
    struct vdbq_vector *vectors; /* of a batch that was cut in front */
    struct dictionary *no_words; /* of texts, where there is no input */
};

/* Tells the input how many rows are asked for. */
static void tell_input(struct stream *stream)
{
    const struct step_limit *asked = &stream->limit;
    stream->rows_most = stream->inputs[0]->rows_most;
    if (stream->rows_most > asked->limit)
        stream->rows_most = asked->limit;
    if (asked->offset < FEW_MOST && asked->limit < FEW_MOST)
        stream_few(stream->inputs[0], asked->offset + asked->limit);
}

static enum vdbq_status limit_open(struct stream *stream, struct error *error)
{
    struct limit_stream *limit = (struct limit_stream *)stream;
    limit->offset = stream->limit.offset;
    limit->left = stream->limit.limit;
    limit->vectors =
        memory_zeroed(stream->step->column_count, sizeof *limit->vectors);
    if (stream->inputs[0] != NULL)
        tell_input(stream);
    else
        limit->no_words = dictionary_make(NULL, 0, NULL);
    bool made = stream->inputs[0] != NULL || limit->no_words != NULL;
    return limit->vectors != NULL && made ? VDBQ_OK : error_no_memory(error);
}

/* Cuts rows off the start of a batch. */
static void cut(struct limit_stream *limit, struct vdbq_batch *batch,
                uint64_t rows)
{
    assert(rows <= batch->rows);
    for (unsigned i = 0; i < batch->columns; i++) {
        struct vdbq_vector *vector = &limit->vectors[i];
        *vector = batch->column[i];
        vector->values =
            (const char *)vector->values + rows * row_set_width(vector->type);
        if (vector->nulls != NULL)
            vector->nulls += rows;
    }
    batch->column = limit->vectors;
    batch->rows -= rows;
}

/* Passes over whole batches, then cuts the first one that is left. */
static enum vdbq_status limit_batch(struct stream *stream,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    struct limit_stream *limit = (struct limit_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    assert(limit->left == 0 || stream->inputs[0] != NULL);
    while (status == VDBQ_OK && limit->left > 0) {
        status = stream_batch(stream->inputs[0], batch, error);
        if (status != VDBQ_OK || batch->rows == 0)
            return status;
        if (batch->rows > limit->offset)
            break;
        limit->offset -= batch->rows;
        batch->rows = 0;
        status = stop_pause(error);
    }
    if (status != VDBQ_OK)
        return status;
    if (batch->rows > 0 && limit->offset > 0)
        cut(limit, batch, limit->offset);
    limit->offset = 0;
    if (batch->rows > limit->left)
        batch->rows = limit->left;
    limit->left -= batch->rows;
    return VDBQ_OK;
}

/* Columns keep their dictionaries. */
static struct dictionary *limit_dictionary(const struct stream *stream,
                                           unsigned column)
{
    bool text = stream->step->columns[column].type == VDBQ_TEXT;
    if (stream->inputs[0] != NULL)
        return stream_dictionary(stream->inputs[0], column);
    return text ? ((const struct limit_stream *)stream)->no_words : NULL;
}

static void limit_close(struct stream *stream)
{
    struct limit_stream *limit = (struct limit_stream *)stream;
    memory_release(limit->vectors);
    dictionary_release(limit->no_words);
}

const struct stream_kind limit_stream = {
    .size = sizeof(struct limit_stream),
    .calls = { .batch = limit_batch,
               .dictionary = limit_dictionary,
               .close = limit_close },
    .open = limit_open,
};
