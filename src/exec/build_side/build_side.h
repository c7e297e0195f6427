/* SPDX-License-Identifier: MIT */
/*
 * Build rows: those of the cursors that a scan's program probes. They are
 * taken from the step's inputs and put, with the indexes that find them,
 * into one memory of the device (cl/launch.h).
 */
#ifndef VDBQ_EXEC_BUILD_SIDE_H
#define VDBQ_EXEC_BUILD_SIDE_H

#include "exec/launch/resident.h"
#include "exec/stream/stream.h"
#include "exec/dictionary/run_dictionary.h"

struct build_side;

/* Takes all rows of the inputs that the program of a scan's stream probes, and
 * closes these. What is scanned on `device`, where the program is to run, stays
 * there if it can (NULL: nothing does). `*inner` NULL: it probes none. */
enum vdbq_status build_side_open(struct stream *stream, struct device *device,
                                 struct build_side **build_side,
                                 struct error *error);
/* Nothing that reads the rows may be in flight; accepts NULL. */
void build_side_close(struct build_side *build_side);

/* The words of the columns that the program reads, then of those that it
 * probes; for run_dictionary_params. */
struct dictionary *const *
build_side_dictionaries(const struct build_side *build_side, unsigned *count);

/* Puts them where the program runs; they share the budget of the place's
 * resident tablets, if it has any. `dictionary`: of the run; may be zeroed where
 * the program needs none. Fails with LIMIT where the budget or a buffer of the
 * device is too small, DEVICE, NO_MEMORY. */
enum vdbq_status build_side_put(struct build_side *build_side,
                                const struct run_place *place,
                                const struct run_dictionary *dictionary,
                                struct error *error);

/* They are there: for launcher_params. NULL of NULL. */
const struct run_build_side *
build_side_run(const struct build_side *build_side);

/* What is known of them, once they are there: a range for each column that
 * the program reads and for each that it probes, and behind these, for each
 * that it probes, of the numbers of rows. NULL of NULL. */
const struct input_range *
build_side_ranges(const struct build_side *build_side);

/* Adds what they have cost, and names them; accepts NULL. */
void build_side_stats(const struct build_side *build_side,
                      struct vdbq_stats *stats);

#endif
