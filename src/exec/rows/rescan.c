/* SPDX-License-Identifier: MIT */
/*
 * Gives out a row set's rows, so many at once that the query can be stopped
 * between them.
 */
#include "exec/rows/rescan.h"

#include <assert.h>

enum vdbq_status rescan_begin(struct rescan *rescan, struct error *error)
{
    rescan->next = 0;
    rescan->vectors =
        memory_zeroed(rescan->row_set.column_count, sizeof *rescan->vectors);
    return rescan->vectors != NULL ? VDBQ_OK : error_no_memory(error);
}

void rescan_finish(struct rescan *rescan)
{
    row_set_finish(&rescan->row_set);
    memory_release(rescan->vectors);
    *rescan = (struct rescan){ 0 };
}

void rescan_rows(const struct row_set *row_set, uint64_t *next,
                 struct vdbq_vector *vectors, struct vdbq_batch *batch)
{
    assert(vectors != NULL && *next <= row_set->rows);
    uint64_t left = row_set->rows - *next;
    *batch = (struct vdbq_batch){
        .rows = left < RESCAN_ROWS_MAX ? left : RESCAN_ROWS_MAX,
        .columns = row_set->column_count,
        .column = vectors,
    };
    row_set_vectors(row_set, *next, vectors);
    *next += batch->rows;
}

void rescan_batch(struct rescan *rescan, struct vdbq_batch *batch)
{
    rescan_rows(&rescan->row_set, &rescan->next, rescan->vectors, batch);
}
