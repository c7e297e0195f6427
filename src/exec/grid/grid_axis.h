/* SPDX-License-Identifier: MIT */
/*
 * The axes of a grid: where the rows of each come from, and the rows of all
 * but the first, which are put into the device's memory.
 */
#ifndef VDBQ_EXEC_GRID_AXIS_H
#define VDBQ_EXEC_GRID_AXIS_H

#include "exec/build_side/build_rows.h"
#include "exec/launch/resident.h"
#include "exec/stream/stream_inner.h"

/* A column that the program reads of an axis. */
struct axis_input {
    int column;     /* of the axis' rows; -1: their number                */
    unsigned width; /* bytes of a value                                   */
};

/* One axis. Of a step's rows the program reads the columns that it names; a
 * table of the catalogue is scanned first by a slice of the program, which
 * gives the columns that the whole one reads, in their order. */
struct axis {
    struct stream *rows;       /* NULL: all were taken                        */
    struct steps steps;        /* the slice, of a table; else zeroed          */
    struct axis_input *inputs; /* what the program reads of it; owned */
    unsigned input_count;      /* of `inputs` */
    struct build_rows build_side; /* all rows, once they are here        */
    bool *wanted; /* columns of them that the program reads; owned */
};

/* Opens the rows of axis `cursor` of a grid. axis_finish() is due whatever it
 * returns, and accepts a zeroed struct. */
enum vdbq_status axis_open(struct axis *axis, struct stream *grid,
                           const struct program_pack *pack, int cursor,
                           struct error *error);
void axis_finish(struct axis *axis, struct stream *grid);
/* Takes the rows; on `device` if they are there (NULL: they come). */
enum vdbq_status axis_take_rows(struct axis *axis, struct stream *grid,
                                struct device *device, struct error *error);

/* The words of an input; NULL: it is no text. */
struct dictionary *axis_dictionary(const struct axis *axis, unsigned input);

/* The build rows of all axes but the first. Where they are too many for the
 * device, those of axis 1 are there in parts, one after the other. */
struct grid_build {
    struct axis *axes;   /* the first one is the left one         */
    unsigned axis_count; /* of `axes` */
    /* the columns of all axes but the left; owned */
    struct device_memory *memory;
    struct resident *resident;  /* of which `bytes` are held; NULL: none  */
    struct build_input *inputs; /* in the order of the pack's            */
    unsigned input_count;       /* of `inputs` */
    uint64_t part_rows;         /* of axis 1 in a part, at most          */
    uint64_t parts;             /* how many parts axis 1 has */
    uint64_t part;              /* that is there; `parts`: none          */
    uint64_t bytes;             /* of the memory                         */
    struct run_build_side run;  /* for launcher_params; order codes are the
                                   caller's to set                       */
};

/* Gives the rows of the axes their places, within a share of the place's
 * budget (without one: of the device's memory); a zeroed struct with axes and their
 * count. Fails with LIMIT where not even a part fits. */
enum vdbq_status grid_build_init(struct grid_build *build_side,
                                 const struct run_place *place,
                                 struct arena *arena, struct error *error);
void grid_build_finish(struct grid_build *build_side);
/* Rows of axis 1 in a part. */
uint64_t grid_build_rows(const struct grid_build *build_side, uint64_t part);
/* Brings a part to the device; nothing may be in flight. */
enum vdbq_status grid_build_load(struct grid_build *build_side, uint64_t part,
                                 struct device_times *times,
                                 struct error *error);

#endif
