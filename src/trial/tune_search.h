/* SPDX-License-Identifier: MIT */
/*
 * The tuning run's searches: up to how many keys a look-up is faster p-ary.
 */
#ifndef VDBQ_TRIAL_TUNE_SEARCH_H
#define VDBQ_TRIAL_TUNE_SEARCH_H

#include "trial/tune.h"

/* Searches a made-up column for batches of keys both ways, reports a table of
 * what the kernels took, and gives the largest batch up to which p-ary search
 * took less; 0: it never did. Fails with DEVICE, NO_MEMORY, CANCELLED. */
enum vdbq_status tune_search(const struct tune_params *params,
                             uint64_t *pary_keys_max, struct error *error);

#endif
