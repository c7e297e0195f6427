/* SPDX-License-Identifier: MIT */
/*
 * The runner: one program on one device, with the memory that its launches
 * need. It knows feeds and result rows, not tables. The two-step result is
 * made here: step one in the kernel, step two by joining what lies in order,
 * or by moving it on the device.
 */
#ifndef VDBQ_EXEC_RUNNER_H
#define VDBQ_EXEC_RUNNER_H

#include "device/device.h"
#include "program/program.h"

/* How data gets to the machine and back. */
enum run_mode {
    MODE_SERIAL, /* copied in, run, copied out, one after another       */
    MODE_MAPPED  /* the machine works in the host's pinned memory       */
};

struct runner_params {
    struct device *device;
    const struct program *program; /* checked; outlives the runner */
    enum run_mode mode;
    enum device_build build;
    bool adaptive; /* `build` is ours to choose, and to change between
                      launches: exec/adapt.h                           */
    uint64_t rows; /* of all launches together, as far as is known     */
};

struct runner;

enum vdbq_status runner_open(const struct runner_params *params,
                             struct runner **runner, struct error *error);
void runner_close(struct runner *runner);

/* The columns that the program reads: feed i of an input is feeds[i]. */
const struct program_pack *runner_pack(const struct runner *runner);

/* The most rows of one launch: work is bounded to a fraction of a second and
 * memory to a fixed share. A multiple of 64. */
uint64_t runner_rows_max(const struct runner *runner);

/* One launch: rows [0, rows) of the feeds. With MODE_MAPPED `data` holds them
 * at the offsets that the feeds name. With MODE_SERIAL the feeds are copied
 * from `host` at these offsets, column by column, and `data` is NULL. */
struct runner_input {
    const struct feed *feeds;
    struct device_memory *data;
    const u8 *host;
    uint64_t rows;
};

/* Runs it; its result rows are then given out by runner_batch(). A fault of
 * a row fails with RANGE and the position of the instruction. */
enum vdbq_status runner_run(struct runner *runner,
                            const struct runner_input *input,
                            struct error *error);

/* The next result rows of the last run, in order; rows 0: no more. They live
 * until the next run. */
void runner_batch(struct runner *runner, struct vdbq_batch *batch);

/* The build that runs: "interpreted", "specialised", or from which launch on
 * it was which. Lives as long as the runner. */
const char *runner_build(struct runner *runner);

/* What runs have cost so far; the caller may add to it. */
struct device_times *runner_times(struct runner *runner);

#endif
