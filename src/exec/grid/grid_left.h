/* SPDX-License-Identifier: MIT */
/*
 * The left rows of a grid, a morsel at a time, in pinned memory: two morsels,
 * so that one may be filled while launches work on the other.
 */
#ifndef VDBQ_EXEC_GRID_LEFT_H
#define VDBQ_EXEC_GRID_LEFT_H

#include "exec/grid/grid_axis.h"

struct left_morsel {
    struct device_memory *memory; /* NULL: none yet                       */
    uint64_t rows_room;           /* rows that the memory has room for */
    uint64_t rows;                /* that are there */
    uint64_t first;               /* number of its first row              */
    bool *nulls;                  /* per input: whether it has NULL bits     */
    unsigned in_flight;           /* launches that read it                */
};

struct grid_left {
    struct axis *axis;             /* the left one */
    const struct run_place *place; /* of the launches; its device owns the
                                      memory of the morsels                  */
    /* one is filled while launches read the other */
    struct left_morsel morsels[2];
    unsigned now;                /* the one that is filled, or was last     */
    struct vdbq_batch pending;   /* rows that are in no morsel yet, from
                                  `pending_next` on                              */
    uint64_t pending_next;       /* rows of `pending` that are in a morsel */
    uint64_t rows_room;          /* of the next morsel                       */
    uint64_t rows_filled;        /* in morsels so far                        */
    bool ended;                  /* the stream has no more rows */
    struct column_input *places; /* of a launch                             */
};

/* A zeroed struct with axis and place. */
enum vdbq_status grid_left_init(struct grid_left *left, struct arena *arena,
                                struct error *error);
void grid_left_finish(struct grid_left *left); /* accepts a zeroed struct */

/* Whether the next morsel can be filled: no launch reads it. */
bool grid_left_has_room(const struct grid_left *left);
/* Fills it; no row: there are no more. Rows that came before a failure are in
 * it. */
enum vdbq_status grid_left_fill(struct grid_left *left,
                                struct device_times *times,
                                struct error *error);
/* The morsel that was filled last. */
struct left_morsel *grid_left_filled(struct grid_left *left);
/* Its inputs, from row `row` on, a multiple of 64, for `rows` rows, and where
 * they lie. */
struct launcher_morsel grid_left_morsel(struct grid_left *left, uint64_t row,
                                        uint64_t rows);

#endif
