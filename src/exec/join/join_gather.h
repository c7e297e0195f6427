/* SPDX-License-Identifier: MIT */
/*
 * Reads rows of a partition of a spill, several blocks at once by several threads: so
 * many that the threads of who takes the rows have work, too.
 */
#ifndef VDBQ_EXEC_JOIN_GATHER_H
#define VDBQ_EXEC_JOIN_GATHER_H

#include "exec/rows/spill.h"

struct join_gather {
    unsigned threads;             /* that read at the same time, at most    */
    struct spill_range rest;      /* rows that are still to be read         */
    struct spill_reader *readers; /* each of one block at hand              */
    unsigned count;               /* of readers                             */
    struct batches batches;       /* blocks at hand; their rows' numbers stand
                                     behind the columns                     */
};

/* For rows of a spill that was ended. join_gather_finish() is due whatever it
 * returns, and accepts a zeroed struct. */
enum vdbq_status join_gather_init(struct join_gather *gather,
                                  const struct spill_range *range,
                                  unsigned threads, struct error *error);
void join_gather_finish(struct join_gather *gather);

/* Takes the next blocks to hand, until the next call: of `rows` rows and some more at
 * most; none: the end. */
enum vdbq_status join_gather_read(struct join_gather *gather, uint64_t rows,
                                  struct error *error);

#endif
