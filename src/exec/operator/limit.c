/* SPDX-License-Identifier: MIT */
/*
 * STEP_LIMIT: passes over the first rows, and ends before its input does. How
 * many rows that is the step says, or the row of a second input.
 */
#include <assert.h>

#include "base/threads/stop.h"

#include "exec/stream/stream_inner.h"

enum { FEW_MOST = 1 << 16 }; /* rows, for which others are not worth making */

struct limit_stream {
    struct stream head;          /* first */
    uint64_t offset;             /* rows still to pass over */
    uint64_t left;               /* rows still to give      */
    bool counted;                /* both are known          */
    struct vdbq_vector *vectors; /* of a batch that was cut in front */
};

/* Where a second input counts the rows, it is asked with the first batch. */
static enum vdbq_status limit_open(struct stream *stream, struct error *error)
{
    struct limit_stream *limit = (struct limit_stream *)stream;
    const struct step_limit *step = &stream->step->limit;
    limit->offset = step->offset;
    limit->left = step->limit;
    limit->counted = stream->step->inputs.count == 1;
    limit->vectors =
        memory_zeroed(stream->step->column_count, sizeof *limit->vectors);
    stream->rows_most = stream->inputs[0]->rows_most;
    if (stream->rows_most > step->limit)
        stream->rows_most = step->limit;
    if (limit->counted && step->offset < FEW_MOST && step->limit < FEW_MOST)
        stream_few(stream->inputs[0], step->offset + step->limit);
    return limit->vectors != NULL ? VDBQ_OK : error_no_memory(error);
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

/* A number of rows; NULL or below 0 says nothing. */
static uint64_t rows_said(const struct vdbq_vector *vector, uint64_t none)
{
    int64_t rows = ((const int64_t *)vector->values)[0];
    bool null = vector->nulls != NULL && vector->nulls[0] != 0;
    return null || rows < 0 ? none : (uint64_t)rows;
}

/* Reads both numbers from the second input. */
static enum vdbq_status count_rows(struct limit_stream *limit,
                                   struct error *error)
{
    struct vdbq_batch batch;
    enum vdbq_status status =
        stream_batch(limit->head.inputs[1], &batch, error);
    if (status != VDBQ_OK)
        return status;
    assert(batch.rows == 1 && batch.columns == 2);
    limit->left = rows_said(&batch.column[0], UINT64_MAX);
    limit->offset = rows_said(&batch.column[1], 0);
    limit->counted = true;
    return VDBQ_OK;
}

/* Passes over whole batches, then cuts the first one that is left. */
static enum vdbq_status limit_batch(struct stream *stream,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    struct limit_stream *limit = (struct limit_stream *)stream;
    enum vdbq_status status =
        limit->counted ? VDBQ_OK : count_rows(limit, error);
    batch->rows = 0;
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
    return stream_dictionary(stream->inputs[0], column);
}

/* Frees the cut batch's columns. */
static void limit_close(struct stream *stream)
{
    memory_release(((struct limit_stream *)stream)->vectors);
}

const struct stream_kind limit_stream = {
    .size = sizeof(struct limit_stream),
    .calls = { .batch = limit_batch,
               .dictionary = limit_dictionary,
               .close = limit_close },
    .open = limit_open,
};
