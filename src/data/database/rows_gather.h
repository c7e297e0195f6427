/* SPDX-License-Identifier: MIT */
/*
 * Rows of batches, put together in memory.
 */
#ifndef VDBQ_DATA_ROWS_GATHER_H
#define VDBQ_DATA_ROWS_GATHER_H

#include "base/error.h"
#include "data/database/rows.h"

/* Adds rows first .. first + count - 1 of the columns; zeroed rows become such
 * that have these columns. Fails with LIMIT, NO_MEMORY. */
enum vdbq_status rows_gather(struct rows *rows,
                             const struct vdbq_vector *columns,
                             unsigned column_count, uint64_t first,
                             uint64_t count, struct error *error);

#endif
