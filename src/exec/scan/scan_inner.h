/* SPDX-License-Identifier: MIT */
/*
 * What the files of a scan share: scan_open.c makes it ready, scan.c runs it.
 */
#ifndef VDBQ_EXEC_SCAN_INNER_H
#define VDBQ_EXEC_SCAN_INNER_H

#include "base/held_error.h"
#include "exec/scan/scan.h"
#include "exec/scan/source.h"
#include "exec/scan/walk.h"

/* A launch in flight. */
struct part {
    struct source sources[LAUNCH_MORSELS]; /* one a morsel */
    uint64_t rows;                         /* of the launch */
    uint64_t bytes;                        /* of the columns that it reads */
    uint64_t bytes_mapped;                 /* ... those that lie in the file */
};

struct scan {
    struct pool_holder holder; /* first: of what launches in flight read */
    /* of the caller; what they point to outlives the scan */
    struct scan_params params;
    struct launcher *launcher;    /* runs the launches */
    struct sink *sink;            /* that takes the rows; NULL: none */
    struct launch_tables *tables; /* of groups that take the rows, or NULL */
    const struct launch_bound *bound; /* of a sort that takes them, or NULL */
    uint64_t few; /* rows after which the reader is likely to end; 0: none */
    const struct table *table;    /* NULL: a program without a table, one row */
    struct source_params sources; /* how tablets are opened */
    struct column_input *inputs;  /* of the launch at hand, morsel by morsel  */
    struct vector copies;         /* struct device_copy: likewise             */
    struct part parts[LAUNCHER_RING_MAX]; /* a ring: those in flight         */
    unsigned first;        /* the oldest of them                       */
    struct walk walk;      /* over the table, if any: what comes next  */
    uint64_t rows_run;     /* whose parts are done                     */
    uint64_t bytes_done;   /* of the columns that were read            */
    uint64_t bytes_mapped; /* of which so many lie in the file         */
    bool fed;              /* nothing is left to start                 */
    bool fed_told;         /* ... and the launcher knows               */
    bool failed;           /* a launch failed: nothing is started any more */
    /* zeroed: the program needs none */
    struct run_dictionary dictionary;
    struct device_times word_times; /* of asking the device of words */
    struct held_error held; /* ... since this happened                 */
    struct held_error lost; /* launches in flight were, by this        */
    struct arena arena;     /* of all arrays                           */
};

/* Lets go of what a part held; `failed`: its launch was. */
void scan_part_close(struct scan *scan, struct part *part, bool failed);

#endif
