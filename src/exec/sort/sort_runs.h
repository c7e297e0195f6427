/* SPDX-License-Identifier: MIT */
/*
 * Sorting more rows than fit into memory: rows that were sorted are put aside
 * as runs, in a temporary file, and merged as they are read. The order is that
 * of sort_order() over all rows: rows with equal keys keep theirs.
 */
#ifndef VDBQ_EXEC_SORT_RUNS_H
#define VDBQ_EXEC_SORT_RUNS_H

#include "exec/sort/sort.h"
#include "exec/sort/sort_fields.h"
#include "exec/sort/sort_merge.h"

struct sort_runs_params {
    const struct os_file_calls *files; /* NULL: os_temporary_files          */
    struct account_share *memory;      /* of the step it is for; or NULL    */
    const struct step_column *columns; /* of the rows; they outlive it      */
    unsigned column_count;             /* of `columns`                      */
    const bool *reads; /* of each column: it is kept, as keys are; outlives it.
                          NULL: all are                                     */
    const struct step_key *keys; /* which decide; they outlive it     */
    unsigned key_count;          /* of `keys` */
    uint64_t room_bytes;         /* of memory that merging may take   */
};

struct sort_runs {
    struct sort_runs_params params;
    uint64_t rows;        /* of all runs                                */
    uint64_t block_bytes; /* of a run, that are read at once            */
    struct spill spill;   /* a partition for each run                   */
    struct sort_extent *extents; /* owned: of each key, in all rows         */
    struct sort_merge *merge; /* of all; NULL: not yet                      */
};

/* sort_runs_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status sort_runs_init(struct sort_runs *runs,
                                const struct sort_runs_params *params,
                                struct error *error);
void sort_runs_finish(struct sort_runs *runs);

/* Puts `count` rows aside, which come behind those that were added before:
 * the first ones of `order`. */
enum vdbq_status sort_runs_add(struct sort_runs *runs,
                               const struct row_set *rows,
                               const uint32_t *order, uint64_t count,
                               struct error *error);
/* All rows were added: merges runs until the rest can be merged at once. */
enum vdbq_status sort_runs_begin(struct sort_runs *runs, struct error *error);
/* The next rows: as sort_merge_rows(). */
enum vdbq_status sort_runs_rows(struct sort_runs *runs, uint64_t rows,
                                struct row_set *output, struct error *error);

#endif
