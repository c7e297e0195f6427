/* SPDX-License-Identifier: MIT */
/*
 * Rows that several steps read. All rows of the step are taken where the first
 * of its readers is opened; each reader is a stream that gives them out.
 */
#include "exec/stream/stream_share.h"

#include <assert.h>

#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"

struct stream_share {
    const struct stream_params *params;
    const struct step *step; /* whose rows they are */
    unsigned holders;
    struct row_set rows;
    struct error *failed; /* comes behind the rows; NULL: nothing */
};

/* One of the readers. */
struct shared_stream {
    struct stream head;         /* first */
    struct stream_share *share; /* held */
    uint64_t next;              /* row to give out next */
    struct vdbq_vector *vectors;
};

/* ---------------------------------------------------------------- rows -- */

/* Keeps the failure of a row for each reader. */
static enum vdbq_status keep_failure(struct stream_share *share,
                                     enum vdbq_status status,
                                     struct error *error)
{
    if (!stream_row_failed(status))
        return status;
    share->failed = memory_zeroed(1, sizeof *share->failed);
    if (share->failed == NULL)
        return error_no_memory(error);
    *share->failed = *error;
    return VDBQ_OK;
}

enum vdbq_status stream_share_take(struct stream *stream,
                                   struct stream_share **share,
                                   struct error *error)
{
    struct stream_share *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;

    *share = NULL;
    if (made == NULL) {
        stream_close(stream);
        return error_no_memory(error);
    }
    made->params = stream->params;
    made->step = stream->step;
    made->holders = 1;
    status = stream_materialise(stream, &made->rows, error);
    status = keep_failure(made, status, error);
    stream_close(stream);
    if (status != VDBQ_OK) {
        stream_share_release(made);
        return status;
    }
    *share = made;
    return VDBQ_OK;
}

void stream_share_release(struct stream_share *share)
{
    if (share == NULL)
        return;
    assert(share->holders > 0);
    if (--share->holders > 0)
        return;
    row_set_finish(&share->rows);
    memory_release(share->failed);
    memory_release(share);
}

/* -------------------------------------------------------------- stream -- */

static enum vdbq_status shared_batch(struct stream *stream,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    struct shared_stream *shared = (struct shared_stream *)stream;

    (void)error;
    rescan_rows(&shared->share->rows, &shared->next, shared->vectors, batch);
    return VDBQ_OK;
}

static struct dictionary *shared_dictionary(const struct stream *stream,
                                            unsigned column)
{
    return ((const struct shared_stream *)stream)
        ->share->rows.columns[column]
        .dictionary;
}

static void shared_close(struct stream *stream)
{
    struct shared_stream *shared = (struct shared_stream *)stream;

    memory_release(shared->vectors);
    stream_share_release(shared->share);
}

static const struct stream_calls shared_calls = {
    .batch = shared_batch,
    .dictionary = shared_dictionary,
    .close = shared_close,
};

/* Gives the stream what it needs besides the rows. */
static enum vdbq_status fill_stream(struct shared_stream *shared,
                                    struct error *error)
{
    const struct step *step = shared->share->step;

    shared->head.inputs =
        memory_zeroed(step->inputs.count + 1, sizeof *shared->head.inputs);
    shared->vectors =
        memory_zeroed(step->column_count + (size_t)1, sizeof *shared->vectors);
    if (shared->head.inputs == NULL || shared->vectors == NULL)
        return error_no_memory(error);
    if (shared->share->failed == NULL)
        return VDBQ_OK;
    *error = *shared->share->failed;
    return stream_hold(&shared->head, error);
}

enum vdbq_status stream_share_open(struct stream_share *share,
                                   struct stream **stream, struct error *error)
{
    struct shared_stream *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;

    *stream = NULL;
    if (made == NULL)
        return error_no_memory(error);
    share->holders++;
    made->share = share;
    made->head = (struct stream){ .calls = &shared_calls,
                                  .params = share->params,
                                  .step = share->step,
                                  .rows_most = share->rows.rows,
                                  .rescans = true };
    status = fill_stream(made, error);
    if (status != VDBQ_OK)
        stream_close(&made->head);
    else
        *stream = &made->head;
    return status;
}
