/* SPDX-License-Identifier: MIT */
/*
 * Batches of rows that are there at the same time, so that threads share them
 * as if they were one: a launch on many cores gives a short batch for each.
 */
#ifndef VDBQ_EXEC_BATCHES_H
#define VDBQ_EXEC_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "api/vdbq.h"
#include "base/error.h"

enum { BATCHES_MAX = 256 };

struct batches {
    struct vdbq_batch batch[BATCHES_MAX];
    uint64_t ends[BATCHES_MAX];  /* the rows of a batch and those before it */
    unsigned count;              /* of batches that are there               */
    unsigned columns;            /* of each */
    struct vdbq_vector *vectors; /* of all batches; owned */
};

/* For batches of so many columns. */
enum vdbq_status batches_init(struct batches *batches, unsigned columns,
                              struct error *error);
/* Accepts a zeroed struct. */
void batches_finish(struct batches *batches);

/* All their rows. */
uint64_t batches_rows(const struct batches *batches);
/* Adds a batch, of which the vectors are copied and the values are not; there
 * must be room. */
void batches_add(struct batches *batches, const struct vdbq_batch *batch);

/* Rows that lie in one batch. */
struct batches_run {
    const struct vdbq_vector *columns; /* of the batch                      */
    uint64_t start;                    /* the first of the rows in these    */
    uint64_t number;                   /* ... and among the rows of all     */
    uint64_t rows;                     /* how many */
};
/* The rows of one batch from row `first` of all on, up to row `end`, which is
 * behind it. */
struct batches_run batches_run_at(const struct batches *batches, uint64_t first,
                                  uint64_t end);

#endif
