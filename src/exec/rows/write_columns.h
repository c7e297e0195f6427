/* SPDX-License-Identifier: MIT */
/*
 * Groups written to a row set: threads share the rows, and write a block of them
 * column by column, while its records are in their caches.
 */
#ifndef VDBQ_EXEC_WRITE_COLUMNS_H
#define VDBQ_EXEC_WRITE_COLUMNS_H

#include "exec/rows/row_set.h"

enum { WRITE_BLOCK = 1024 }; /* rows that are written at a time */

/* Rows [first, first + count) of a column. */
struct column_block {
    uint64_t first;
    unsigned count;                      /* WRITE_BLOCK at most          */
    unsigned number;                     /* of the column                */
    struct row_set_column *column;       /* with NULL flags, 0 so far    */
    bool nulls;                          /* a NULL was written           */
    const uint8_t *records[WRITE_BLOCK]; /* that the rows come from      */
};

/* The head of a struct that knows the groups; zeroed but for `threads` and the
 * calls. */
struct column_writing {
    unsigned threads; /* that share the rows */
    /* Says where the records of a block's rows are. */
    void (*list)(const void *writing, struct column_block *block);
    /* Writes a block of a column; it may fail. */
    enum vdbq_status (*write)(const void *writing, struct column_block *block,
                              struct error *error);
    unsigned failed; /* the first column that failed, if one did */
    /* the rest is write_columns()'s */
    struct row_set *row_set;
    uint64_t count;              /* of rows */
    bool *nulls;                 /* of each share and column: there are some */
    struct column_share *shares; /* one a thread: too large for a stack */
};

/* Makes `count` rows of the row set's columns. Where some fail, the first column
 * tells, and of it the first row. */
enum vdbq_status write_columns(struct column_writing *writing, uint64_t count,
                               struct row_set *row_set, struct error *error);

#endif
