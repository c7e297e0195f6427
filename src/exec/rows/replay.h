/* SPDX-License-Identifier: MIT */
/*
 * A relation that is given out as batches.
 */
#ifndef VDBQ_EXEC_REPLAY_H
#define VDBQ_EXEC_REPLAY_H

#include "exec/rows/relation.h"

enum { REPLAY_ROWS_MAX = 1 << 16 }; /* of a batch */

struct replay {
    struct relation relation;
    uint64_t next; /* row to give out next */
    struct vdbq_vector *vectors;
};

/* Starts to give out what was put into `relation`. */
enum vdbq_status replay_begin(struct replay *replay, struct error *error);
/* Accepts a zeroed struct. */
void replay_finish(struct replay *replay);

/* The next rows; rows 0: the end. They live as long as the relation. */
void replay_batch(struct replay *replay, struct vdbq_batch *batch);

#endif
