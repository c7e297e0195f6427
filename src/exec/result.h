/* SPDX-License-Identifier: MIT */
/*
 * The result of a launch: where the machine writes rows and descriptors, and
 * how they come out as batches in table order. Part of the runner.
 */
#ifndef VDBQ_EXEC_RESULT_H
#define VDBQ_EXEC_RESULT_H

#include "device/device.h"
#include "program/program.h"

struct result_params {
    struct device *device;
    const struct program *program;
    bool mapped; /* the machine writes into the host's memory */
    struct machine_shape shape;
};

/* Result rows that lie next to one another, in order. */
struct segment {
    u32 start;
    u32 count;
};

struct result {
    struct result_params params;
    struct vdbq_vector *vectors;   /* of the batch, one a result column     */
    struct output *outputs;        /* where the columns lie                 */
    uint64_t rows_room;            /* rows there is room for                */
    struct device_memory *written; /* what the machine writes               */
    struct device_memory *ordered; /* in table order; NULL: `written` is    */
    struct device_memory *copied;  /* serial: the host's copy, pinned       */
    struct device_memory *descriptors;
    struct vector segments;        /* of struct segment, in table order     */
    size_t next;                   /* the segment that comes next           */
    const u8 *host;                /* where the rows are, for the host      */
    struct arena arena;
};

/* Bytes of one result row, NULL bytes included. */
uint64_t result_row_bytes(const struct program *program);

enum vdbq_status result_init(struct result *result,
                             const struct result_params *params,
                             struct error *error);
/* Accepts a zeroed struct. */
void result_finish(struct result *result);

/* The launches from now on are of another machine: other steps. */
void result_reshape(struct result *result, struct machine_shape shape);

/* Makes room for a launch over `rows` rows, writes the outputs' places into
 * `outputs` and names the memory in `launch`. */
enum vdbq_status result_begin(struct result *result, uint64_t rows,
                              struct output *outputs,
                              struct device_launch *launch,
                              struct device_times *times,
                              struct error *error);

/* Brings the rows of the launch to the host, in table order. `rows` is how
 * many the machine counted where descriptors come in any order. */
enum vdbq_status result_collect(struct result *result,
                                struct device_machine *machine,
                                const struct device_launch *launch,
                                uint64_t rows, struct device_times *times,
                                struct error *error);

/* The next batch; rows 0: no more. */
void result_batch(struct result *result, struct vdbq_batch *batch);

#endif
