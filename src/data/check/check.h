/* SPDX-License-Identifier: MIT */
/*
 * Proof of all that a state of a database leads to.
 */
#ifndef VDBQ_DATA_CHECK_H
#define VDBQ_DATA_CHECK_H

#include "base/vector.h"
#include "data/database/database.h"

enum { CHECK_FAULTS_MAX = 100 }; /* more are not told */

/* Reads every block that a snapshot leads to, and adds what is wrong to a vector of
 * struct text, a line each, with the table and the place in the file: tablets whose
 * checksums, layout, values or NULLs are not what the catalogue says, edits and
 * samples likewise, runs that are not in the order of their tablets' rows, and rows
 * that are alike in columns that are UNIQUE. Nothing is changed, and what is wrong is
 * no failure. Samples and lists were read when the state was: a database that was
 * opened for this has them from the file. Fails with CANCELLED, NO_MEMORY. */
enum vdbq_status check_snapshot(const struct snapshot *snapshot,
                                struct vector *faults, struct error *error);
/* Opens the file for that, and looks at its newest state; `compute` is what computes
 * keys of indexes (database_use_computer()). A file that cannot be opened for what is
 * in it is a fault. Fails with IO besides. */
enum vdbq_status check_file(const struct database_params *params,
                            index_computer compute, void *context,
                            struct vector *faults, struct error *error);

#endif
