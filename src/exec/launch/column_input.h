/* SPDX-License-Identifier: MIT */
/*
 * Column inputs: where the machine finds a column's values in a tablet, and how
 * many bytes of it some rows take.
 */
#ifndef VDBQ_EXEC_COLUMN_INPUT_H
#define VDBQ_EXEC_COLUMN_INPUT_H

#include "cl/launch.h"
#include "data/catalogue/catalogue.h"

/* Number in the table of the program's column `column`; -1 is the key, which
 * may be NO_KEY. */
unsigned column_input_number(const struct table *table, int column);

/* A column of a tablet from row `row` on, a multiple of 64; offsets are those
 * of the tablet. */
struct column_input column_input_of(const struct tablet *tablet,
                                    unsigned column, u64 row);
/* The same input from row `row` on, of one that starts at row 0. */
struct column_input column_input_from(struct column_input input, u64 row);
/* The row numbers from `first` on. */
struct column_input column_input_numbers(u64 first);

/* Bytes at `values` and at `nulls` that `rows` rows take; 0: none. */
u64 column_input_value_bytes(const struct column_input *input, u64 rows);
u64 column_input_null_bytes(const struct column_input *input, u64 rows);

#endif
