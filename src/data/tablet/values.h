/* SPDX-License-Identifier: MIT */
/*
 * Values on their way into a table: whether the columns can have them.
 */
#ifndef VDBQ_DATA_VALUES_H
#define VDBQ_DATA_VALUES_H

#include "data/catalogue/catalogue.h"

enum { TEXT_BYTES_MAX = 256 << 20 }; /* of one text */

/* Fails with TYPE where a vector is not of its column's type, with RANGE for
 * a value that the type has not, for text that is too long or not UTF-8, and
 * with CONSTRAINT for a NULL where there may be none. The primary key's are
 * key.c's. */
enum vdbq_status values_check(const struct table *table, uint64_t rows,
                              const struct vdbq_vector *vectors,
                              struct error *error);
/* The same of one column's values. */
enum vdbq_status values_check_column(const struct table *table, unsigned column,
                                     uint64_t rows,
                                     const struct vdbq_vector *vector,
                                     struct error *error);
/* The same of all columns, but that a NULL does not fail. */
enum vdbq_status values_check_others(const struct table *table, uint64_t rows,
                                     const struct vdbq_vector *vectors,
                                     struct error *error);
/* Sets a byte of each row that has a NULL where there may be none, the primary key
 * aside, to 1, and leaves the others. */
void values_mark_nulls(const struct table *table, uint64_t rows,
                       const struct vdbq_vector *vectors, uint8_t *broken);

#endif
