/* SPDX-License-Identifier: MIT */
/*
 * Rows that a join gave, as changes of a table.
 */
#ifndef VDBQ_DATA_MATCH_H
#define VDBQ_DATA_MATCH_H

#include "data/database/rows.h"

/* Brings rows, whose first column is the number of a row of the table, into the
 * order of the table, each once: of several the one whose next `value_count`
 * columns are the least. Fails with LIMIT, NO_MEMORY. */
enum vdbq_status match_rows(struct rows *rows, unsigned value_count,
                            struct error *error);

#endif
