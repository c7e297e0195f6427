/* SPDX-License-Identifier: MIT */
/*
 * One partition apart: of rows that share a hash but are too many for memory, those
 * of the first row's partition, which mostly are all of them. Where only quantiles
 * are asked for, they are selected there (window_select.h), and nothing is sorted.
 */
#ifndef VDBQ_EXEC_WINDOW_APART_H
#define VDBQ_EXEC_WINDOW_APART_H

#include "exec/window/window_select.h"
#include "exec/window/window_spill.h"

struct window_apart {
    struct step_window step;        /* its functions, without partitions      */
    const struct vector *partition; /* columns that rows are parted by        */
    struct window_select *select;   /* takes the partition's rows             */
    struct row_set first;           /* the first row                          */
    struct row_set view;            /* of the rows that came                  */
    struct row_set mine, others;    /* ... of which these are the partition's */
    struct vdbq_vector *vectors;    /* ... their columns                      */
    uint32_t *list;                 /* ... their numbers, then the others'    */
    uint64_t list_room;             /* rows that it has room for              */
    uint64_t rows;                  /* of the partition                       */
};

/* Whether the functions of a step, which has partitions, can be selected. */
bool window_apart_can(const struct step_window *step);

/* As window_spill_create(); what `params` points to outlives it.
 * window_apart_finish() is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status window_apart_init(struct window_apart *apart,
                                   const struct window_spill_params *params,
                                   struct error *error);
void window_apart_finish(struct window_apart *apart);

/* Takes rows that are not none, in their order; those of other partitions are left
 * in the batch, and live until the next call. */
enum vdbq_status window_apart_add(struct window_apart *apart,
                                  struct vdbq_batch *batch,
                                  struct error *error);
/* All rows were added: as window_select_end(), of the partition's rows. Not where
 * `rows` is 0: a NaN equals none. */
enum vdbq_status window_apart_end(struct window_apart *apart,
                                  struct error *error);
enum vdbq_status window_apart_batch(struct window_apart *apart,
                                    struct vdbq_batch *batch,
                                    struct error *error);

#endif
