/* SPDX-License-Identifier: MIT */
/*
 * Columns of groups: write_columns.h.
 */
#include "exec/rows/write_columns.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"

/* How a thread's share of the rows ended. */
struct column_share {
    unsigned failed;         /* the first column that did, if one did */
    enum vdbq_status status; /* ... */
    struct error error;
};

/* Writes a block of the first columns, up to one that fails; how many did not. */
static unsigned write_block(struct column_writing *writing, unsigned share,
                            struct column_block *block, unsigned columns)
{
    bool *nulls =
        writing->nulls + (size_t)share * writing->row_set->column_count;
    for (unsigned i = 0; i < columns; i++) {
        struct row_set_column *column = &writing->row_set->columns[i];
        block->number = i;
        block->column = column;
        block->nulls = false;
        memset(column->nulls + block->first, 0, block->count);
        enum vdbq_status status =
            writing->write(writing, block, &writing->shares[share].error);
        nulls[i] |= block->nulls;
        if (status == VDBQ_OK)
            continue;
        writing->shares[share].status = status;
        writing->shares[share].failed = i;
        return i;
    }
    return columns;
}

/* One thread's share of the rows. */
static void write_share(void *context, unsigned share)
{
    struct column_writing *writing = context;
    uint64_t at = writing->count * share / writing->threads;
    uint64_t end = writing->count * (share + 1) / writing->threads;
    unsigned columns = writing->row_set->column_count;
    struct column_block block;
    uint64_t since = 0;

    for (; at < end && columns > 0; at += block.count) {
        block.first = at;
        block.count =
            end - at < WRITE_BLOCK ? (unsigned)(end - at) : WRITE_BLOCK;
        writing->list(writing, &block);
        columns = write_block(writing, share, &block, columns);
        if (stop_after(&since, block.count))
            return; /* who gave the loop asks, too */
    }
}

/* The first failure, by columns and then by rows. */
static enum vdbq_status end_shares(struct column_writing *writing,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < writing->threads; i++) {
        if (writing->shares[i].status == VDBQ_OK
            || (status != VDBQ_OK
                && writing->shares[i].failed >= writing->failed))
            continue;
        status = writing->shares[i].status;
        writing->failed = writing->shares[i].failed;
        *error = writing->shares[i].error;
    }
    return status;
}

/* A column without NULLs loses its flags. */
static void drop_flags(const struct column_writing *writing)
{
    unsigned columns = writing->row_set->column_count;
    for (unsigned i = 0; i < columns; i++) {
        struct row_set_column *column = &writing->row_set->columns[i];
        bool nulls = false;
        for (unsigned share = 0; share < writing->threads; share++)
            nulls |= writing->nulls[(size_t)share * columns + i];
        if (nulls)
            continue;
        memory_release(column->nulls);
        column->nulls = NULL;
    }
}

/* Makes room for values and flags, which nobody has written. */
static enum vdbq_status make_room(struct column_writing *writing,
                                  struct error *error)
{
    struct row_set *row_set = writing->row_set;
    enum vdbq_status status = row_set_room(row_set, writing->count, error);
    writing->nulls =
        memory_zeroed((size_t)writing->threads * row_set->column_count + 1, 1);
    writing->shares = memory_zeroed(writing->threads, sizeof *writing->shares);
    if (status == VDBQ_OK
        && (writing->nulls == NULL || writing->shares == NULL))
        status = error_no_memory(error);
    for (unsigned i = 0; status == VDBQ_OK && i < row_set->column_count; i++) {
        struct row_set_column *column = &row_set->columns[i];
        if (column->nulls == NULL)
            column->nulls = memory_resize(NULL, row_set->rows_room);
        if (column->nulls == NULL)
            status = error_no_memory(error);
    }
    return status;
}

enum vdbq_status write_columns(struct column_writing *writing, uint64_t count,
                               struct row_set *row_set, struct error *error)
{
    assert(row_set->rows == 0);
    assert(writing->threads > 0 && writing->threads <= PARALLEL_THREADS_MAX);
    writing->row_set = row_set;
    writing->count = count;
    enum vdbq_status status = make_room(writing, error);
    if (status == VDBQ_OK) {
        parallel_run(writing->threads, write_share, writing);
        status = end_shares(writing, error);
    }
    if (status == VDBQ_OK)
        status = stop_pause(error);
    if (status == VDBQ_OK) {
        drop_flags(writing);
        row_set->rows = count;
    }
    memory_release(writing->shares);
    memory_release(writing->nulls);
    return status;
}
