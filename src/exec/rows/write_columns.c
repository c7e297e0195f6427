/* SPDX-License-Identifier: MIT */
/*
 * Columns of groups: write_columns.h.
 */
#include "exec/rows/write_columns.h"

#include <assert.h>

#include "base/memory.h"

/* Lets all threads write their share of one column. The first failure wins; a
   column without NULLs loses its flags. */
static enum vdbq_status write_column(struct column_writing *writing,
                                     void (*write)(void *, unsigned),
                                     struct error *error)
{
    struct row_set_column *column = writing->column;
    assert(writing->threads > 0 && writing->threads <= PARALLEL_THREADS_MAX);
    bool nulls = false;

    parallel_run(writing->threads, write, writing);
    for (unsigned i = 0; i < writing->threads; i++) {
        nulls |= writing->shares[i].nulls;
        if (writing->shares[i].status != VDBQ_OK) {
            *error = writing->shares[i].error;
            return error->status;
        }
    }
    if (!nulls) {
        memory_release(column->nulls);
        column->nulls = NULL;
    }
    return VDBQ_OK;
}

enum vdbq_status write_columns(struct column_writing *writing,
                               void (*write)(void *writing, unsigned share),
                               uint64_t count, struct row_set *row_set,
                               struct error *error)
{
    assert(row_set->rows == 0);
    enum vdbq_status status = row_set_room(row_set, count, error);

    for (unsigned i = 0; status == VDBQ_OK && i < row_set->column_count; i++) {
        writing->number = i;
        writing->column = &row_set->columns[i];
        status = row_set_flags(row_set, i, error);
        if (status == VDBQ_OK)
            status = write_column(writing, write, error);
    }
    if (status == VDBQ_OK)
        row_set->rows = count;
    return status;
}
