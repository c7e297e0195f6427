/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table, with their numbers, in the order of the parts that the hash of
 * their keys names, each part in tablets of its own.
 */
#ifndef VDBQ_DATA_PARTS_ORDER_H
#define VDBQ_DATA_PARTS_ORDER_H

#include "data/transaction/transaction.h"

/* The part of a row: the same for equal keys, whatever type an integer has. */
unsigned parts_of_row(const struct table_parts *parts,
                      const struct vdbq_vector *vectors, uint64_t row);

/* Puts the rows of a table in the order of their parts, those of one part as they
 * were, and gives it a last column with the numbers that they had; the table is read
 * once for each part. Tells the first tablet of each part, and behind these how many
 * there are. Fails with LIMIT (there is no room for a column), IO, CORRUPT, CANCELLED,
 * NO_MEMORY. */
enum vdbq_status parts_order(struct transaction *transaction,
                             const struct table_parts *parts, size_t *first,
                             struct error *error);

#endif
