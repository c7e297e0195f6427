/* SPDX-License-Identifier: MIT */
/*
 * Inner rows: those of the cursors that a scan's program probes. They are
 * gathered from the step's inputs and put, with the indexes that find them,
 * into one memory of the device (cl/launch.h).
 */
#ifndef VDBQ_EXEC_INNER_H
#define VDBQ_EXEC_INNER_H

#include "exec/launch/resident.h"
#include "exec/stream/stream.h"
#include "exec/dictionary/run_dictionary.h"

struct inner;

/* Takes all rows of the inputs that the program of a scan's stream probes, and
 * closes these. What is scanned on `device`, where the program is to run, stays
 * there if it can (NULL: nothing does). `*inner` NULL: it probes none. */
enum vdbq_status inner_gather(struct stream *stream, struct device *device,
                              struct inner **inner, struct error *error);
/* Nothing that reads the rows may be in flight; accepts NULL. */
void inner_close(struct inner *inner);

/* The words of the columns that the program reads, then of those that it
 * probes; for run_dictionary_params. */
struct dictionary *const *inner_dictionaries(const struct inner *inner,
                                             unsigned *count);

/* Where the rows are to be. */
struct inner_place {
    struct device *device;
    struct resident *resident; /* whose budget they share; NULL: none  */
    /* of the run; may be zeroed where the program needs none */
    const struct run_dictionary *dictionary;
};
/* Puts them there. Fails with LIMIT where the budget or a buffer of the device
 * is too small, DEVICE, NO_MEMORY. */
enum vdbq_status inner_put(struct inner *inner, const struct inner_place *place,
                           struct error *error);

/* They are there: for launcher_params. NULL of NULL. */
const struct run_inner *inner_run(const struct inner *inner);

/* What is known of them, once they are there: a range for each column that
 * the program reads and for each that it probes, and behind these, for each
 * that it probes, of the numbers of rows. NULL of NULL. */
const struct feed_range *inner_ranges(const struct inner *inner);

/* Adds what they have cost, and names them; accepts NULL. */
void inner_stats(const struct inner *inner, struct vdbq_stats *stats);

#endif
