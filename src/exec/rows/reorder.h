/* SPDX-License-Identifier: MIT */
/*
 * Rows that come in any order, and go out in the order of their numbers, of
 * which no two are the same and all are below a bound. They wait in temporary
 * files, in partitions by ranges of numbers; since a range has no more rows than
 * numbers, each partition fits into memory and is put in order there.
 *
 * Where nobody sees the order they go out as they came.
 */
#ifndef VDBQ_EXEC_REORDER_H
#define VDBQ_EXEC_REORDER_H

#include "exec/rows/spill_parts.h"

struct reorder_params {
    const struct os_file_calls *files; /* NULL: os_temporary_files          */
    const struct step_column *columns; /* of the rows; they outlive it      */
    unsigned column_count;             /* of `columns`                      */
    const bool *reads;   /* of each column: somebody reads it; outlives it,
                          NULL: all are read                                */
    bool any_order;      /* nobody asks for the order                         */
    uint64_t numbers;    /* all are below                     */
    unsigned threads;    /* that work at the same time, at most             */
    uint64_t room_bytes; /* of memory that it should take     */
    struct account_share *memory; /* of the step it is for; or NULL    */
};

struct reorder {
    struct spill spill;          /* a partition for each range              */
    unsigned shift;              /* a range is 1 << shift numbers           */
    bool any_order;              /* there are no ranges: one partition has
                                    all rows, without numbers               */
    struct spill_reader reader;  /* ... gives them out                      */
    uint64_t rows;               /* that were added                         */
    unsigned threads;            /* that work at the same time              */
    struct spill_parts parts;    /* adds rows to the ranges                 */
    unsigned partition;          /* the next one to be read                 */
    struct row_set range;        /* the rows of one partition               */
    uint32_t *order;             /* ... in the order of their numbers       */
    uint64_t next;               /* ... which are given out from this on    */
    struct row_set output;       /* the batch that was given out            */
    struct vdbq_vector *vectors; /* ... its columns                         */
};

/* reorder_finish() is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status reorder_init(struct reorder *reorder,
                              const struct reorder_params *params,
                              struct error *error);
void reorder_finish(struct reorder *reorder);

/* Adds all rows of a row set, with a number for each, of which nothing is asked in
 * any order. */
enum vdbq_status reorder_add(struct reorder *reorder,
                             const struct row_set *rows,
                             const uint64_t *numbers, struct error *error);
/* All rows were added. */
enum vdbq_status reorder_end(struct reorder *reorder, struct error *error);
/* The next rows; rows 0: the end. They live until the next call. */
enum vdbq_status reorder_batch(struct reorder *reorder,
                               struct vdbq_batch *batch, struct error *error);

#endif
