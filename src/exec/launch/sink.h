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
#include "cl/launch.h"
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
    uint64_t number; /* of the first, at least: those before it have less   */
};

/* Groups to which a machine that is made so adds rows by itself
 * (cl/sink/group.cl): of such a launch none is taken. */
struct sink_groups {
    struct device_memory *records;       /* of all codes of the keys       */
    struct launch_key keys[LAUNCH_KEYS]; /* of the program's Key opcodes   */
    u32 bytes;                           /* of the records                 */
    u32 copies, copy_bytes; /* of a work-group's own; 0: it has none        */
};

struct sink {
    const bool *reads; /* a column: whether it is looked at; NULL: all are */
    /* Takes the next rows, in their order unless any_order says otherwise. */
    enum vdbq_status (*take)(struct sink *sink, const struct sink_rows *rows,
                             struct error *error);
    /* Waits until no rows are read any more. */
    enum vdbq_status (*wait)(struct sink *sink, struct error *error);
    /* With groups: all launches were started, each of which adds its rows to them;
     * what follows may be put into the queue behind these. Is not called where it
     * is not so. NULL: nothing follows. */
    enum vdbq_status (*all_started)(struct sink *sink, struct error *error);
    bool any_order; /* rows may be taken in any order: nothing hangs on it */
    uint64_t rows;  /* that it took; who gives them counts */
    const struct sink_groups *groups; /* NULL: all rows are to be taken     */
    uint64_t numbers; /* with groups: that rows of launches so far may have */
    bool grouped;     /* a launch has added its rows                        */
};

#endif
