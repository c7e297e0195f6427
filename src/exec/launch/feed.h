/* SPDX-License-Identifier: MIT */
/*
 * Feeds: where the machine finds a column's values in a tablet, and how many
 * bytes of it some rows take.
 */
#ifndef VDBQ_EXEC_FEED_H
#define VDBQ_EXEC_FEED_H

#include "cl/launch.h"
#include "data/catalogue/catalogue.h"

/* Number in the table of the program's column `column`; -1 is the key, which
 * may be NO_KEY. */
unsigned feed_table_column(const struct table *table, int column);

/* A column of a tablet from row `row` on, a multiple of 64; offsets are those
 * of the tablet. */
struct feed feed_column(const struct tablet *tablet, unsigned column, u64 row);
/* The same feed from row `row` on, of one that starts at row 0. */
struct feed feed_from(struct feed feed, u64 row);
/* The row numbers from `first` on. */
struct feed feed_numbers(u64 first);

/* Bytes at `values` and at `nulls` that `rows` rows take; 0: none. */
u64 feed_value_bytes(const struct feed *feed, u64 rows);
u64 feed_null_bytes(const struct feed *feed, u64 rows);

#endif
