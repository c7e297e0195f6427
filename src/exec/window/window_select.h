/* SPDX-License-Identifier: MIT */
/*
 * Quantiles of all rows with little memory: of each column whose values are
 * asked for by their places, the values go to a temporary file, in partitions
 * by ranges of their order, and nothing is sorted. Where a place lies tell the
 * partitions' counts; then its partition alone is read. After the histogram
 * methods of Munro and Paterson, "Selection and sorting with limited storage"
 * (1980). Where all rows are wanted, and not the first alone, these wait in a
 * file of their own, and get the values when they are given out.
 */
#ifndef VDBQ_EXEC_WINDOW_SELECT_H
#define VDBQ_EXEC_WINDOW_SELECT_H

#include "base/account.h"
#include "base/os/os.h"
#include "exec/rows/row_set.h"

struct window_select_params {
    const struct step_window *step;    /* window_select_can()               */
    const struct step_column *columns; /* of the input, then of the functions;
                                          they outlive it                   */
    unsigned column_count;             /* ... of the input                  */
    const bool *reads; /* of each of these: somebody reads it; NULL: all are */
    unsigned threads;  /* that work at the same time, at most */
    uint64_t room_bytes;               /* of memory that it should take     */
    const struct os_file_calls *files; /* NULL: os_temporary_files          */
    struct account_share *memory;      /* of the step it is for             */
};
struct window_select;

/* Whether a function is a quantile in the order of its argument. */
bool window_select_takes(const struct step_window_function *function);
/* Whether the functions of a step are quantiles of all rows, each in the order of
 * its argument. */
bool window_select_can(const struct step_window *step);

/* What `params` points to outlives it. */
enum vdbq_status window_select_create(const struct window_select_params *params,
                                      struct window_select **select,
                                      struct error *error);
void window_select_destroy(struct window_select *select); /* accepts NULL */

/* Takes rows of the input, in their order; by those of the first batch it
 * chooses the ranges. */
enum vdbq_status window_select_add(struct window_select *select,
                                   const struct vdbq_batch *batch,
                                   struct error *error);
/* All rows were added, at least one: computes the functions. */
enum vdbq_status window_select_end(struct window_select *select,
                                   struct error *error);
/* How many rows are wanted. */
uint64_t window_select_rows(const struct window_select *select);
/* The next of them, with all columns; rows 0: the end. They live until the next
 * call. */
enum vdbq_status window_select_batch(struct window_select *select,
                                     struct vdbq_batch *batch,
                                     struct error *error);

#endif
