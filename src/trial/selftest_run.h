/* SPDX-License-Identifier: MIT */
/*
 * One program of the self-test: on the host, on a device, and whether both gave
 * the same.
 */
#ifndef VDBQ_TRIAL_SELFTEST_RUN_H
#define VDBQ_TRIAL_SELFTEST_RUN_H

#include "exec/launch/launcher.h"
#include "trial/selftest_data.h"

/* A way to run a program. */
struct selftest_way {
    struct device *device;
    enum run_mode mode;
    enum device_build build;
};

/* The rows, on one device. */
struct selftest_rows {
    struct device_memory *pinned;
    struct device_memory *resident; /* for MODE_CACHED */
    struct device_memory *build_side;
};

/* What the program at hand leaves open. */
struct selftest_open_values {
    struct arena arena;
    struct run_values values;
    struct order_codes order_codes[SELFTEST_INPUTS_MAX];
    struct selftest_build_side build_side;
};

/* A self-test: what its programs are run on, and what they leave behind. */
struct selftest {
    struct selftest_way host;
    struct selftest_way device;
    struct selftest_rows host_rows;
    struct selftest_rows device_rows;
    const struct selftest_encoding *encoding; /* of columns; NULL: plain */
    bool hashed;                              /* indexes of build rows */
    uint32_t axis_rows[VDBQ_AXES_MAX - 1];    /* of a grid at hand           */
    struct selftest_open_values open;
    unsigned opcodes;   /* that were run so far, one way        */
    vdbq_report report; /* gets a line for each way, ...        */
    void *context;      /* ... and this                         */
    struct error *error;
};

/* Checks the program and runs it both ways, over the rows that are in place;
 * `what` is its name for messages. Fails with DEVICE and the first difference. */
enum vdbq_status selftest_run(struct selftest *test, const char *what,
                              struct program *program);

#endif
