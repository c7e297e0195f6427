/* SPDX-License-Identifier: MIT */
/*
 * Windows (STEP_WINDOW): values that rows have of their neighbours. Rows are
 * sorted by partition and order, and results put back into the rows' order.
 * Partitions, and rows that are alike in their order (peers), are found there.
 */
#ifndef VDBQ_EXEC_WINDOW_H
#define VDBQ_EXEC_WINDOW_H

#include "exec/rows/row_set.h"

struct window_params {
    const struct step_window *step; /* of the plan */
    const struct row_set *rows;     /* of the input               */
    unsigned threads;               /* to work with at most       */
};

/* Writes a column for each function into an empty row set of these columns,
 * a row for each of the input's. Words of text columns are the caller's to
 * set. Fails with RANGE where a sum overflows, NO_MEMORY. */
enum vdbq_status window_run(const struct window_params *params,
                            struct row_set *results, struct error *error);

#endif
