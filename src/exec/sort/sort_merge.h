/* SPDX-License-Identifier: MIT */
/*
 * Sorted runs become one: rows of a spill's partitions, each in the order of
 * the keys, are given out in that order. Rows with equal keys come in the order
 * of their partitions, and of one partition as they lie there.
 */
#ifndef VDBQ_EXEC_SORT_MERGE_H
#define VDBQ_EXEC_SORT_MERGE_H

#include "exec/rows/spill.h"
#include "program/steps/steps.h"

struct sort_extent;

struct sort_merge_params {
    const struct spill *spill;   /* has the runs; its rows are plain        */
    unsigned first, count;       /* partitions that are merged              */
    const struct step_key *keys; /* which decide; the first one goes first  */
    unsigned key_count;          /* of `keys`, at least 1                   */
    const struct sort_extent *extents; /* of each key: in all rows          */
};
struct sort_merge;

/* What `params` points to outlives it. */
enum vdbq_status sort_merge_create(const struct sort_merge_params *params,
                                   struct sort_merge **merge,
                                   struct error *error);
void sort_merge_destroy(struct sort_merge *merge); /* accepts NULL */

/* Puts the next rows into an empty row set, which has the first columns of the
 * spill: `rows` of them, fewer at the end. */
enum vdbq_status sort_merge_rows(struct sort_merge *merge, uint64_t rows,
                                 struct row_set *output, struct error *error);

#endif
