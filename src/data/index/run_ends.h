/* SPDX-License-Identifier: MIT */
/*
 * The first and the last rows of a run, or of a part of it, in the order of some
 * of its columns: those with equal values come in the tablet's order, whatever
 * the run's further columns are.
 */
#ifndef VDBQ_DATA_RUN_ENDS_H
#define VDBQ_DATA_RUN_ENDS_H

#include "base/vector.h"
#include "data/index/run.h"

struct run_ends {
    uint32_t first, last; /* rows of either end; both 0: all are wanted      */
    unsigned columns; /* of the run: up to the last one that makes the order */
};

/* The bits of a run's keys in which rows may differ that the order has as equals:
 * those of the columns behind it. */
uint64_t run_ends_behind(const struct run_ends *ends, const struct run *run);

/* Adds the numbers of those rows, among them at places [begin, end), to a vector
 * of uint32_t, each once, in whatever order. False: no memory. */
bool run_ends_add(const struct run_ends *ends, const struct run *run,
                  uint32_t begin, uint32_t end, struct vector *rows);

#endif
