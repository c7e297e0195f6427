/* SPDX-License-Identifier: MIT */
/*
 * What rows must be, each for itself, before a table takes them: of the
 * columns' types, not NULL where that is said, within the range of types that
 * are narrower than their numbers.
 */
#ifndef VDBQ_DATA_ROW_CHECK_H
#define VDBQ_DATA_ROW_CHECK_H

#include "data/catalogue.h"

/* Fails with TYPE, CONSTRAINT (a NULL), RANGE. */
enum vdbq_status row_check(const struct table *table, uint64_t rows,
                           const struct vdbq_vector *vectors,
                           struct error *error);

#endif
