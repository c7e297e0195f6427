/* SPDX-License-Identifier: MIT */
/*
 * Inner rows as inner.c gathered them, for inner_put.c, which lays them out.
 * Columns are numbered as inner_dictionaries() has them: those that the program
 * reads, then those that it probes.
 */
#ifndef VDBQ_EXEC_INNER_COLUMNS_H
#define VDBQ_EXEC_INNER_COLUMNS_H

#include "exec/build_side/inner.h"
#include "exec/build_side/inner_rows.h"
#include "exec/build_side/key_index.h"

struct inner {
    const struct stream_params *params;
    const struct program *program;
    struct program_pack pack;
    struct inner_rows *rows; /* one a cursor; of those that are axes none */
    unsigned cursors;
    /* one a column: see inner_dictionaries() */
    struct dictionary **dictionaries;
    struct run_inner run;
    struct order_codes *order_codes;
    struct inner_feed *feeds;
    struct key_index *indexes;
    struct feed_range *ranges;
    struct resident *resident; /* of which `bytes` are held                 */
    struct stream_memory *memory; /* ... and of this, where the device's
                                   memory is the host's; NULL: there is none */
    uint64_t held_bytes;
    uint64_t bytes;
    uint64_t host_bytes; /* of these the host writes the first ones   */
    struct device_times times;
    char text[192]; /* for stats                                 */
    struct arena arena;
};

unsigned inner_column_count(const struct inner *inner);
const struct program_feed *inner_feed_at(const struct inner *inner, unsigned i);
struct row_set_column *inner_column_at(const struct inner *inner, unsigned i);
uint64_t inner_rows_at(const struct inner *inner, unsigned i);
/* The rows of column i that are on the device; NULL: they are not. */
struct inner_device *inner_taken_at(const struct inner *inner, unsigned i);

/* Lets the rows go, once they are where they are to be. */
void inner_release_rows(struct inner *inner);

#endif
