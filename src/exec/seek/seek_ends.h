/* SPDX-License-Identifier: MIT */
/*
 * Tablets that can have some of the first or the last rows of a table in the order
 * of a column, by the facts of all.
 */
#ifndef VDBQ_EXEC_SEEK_ENDS_H
#define VDBQ_EXEC_SEEK_ENDS_H

#include "exec/seek/seek_terms.h"

/* Makes a flag for each tablet of the seek's table: whether it is to be looked
 * through for the ends that the seek asks for. `*wanted` becomes NULL where the
 * facts say nothing of that, or no ends are asked for; the caller releases it.
 * Fails with NO_MEMORY. */
enum vdbq_status seek_ends_tablets(const struct seek_terms *terms,
                                   bool **wanted, struct error *error);

/* So many rows at least are between the seek's bounds, by the facts of all. */
uint64_t seek_ends_sure(const struct seek_terms *terms);

#endif
