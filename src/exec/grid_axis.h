/* SPDX-License-Identifier: MIT */
/*
 * The axes of a grid: where the rows of each come from, and the rows of all
 * but the first, which are gathered in the device's memory.
 */
#ifndef VDBQ_EXEC_GRID_AXIS_H
#define VDBQ_EXEC_GRID_AXIS_H

#include "exec/control.h"
#include "exec/relation.h"
#include "exec/stream_inner.h"

/* A column that the program reads of an axis. */
struct axis_feed {
    int column;     /* of the axis' rows; -1: their number                */
    unsigned width; /* bytes of a value                                   */
};

/* One axis. Of a step's rows the program reads the columns that it names; a
 * table of the catalogue is scanned first by a slice of the program, which
 * gives the columns that the whole one reads, in their order. */
struct axis {
    struct stream *rows;   /* NULL: all were taken                        */
    struct steps steps;    /* the slice, of a table; else zeroed          */
    struct axis_feed *feeds;
    unsigned feed_count;
    struct relation relation; /* all rows, once they were gathered        */
};

/* Opens the rows of axis `cursor` of a grid. axis_finish() is due whatever it
 * returns, and accepts a zeroed struct. */
enum vdbq_status axis_open(struct axis *axis, struct stream *grid,
                           const struct program_pack *pack, int cursor,
                           struct error *error);
void axis_finish(struct axis *axis, struct stream *grid);
/* Ends the use of the rows, which were all taken. */
void axis_close_rows(struct axis *axis, struct stream *grid);

/* The words of a feed; NULL: it is no text. */
struct words *axis_words(const struct axis *axis, unsigned feed);

/* The inner rows of all axes but the first. Where they are too many for the
 * device, those of axis 1 are there in parts, one after the other. */
struct grid_inner {
    struct axis *axes;          /* the first one is the left one         */
    unsigned axis_count;
    struct device_memory *memory;
    struct inner_feed *feeds;   /* in the order of the pack's            */
    unsigned feed_count;
    uint64_t part_rows;         /* of axis 1 in a part, at most          */
    uint64_t parts;
    uint64_t part;              /* that is there; `parts`: none          */
    uint64_t bytes;             /* that were moved to the device         */
    struct run_inner run;       /* for runner_params; ranks are the
                                   caller's to set                       */
};

/* Gives the gathered rows of the axes their places; a zeroed struct with axes
 * and their count. */
enum vdbq_status grid_inner_init(struct grid_inner *inner,
                                 struct device *device, struct arena *arena,
                                 struct error *error);
void grid_inner_finish(struct grid_inner *inner);
/* Rows of axis 1 in a part. */
uint64_t grid_inner_rows(const struct grid_inner *inner, uint64_t part);
/* Brings a part to the device; nothing may be in flight. */
enum vdbq_status grid_inner_load(struct grid_inner *inner, uint64_t part,
                                 struct device_times *times,
                                 struct error *error);

#endif
