/* SPDX-License-Identifier: MIT */
/*
 * How the steps of a query are divided among ranks: one scan of a table is run
 * over a share of its tablets on each, and so is what passes its rows on, row by
 * row. Where that ends, STEP_GATHER brings the ranks' rows together; all behind
 * it is rank 0's.
 */
#ifndef VDBQ_CLUSTER_DIVIDE_H
#define VDBQ_CLUSTER_DIVIDE_H

#include "data/catalogue/catalogue.h"
#include "program/steps/steps.h"

/* Divides steps that read tables of a catalogue. `*gather`: the number of the
 * STEP_GATHER; -1: they stay as they are, and `*alone` says why. False: no
 * memory. */
bool steps_divide(struct steps *steps, const struct catalogue *catalogue,
                  unsigned ranks, int *gather, const char **alone);

#endif
