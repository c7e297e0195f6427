/* SPDX-License-Identifier: MIT */
/*
 * Columns of groups: write_columns.h.
 */
#include "exec/rows/write_columns.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* One thread's share of one column: no value is NULL before it is written. */
static void write_share(void *context, unsigned share)
{
    struct column_writing *writing = context;
    uint64_t first = share_first(writing, writing->count, share);
    uint64_t end = share_first(writing, writing->count, share + 1);

    memset(writing->column->nulls + first, 0, end - first);
    writing->write(writing, share);
}

/* Lets all threads write their share of one column. The first failure wins; a
   column without NULLs loses its flags. */
static enum vdbq_status write_column(struct column_writing *writing,
                                     struct error *error)
{
    struct row_set_column *column = writing->column;
    assert(writing->threads > 0 && writing->threads <= PARALLEL_THREADS_MAX);
    bool nulls = false;

    parallel_run(writing->threads, write_share, writing);
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

    writing->count = count;
    writing->write = write;
    for (unsigned i = 0; status == VDBQ_OK && i < row_set->column_count; i++) {
        struct row_set_column *column = &row_set->columns[i];
        writing->number = i;
        writing->column = column;
        if (column->nulls == NULL)
            column->nulls = memory_resize(NULL, row_set->rows_room);
        status = column->nulls != NULL ? write_column(writing, error)
                                       : error_no_memory(error);
    }
    if (status == VDBQ_OK)
        row_set->rows = count;
    return status;
}
