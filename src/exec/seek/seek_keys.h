/* SPDX-License-Identifier: MIT */
/*
 * What a seek by the keys of an index does that one by columns does not: keys are
 * computed, by the thread that asks, where no run has them.
 */
#ifndef VDBQ_EXEC_SEEK_KEYS_H
#define VDBQ_EXEC_SEEK_KEYS_H

#include "exec/seek/seek_find.h"

/* Whether that reads the tablet, or the base of its edit. */
bool seek_keys_computed(const struct seek_work *work,
                        const struct seek_job *job);
/* Computes the runs that a job has not, of columns that are in memory. Fails as
 * index_run(). */
enum vdbq_status seek_keys_compute(const struct seek_work *work,
                                   struct seek_job *job, struct error *error);

#endif
