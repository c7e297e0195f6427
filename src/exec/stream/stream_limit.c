/* SPDX-License-Identifier: MIT */
/*
 * How many rows a STEP_LIMIT passes over and gives, which the step says, or the
 * row of a second input. That is read before the first input is opened: where no
 * row is given, nothing of it is run.
 */
#include <assert.h>

#include "exec/stream/stream_inner.h"

/* A number of rows; NULL or below 0 says nothing. */
static uint64_t rows_said(const struct vdbq_vector *vector, uint64_t none)
{
    int64_t rows = ((const int64_t *)vector->values)[0];
    bool null = vector->nulls != NULL && vector->nulls[0] != 0;
    return null || rows < 0 ? none : (uint64_t)rows;
}

enum vdbq_status stream_read_limit(struct stream *counts,
                                   struct step_limit *limit,
                                   struct error *error)
{
    struct vdbq_batch batch;
    enum vdbq_status status = stream_batch(counts, &batch, error);
    if (status != VDBQ_OK)
        return status;
    assert(batch.rows == 1 && batch.columns == 2);
    limit->limit = rows_said(&batch.column[0], UINT64_MAX);
    limit->offset = rows_said(&batch.column[1], 0);
    return VDBQ_OK;
}
