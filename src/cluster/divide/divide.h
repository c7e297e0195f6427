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
#include "api/query.h"
#include "program/steps/steps.h"

struct divide_params {
    const struct catalogue *catalogue; /* whose tables the steps read */
    unsigned ranks;
    enum exchange_choice exchange; /* ranks that are devices have none */
};
/* Divides steps: `*division` says where the STEP_GATHER is, or why they stay as
 * they are. False: no memory. */
bool steps_divide(struct steps *steps, const struct divide_params *params,
                  struct query_division *division);

/* What dividing asks of steps. The only reader of a step, and which of its inputs
 * the step is; -1: there is none, or there are several. */
int divide_reader(const struct steps *steps, int number, size_t *input);
/* Whether the rows that a step gives are, in their order, those that come of each
 * row of an input, so that shares of these give shares of them. */
bool divide_passes(const struct step *step, size_t input);
/* The table that a step runs over; NULL: it is no scan of one. */
const struct table *divide_scanned(const struct catalogue *catalogue,
                                   const struct step *step);

#endif
