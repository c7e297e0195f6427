/* SPDX-License-Identifier: MIT */
/* Batches that are there together: see batches.h. */
#include "exec/rows/batches.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

enum vdbq_status batches_init(struct batches *batches, unsigned columns,
                              struct error *error)
{
    batches->count = 0; /* the rest is large, and written before it is read */
    batches->columns = columns;
    batches->vectors = memory_resize(NULL, ((size_t)BATCHES_MAX * columns + 1)
                                               * sizeof *batches->vectors);
    return batches->vectors != NULL ? VDBQ_OK : error_no_memory(error);
}

void batches_finish(struct batches *batches)
{
    memory_release(batches->vectors);
    batches->vectors = NULL;
    batches->count = 0;
}

uint64_t batches_rows(const struct batches *batches)
{
    return batches->count > 0 ? batches->ends[batches->count - 1] : 0;
}

void batches_add(struct batches *batches, const struct vdbq_batch *batch)
{
    assert(batches->count < BATCHES_MAX && batch->rows > 0);
    assert(batch->columns >= batches->columns);
    struct vdbq_vector *vectors =
        batches->vectors + (size_t)batches->count * batches->columns;
    if (batches->columns > 0)
        memcpy(vectors, batch->column, batches->columns * sizeof *vectors);
    batches->ends[batches->count] = batches_rows(batches) + batch->rows;
    batches->batch[batches->count] = (struct vdbq_batch){
        .rows = batch->rows, .columns = batches->columns, .column = vectors
    };
    batches->count++;
}

/* The batch that has a row. */
static unsigned batch_of(const struct batches *batches, uint64_t row)
{
    unsigned low = 0, high = batches->count - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (batches->ends[middle] > row)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct batches_run batches_run_at(const struct batches *batches, uint64_t first,
                                  uint64_t end)
{
    assert(first < end && end <= batches_rows(batches));
    unsigned i = batch_of(batches, first);
    uint64_t before = batches->ends[i] - batches->batch[i].rows;
    uint64_t last = end < batches->ends[i] ? end : batches->ends[i];
    return (struct batches_run){ .columns = batches->batch[i].column,
                                 .start = first - before,
                                 .number = first,
                                 .rows = last - first };
}
