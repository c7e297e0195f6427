/* SPDX-License-Identifier: MIT */
/*
 * Rows of a tablet whose keys have new values, or that are gone, by its edit: no run
 * of what the edit is over knows of these. They are found in runs of their own
 * (data/index/edited_run.h).
 */
#ifndef VDBQ_EXEC_SEEK_EDITED_H
#define VDBQ_EXEC_SEEK_EDITED_H

#include "exec/seek/seek_find.h"

/* Whether some row has a new value in a key; `edit` may be NULL. */
bool seek_edited_any(const struct seek_terms *terms, const struct edit *edit);
/* How many rows at most have a new value in a key. */
uint32_t seek_edited_most(const struct seek_terms *terms,
                          const struct edit *edit);
/* The edit of a level of a job, if it has rows with new keys; or NULL. */
const struct edit *seek_edited_level(const struct seek_work *work,
                                     const struct seek_job *job,
                                     unsigned level);
/* Finds those of a job's runs that are kept, but not those that it made. */
void seek_edited_find(const struct seek_work *work, struct seek_job *job);
/* Whether one of them is neither kept nor made yet. */
bool seek_edited_misses(const struct seek_work *work,
                        const struct seek_job *job, unsigned level);
/* On whatever thread: forgets rows that were found and are gone, or have other keys. */
void seek_edited_forget(const struct seek_work *work, struct seek_job *job);
/* ... and adds those that are found by these. Of a seek by columns it makes the runs
 * that are missing, of `base`: what the edit is over, with its keys in memory where
 * there are several. False: no memory, or the thread is to stop. */
bool seek_edited_put(const struct seek_work *work, struct seek_job *job,
                     const void *base);
/* Keeps runs that a job made, if there is room. */
void seek_edited_keep(const struct seek_work *work, struct seek_job *job);

#endif
