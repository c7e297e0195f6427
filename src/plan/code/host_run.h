/* SPDX-License-Identifier: MIT */
/*
 * A program that is run while it is planned, on the host, over some rows in
 * memory: so that what the planner computes is what the machine would give.
 */
#ifndef VDBQ_PLAN_CODE_HOST_RUN_H
#define VDBQ_PLAN_CODE_HOST_RUN_H

#include "base/error.h"
#include "base/type.h"
#include "cl/launch.h"

struct machine;
struct program;

enum { HOST_RUN_ROWS = 64 }; /* at most */

/* Rows of a program's one table. */
struct host_rows {
    uint32_t count;                    /* 1 to HOST_RUN_ROWS              */
    const struct vdbq_vector *columns; /* no texts; by number; NULL where
                                          the program reads none          */
};

/* The values of its one result column, of the type that it has. */
struct host_result {
    union {
        int32_t i32[HOST_RUN_ROWS];
        int64_t i64[HOST_RUN_ROWS];
        float f32[HOST_RUN_ROWS];
        double f64[HOST_RUN_ROWS];
    } values;
    uint8_t nulls[HOST_RUN_ROWS];
    struct progress progress;
    struct descriptor descriptors[HOST_RUN_ROWS]; /* follow */
};

/* Runs a checked program that keeps all rows. `*machine` is made where it is
 * NULL; host_machine_destroy() is the caller's. Fails with RANGE, as the
 * program does for a row, and with NO_MEMORY. */
enum vdbq_status host_run(struct machine **machine, struct program *program,
                          const struct host_rows *rows,
                          struct host_result *result, struct error *error);

#endif
