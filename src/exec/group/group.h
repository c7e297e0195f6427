/* SPDX-License-Identifier: MIT */
/*
 * Grouping (STEP_GROUP): takes rows in as they come and gives a row for each
 * group. What it gives does not depend on how rows are cut into batches, nor
 * on the number of threads.
 */
#ifndef VDBQ_EXEC_GROUP_H
#define VDBQ_EXEC_GROUP_H

#include "exec/rows/batches.h"
#include "exec/rows/reorder.h"
#include "exec/rows/row_set.h"

struct group_params {
    const struct step_group *step;     /* keys and aggregates */
    const struct step_column *columns; /* of the input                */
    const struct step_column *results; /* of the rows that come out: where
                                          `memory` has a limit          */
    const bool *nullable; /* a column of the input: a value may be NULL; NULL:
                             any may be                                       */
    unsigned threads;     /* to work with at most        */
    struct account_share *memory;      /* what it holds; NULL: no limit */
    const struct os_file_calls *files; /* NULL: os_temporary_files    */
    const bool *reads; /* of each column of `results`: somebody reads it; NULL:
                          all are read                                        */
    bool any_order;    /* nobody sees the order of the groups                */
    bool apart; /* groups are given as they are: group_apart.h              */
};
struct group;

/* NULL: no memory. `params`' pointers outlive it. */
enum vdbq_status group_create(const struct group_params *params,
                              struct group **group, struct error *error);
void group_destroy(struct group *group); /* accepts NULL */

/* Takes in rows: all columns of the input. */
enum vdbq_status group_add(struct group *group, const struct batches *batches,
                           struct error *error);
/* Writes the groups into an empty row set of the step's columns; nothing can
 * be added after. Where they do not fit into memory, it stays empty, and they
 * go to `reorder`, which is zeroed before and otherwise after. Words of text
 * columns are the caller's to set. Fails with RANGE where a sum overflows,
 * LIMIT, NO_MEMORY, IO. reorder_finish() is due whatever it returns. */
enum vdbq_status group_finish(struct group *group, struct row_set *row_set,
                              struct reorder *reorder, struct error *error);

#endif
