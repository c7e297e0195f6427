/* SPDX-License-Identifier: MIT */
/*
 * Groups written to a row set column by column; threads share the rows of a
 * column out among them.
 */
#ifndef VDBQ_EXEC_WRITE_COLUMNS_H
#define VDBQ_EXEC_WRITE_COLUMNS_H

#include "base/threads/parallel.h"
#include "exec/rows/row_set.h"

/* The head of a struct that knows the groups; zeroed but for `threads`. */
struct column_writing {
    unsigned threads;                /* shares of the rows, one a thread */
    unsigned number;                 /* of the column */
    struct row_set_column *column;   /* with NULL flags */
    uint64_t count;                  /* of rows */
    void (*write)(void *, unsigned); /* as write_columns() was told */
    struct {
        bool nulls;              /* it wrote some */
        enum vdbq_status status; /* of this share */
        struct error error;      /* why, where it failed */
    } shares[PARALLEL_THREADS_MAX];
};

/* Rows [first, end) that are a share's, of `count`. */
static inline uint64_t share_first(const struct column_writing *writing,
                                   uint64_t count, unsigned share)
{
    return count * share / writing->threads;
}

/* Makes `count` rows of the row set's columns: `write` is called for each
 * column and share with the head, writes the share's rows and notes in
 * shares[] what came of it. */
enum vdbq_status write_columns(struct column_writing *writing,
                               void (*write)(void *writing, unsigned share),
                               uint64_t count, struct row_set *row_set,
                               struct error *error);

#endif
