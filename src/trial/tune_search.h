/* SPDX-License-Identifier: MIT */
/*
 * The tuning run's searches: up to how many keys a look-up is faster p-ary, and from
 * how many on it is worth the way to the device.
 */
#ifndef VDBQ_TRIAL_TUNE_SEARCH_H
#define VDBQ_TRIAL_TUNE_SEARCH_H

#include "trial/tune.h"

/* Searches a made-up column for batches of keys both ways, reports a table of
 * what the kernels took, and gives the largest batch for which p-ary search took
 * less than that by tree; 0: it never did. On a device with memory of its own also the least
 * batch from which on it takes less than the host's threads do, with the ways
 * there and back; LOOK_UPS_NEVER: none does. Fails with DEVICE, NO_MEMORY,
 * CANCELLED. */
enum vdbq_status tune_search(const struct tune_params *params,
                             struct device_tuning *best, struct error *error);

#endif
