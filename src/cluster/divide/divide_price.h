/* SPDX-License-Identifier: MIT */
/*
 * What it costs ranks to send rows to one another, as measured with 2 ranks on
 * host cores.
 */
#ifndef VDBQ_CLUSTER_DIVIDE_PRICE_H
#define VDBQ_CLUSTER_DIVIDE_PRICE_H

#include "data/catalogue/catalogue.h"
#include "program/steps/steps.h"

/* Nanoseconds that it takes to hash, pack, send and take all rows of a step:
 * what is read of their columns, and the words of texts. Below 0: nobody knows how
 * many rows there are. */
double divide_move_ns(const struct steps *steps,
                      const struct catalogue *catalogue, int number);

#endif
