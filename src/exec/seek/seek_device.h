/* SPDX-License-Identifier: MIT */
/*
 * Finding rows on the device: where many keys are looked for in runs that are
 * kept, they go to the device together, which has the runs' keys as it has
 * columns, and come back as places. What the device's tuning says decides whether
 * they do; rows and their order are the same either way.
 */
#ifndef VDBQ_EXEC_SEEK_DEVICE_H
#define VDBQ_EXEC_SEEK_DEVICE_H

#include "exec/seek/seek_find.h"

/* Finds the rows of jobs whose runs the device searches: those are `searched`. It
 * has no room for the others, or they are too few. */
enum vdbq_status seek_device_find(struct seek_work *work, struct seek_job *jobs,
                                  size_t count, struct error *error);

#endif
