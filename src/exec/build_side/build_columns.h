/* SPDX-License-Identifier: MIT */
/*
 * Build rows as build_side.c took them, for build_side_put.c, which lays
 * them out. Columns are numbered as build_side_dictionaries() has them: those
 * that the program reads, then those that it probes.
 */
#ifndef VDBQ_EXEC_BUILD_COLUMNS_H
#define VDBQ_EXEC_BUILD_COLUMNS_H

#include "exec/build_side/build_side.h"
#include "exec/build_side/build_rows.h"
#include "exec/build_side/key_index.h"

struct build_side {
    const struct stream_params *params; /* of the query's run */
    const struct program *program;      /* of the scan that probes */
    struct program_pack pack; /* of the program: names columns and indexes */
    struct build_rows *rows;  /* one a cursor; of those that are axes none */
    unsigned cursors;         /* of the program, axes first */
    /* one a column: see build_side_dictionaries() */
    struct dictionary **dictionaries;
    struct run_build_side run; /* what the launcher gets */
    /* one a column: order codes of its dictionary */
    struct order_codes *order_codes;
    struct build_input *inputs;  /* one a column: where it lies in the memory */
    struct key_index *indexes;   /* one an index of the pack */
    struct input_range *ranges;  /* one a column: bounds of its values */
    struct resident *resident;   /* of which `bytes` are held                 */
    struct account_share memory; /* ... and of the query's account, where the
                                   device's memory is the host's          */
    uint64_t bytes;              /* of all columns and indexes together */
    uint64_t host_bytes;         /* of these the host writes the first ones   */
    uint64_t bounds_at; /* one struct keep_bounds a column: found by the device,
                           behind all indexes; 0: it has no rows          */
    struct device_times times; /* of what the device did for them */
    char text[192];            /* for stats                                 */
    struct arena arena;        /* of all arrays above */
};

unsigned build_column_count(const struct build_side *build_side);
const struct program_input *build_input_at(const struct build_side *build_side,
                                           unsigned i);
struct row_set_column *build_column_at(const struct build_side *build_side,
                                       unsigned i);
uint64_t build_rows_at(const struct build_side *build_side, unsigned i);
/* The rows of column i that are on the device; NULL: they are not. */
struct device_rows *build_device_at(const struct build_side *build_side,
                                    unsigned i);

/* The first column that is the same as column i. */
unsigned build_first_of(const struct build_side *build_side, unsigned i);

/* Whether the keys of an index need a place of their own: a key of 64 bits is
 * compared with them. */
bool build_needs_keys(const struct build_side *build_side, unsigned number);

/* build_side_device.c: what the bounds of all columns take; 0: the device has no rows. */
u64 build_bounds_bytes(const struct build_side *build_side);
/* Puts what is on the device already in place, waits for that, and notes what is in
 * it. */
enum vdbq_status build_put_device(struct build_side *build_side,
                                  struct error *error);

/* Lets the rows go, once they are where they are to be. */
void build_release_rows(struct build_side *build_side);

#endif
