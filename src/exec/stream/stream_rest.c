/* SPDX-License-Identifier: MIT */
/*
 * Streams that rest between two executions of a prepared statement: what follows
 * from their steps alone is kept, of themselves and of their inputs. An execution
 * finds few rows by their keys in less time than it takes to make all that anew.
 */
#include <assert.h>

#include "exec/stream/stream_inner.h"

/* Whether all inputs rest, from now on. */
static bool inputs_rest(const struct stream *stream)
{
    bool rest = true;

    for (size_t i = 0; i < stream->step->inputs.count && rest; i++)
        rest = stream->inputs[i] != NULL && stream_rest(stream->inputs[i]);
    return rest;
}

/* Where counts are asked for a step's end is told when it is closed. */
bool stream_rest(struct stream *stream)
{
    const struct stream_stats *stats = stream->params->stats;
    bool counts = stats != NULL && stats->counts != NULL;

    assert(!stream->rests);
    if (counts || stream->held != NULL || stream->calls->rest == NULL
        || !inputs_rest(stream) || !stream->calls->rest(stream))
        return false;
    stream_keep_stats(stream);
    account_give_all(&stream->memory);
    stream->rests = true;
    return true;
}

/* Opens the inputs in order; one that fails is gone. */
static enum vdbq_status inputs_again(const struct stream *stream,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < stream->step->inputs.count && status == VDBQ_OK;
         i++) {
        assert(stream->inputs[i] != NULL);
        status = stream_again(stream->inputs[i], error);
        if (status != VDBQ_OK)
            stream->inputs[i] = NULL;
    }
    return status;
}

enum vdbq_status stream_again(struct stream *stream, struct error *error)
{
    enum vdbq_status status;

    assert(stream->rests && stream->calls->again != NULL);
    status = inputs_again(stream, error);
    if (status != VDBQ_OK) {
        stream_close(stream);
        return status;
    }
    stream->rests = stream->ended = stream->last = stream->asked = false;
    stream->rows = stream->rows_most = 0;
    stream->memory =
        (struct account_share){ .account = stream->params->account };
    status = stream->calls->again(stream, error);
    if (status != VDBQ_OK)
        stream_close(stream);
    return status;
}
