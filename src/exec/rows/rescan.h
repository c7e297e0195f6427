/* SPDX-License-Identifier: MIT */
/*
 * A rescan: a row set that is given out as batches.
 */
#ifndef VDBQ_EXEC_RESCAN_H
#define VDBQ_EXEC_RESCAN_H

#include "exec/rows/row_set.h"

enum { RESCAN_ROWS_MAX = 1 << 16 }; /* of a batch */

struct rescan {
    struct row_set row_set;
    uint64_t next;               /* row to give out next */
    struct vdbq_vector *vectors; /* of the last batch, one a column; owned */
};

/* Starts to give out what was put into `row_set`. */
enum vdbq_status rescan_begin(struct rescan *rescan, struct error *error);
/* Accepts a zeroed struct. */
void rescan_finish(struct rescan *rescan);

/* The next rows; rows 0: the end. They live as long as the row set. */
void rescan_batch(struct rescan *rescan, struct vdbq_batch *batch);
/* The rows of any row set from `*next` on, which is moved behind them; there is
 * a vector for each column. */
void rescan_rows(const struct row_set *row_set, uint64_t *next,
                 struct vdbq_vector *vectors, struct vdbq_batch *batch);

#endif
