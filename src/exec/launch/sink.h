/* SPDX-License-Identifier: MIT */
/*
 * A sink: takes rows where they are, on the device, so that they need not
 * come to the host: result rows of launches, or those of a join. Its kernels
 * go into the device's queue behind what wrote the rows, and in front of what
 * writes there next.
 */
#ifndef VDBQ_EXEC_SINK_H
#define VDBQ_EXEC_SINK_H

#include "api/vdbq.h"
#include "device/device.h"

/* A column of the rows that are taken. */
struct device_column {
    enum vdbq_type type; /* of SQL */
    bool nullable;       /* a value may be NULL */
    bool ranged;         /* integers: they are known to be ... */
    int64_t low, high;   /* least and greatest value, where it is ranged */
};

/* Rows [start, start + count) of some columns. They are there until the next
 * ones are asked for. */
struct sink_rows {
    struct device_memory *memory; /* all columns lie in it */
    const struct output *outputs; /* one a column: where they lie;
                                     null_register -1: none is NULL */
    uint64_t start, count;        /* the first row and how many there are */
};

struct sink {
    const bool *reads; /* a column: whether it is looked at; NULL: all are */
    /* Takes the next rows, in their order unless any_order says otherwise. */
    enum vdbq_status (*take)(struct sink *sink, const struct sink_rows *rows,
                             struct error *error);
    /* Waits until no rows are read any more. */
    enum vdbq_status (*wait)(struct sink *sink, struct error *error);
    bool any_order; /* rows may be taken in any order: nothing hangs on it */
    uint64_t rows;  /* that it took; who gives them counts */
};

#endif
