/* SPDX-License-Identifier: MIT */
/*
 * All rows of one input, gathered to be reached by their numbers: rows that a
 * program probes, and those of a grid's axes but the first. They are the
 * host's, or where the device has them already, its own.
 */
#ifndef VDBQ_EXEC_INNER_ROWS_H
#define VDBQ_EXEC_INNER_ROWS_H

#include "exec/launch/control.h"
#include "exec/build_side/inner_device.h"
#include "exec/rows/row_set.h"

struct inner_rows {
    struct row_set row_set;     /* how many they are, and the words; and the
                                   rows, unless the device took them       */
    struct inner_device *taken; /* ... which has them; NULL: it did not    */
};

/* Takes all rows of a stream: on `device`, if they are and can be there (NULL:
 * they cannot), the columns that are wanted. inner_rows_finish() is due
 * whatever it returns, and accepts a zeroed struct. */
enum vdbq_status inner_rows_take(struct inner_rows *rows, struct stream *stream,
                                 const struct inner_device_params *params,
                                 struct error *error);
void inner_rows_finish(struct inner_rows *rows);

/* Whether a value of a column can be NULL. */
bool inner_rows_nullable(const struct inner_rows *rows, unsigned column);

/* Gives `rows` values of a column their place from `*end` on, and behind them
 * their NULL flags, where there are any; moves the end. */
struct inner_feed inner_rows_place(uint64_t rows, unsigned width, bool nulls,
                                   u64 *end);

/* Copies rows [first, first + count) of a column to their place in the
 * device's memory, and waits for that. */
enum vdbq_status inner_rows_write(struct inner_rows *rows, unsigned column,
                                  uint64_t first, uint64_t count,
                                  struct device_memory *to,
                                  const struct inner_feed *place,
                                  struct device_times *times,
                                  struct error *error);

#endif
