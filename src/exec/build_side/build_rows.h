/* SPDX-License-Identifier: MIT */
/*
 * All rows of one input, kept to be reached by their numbers: rows that a
 * program probes, and those of a grid's axes but the first. They are the
 * host's, or where the device has them already, its own.
 */
#ifndef VDBQ_EXEC_BUILD_ROWS_H
#define VDBQ_EXEC_BUILD_ROWS_H

#include "exec/launch/control.h"
#include "exec/build_side/build_device.h"
#include "exec/rows/row_set.h"

struct stream;

struct build_rows {
    /* How many they are, and the words; and the rows, unless the device took
     * them. */
    struct row_set row_set;
    struct device_rows device_rows; /* those it took */
    bool on_device;                 /* they are there */
};

struct build_rows_params {
    struct device *device; /* NULL: none takes rows                          */
    const bool *wanted;    /* one a column of the stream: it is to be kept; they
                           live as long as the rows                      */
};
/* Begins to take the rows of a stream: on `device`, if they are and can be there (NULL:
 * they cannot), the columns that are wanted; elsewhere nothing begins.
 * build_rows_finish() is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status build_rows_begin(struct build_rows *rows,
                                  struct stream *stream,
                                  const struct build_rows_params *params,
                                  struct error *error);
/* Takes all rows that the device gives or, where nothing began, the host. */
enum vdbq_status build_rows_take(struct build_rows *rows, struct stream *stream,
                                 struct error *error);
void build_rows_finish(struct build_rows *rows);

/* Whether a value of a column can be NULL. */
bool build_rows_nullable(const struct build_rows *rows, unsigned column);

/* Gives `rows` values of a column their place from `*end` on, and behind them
 * their NULL flags, where there are any; moves the end. */
struct build_input build_rows_place(uint64_t rows, unsigned width, bool nulls,
                                    u64 *end);

/* Copies rows [first, first + count) of a column to their place in the
 * device's memory, and waits for that. */
enum vdbq_status build_rows_write(struct build_rows *rows, unsigned column,
                                  uint64_t first, uint64_t count,
                                  struct device_memory *to,
                                  const struct build_input *place,
                                  struct device_times *times,
                                  struct error *error);

#endif
