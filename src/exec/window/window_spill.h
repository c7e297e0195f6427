/* SPDX-License-Identifier: MIT */
/*
 * Windows over more rows than fit into memory. Functions with the same window
 * are a stage: its rows are sorted by partition and order, in runs
 * (sort_runs.h), windows are computed for whole partitions, as many as fit, and
 * the rows are put back into the order in which they came (reorder.h), with
 * the results behind their columns. They are the rows of the next stage. Of the
 * last one columns that nobody reads are left out, and where nobody sees the order
 * rows stay in that of the windows. Where the step wants the first row of each
 * partition alone, the last stage gives no others.
 *
 * What goes on from rows to the next ones (window_goes_on()) is computed for any rows
 * in their order; else a partition must fit into memory.
 */
#ifndef VDBQ_EXEC_WINDOW_SPILL_H
#define VDBQ_EXEC_WINDOW_SPILL_H

#include "base/account.h"
#include "base/os/os.h"
#include "exec/window/window.h"

struct window_spill_params {
    const struct step_window *step;    /* of the plan; outlives it           */
    const struct step_column *columns; /* the input's, then one a function   */
    unsigned input_count;              /* the input's, of `columns`          */
    unsigned threads;                  /* to work with at most               */
    struct window_joined *joined;      /* of each function, or NULL          */
    uint64_t room_bytes;               /* of memory that it should take      */
    const struct os_file_calls *files; /* NULL: os_temporary_files           */
    struct account_share *memory;      /* of the step it is for              */
    const bool *reads; /* of each column: somebody reads it; NULL: all are   */
    bool any_order;    /* nobody sees the order of the rows                  */
};
struct window_spill;

/* What `params` points to outlives it. */
enum vdbq_status window_spill_create(const struct window_spill_params *params,
                                     struct window_spill **spill,
                                     struct error *error);
void window_spill_destroy(struct window_spill *spill); /* accepts NULL */

/* Takes rows of the input, in their order. */
enum vdbq_status window_spill_add(struct window_spill *spill,
                                  const struct vdbq_batch *batch,
                                  struct error *error);
/* All rows were added: runs the stages. Fails as window_run(), and with IO. */
enum vdbq_status window_spill_end(struct window_spill *spill,
                                  struct error *error);
/* How many there are. */
uint64_t window_spill_rows(const struct window_spill *spill);
/* The next rows, with all columns; rows 0: the end. They live until the next
 * call. */
enum vdbq_status window_spill_batch(struct window_spill *spill,
                                    struct vdbq_batch *batch,
                                    struct error *error);

#endif
