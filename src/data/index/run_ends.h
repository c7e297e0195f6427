/* SPDX-License-Identifier: MIT */
/*
 * The first and the last rows of a run, or of a part of it, in the order of some
 * of its columns: those with equal values come in the tablet's order, whatever
 * the run's further columns are. Where a run does not know all of the order, its
 * ends are longer, by the rows that it cannot tell from the last of these.
 */
#ifndef VDBQ_DATA_RUN_ENDS_H
#define VDBQ_DATA_RUN_ENDS_H

#include "base/vector.h"
#include "data/index/run.h"

struct run_ends {
    uint32_t first, last; /* rows of either end; both 0: all are wanted      */
    unsigned columns; /* of the run: up to the last one that makes the order */
    bool alike; /* the order goes on behind these: rows with equal values come
                   all, or none                                            */
    uint64_t rough; /* bits of the last one's values that say nothing of the
                       order: rows that differ in these alone come all, or
                       none                                                */
};

/* Has ends be longer by so many rows. */
void run_ends_more(struct run_ends *ends, uint32_t more);

/* The keys of the rows that the order has as equals of those with one key, as far
 * as the run knows. */
struct run_keys run_ends_equals(const struct run_ends *ends,
                                const struct run *run, uint64_t key);
/* Whether such rows are wanted only in so far as they come first in the tablet. */
bool run_ends_cut(const struct run_ends *ends, const struct run *run,
                  uint64_t key);

/* Adds the numbers of those rows, among them at places [begin, end), to a vector
 * of uint32_t, each once, in whatever order. False: no memory. */
bool run_ends_add(const struct run_ends *ends, const struct run *run,
                  uint32_t begin, uint32_t end, struct vector *rows);

#endif
