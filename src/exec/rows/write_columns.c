/* SPDX-License-Identifier: MIT */
/*
 * Columns of groups: write_columns.h.
 */
#include "exec/rows/write_columns.h"

#include "base/memory.h"

static enum vdbq_status write_column(struct column_writing *writing,
                                     void (*write)(void *, unsigned),
                                     struct error *error)
{
    struct relation_column *column = writing->column;
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
                               uint64_t count, struct relation *relation,
                               struct error *error)
{
    enum vdbq_status status = relation_room(relation, count, error);

    for (unsigned i = 0; status == VDBQ_OK && i < relation->column_count; i++) {
        writing->number = i;
        writing->column = &relation->columns[i];
        status = relation_flags(relation, i, error);
        if (status == VDBQ_OK)
            status = write_column(writing, write, error);
    }
    if (status == VDBQ_OK)
        relation->rows = count;
    return status;
}
