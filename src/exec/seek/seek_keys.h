/* SPDX-License-Identifier: MIT */
/*
 * What a seek by the keys of an index does that one by columns does not: keys are
 * computed, by the thread that asks, where no run has them; and those of rows that
 * an edit gives other values have a run of their own.
 */
#ifndef VDBQ_EXEC_SEEK_KEYS_H
#define VDBQ_EXEC_SEEK_KEYS_H

#include "exec/seek/seek_find.h"

/* Whether that reads the tablet, or the base of its edit. */
bool seek_keys_computed(const struct seek_work *work,
                        const struct seek_job *job);
/* The run of the rows with other keys, if it is kept. */
const struct run *seek_keys_edited(const struct seek_work *work,
                                   const struct seek_job *job);
/* Computes the runs that a job has not, of columns that are in memory. Fails as
 * index_run(). */
enum vdbq_status seek_keys_compute(const struct seek_work *work,
                                   struct seek_job *job, struct error *error);
/* Forgets rows that were found and are gone, or have other keys, and adds those that
 * are found by these. False: no memory, or the thread is to stop. */
bool seek_keys_put(const struct seek_work *work, struct seek_job *job);
/* Keeps the run of the rows with other keys, if there is room. */
void seek_keys_end(const struct seek_work *work, struct seek_job *job);

#endif
