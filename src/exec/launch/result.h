/* SPDX-License-Identifier: MIT */
/*
 * The result of a launch: where the machine writes rows and descriptors, and
 * how they come out as batches in table order. Part of the launcher.
 */
#ifndef VDBQ_EXEC_RESULT_H
#define VDBQ_EXEC_RESULT_H

#include "device/job.h"
#include "exec/launch/sink.h"
#include "program/program.h"

struct result_params {
    struct device *device;         /* the machine runs there */
    const struct program *program; /* its results are the columns */
    bool mapped;       /* the machine writes into the host's memory */
    struct sink *sink; /* takes the rows on the device; NULL: none */
};

/* Result rows that lie next to one another, in order. */
struct segment {
    u32 start; /* its first row in the room for rows */
    u32 count; /* its rows, at least 1 */
};

struct result {
    struct result_params params;
    struct vdbq_vector *vectors;   /* of the batch, one a result column     */
    struct output *outputs;        /* where the columns lie                 */
    bool dense;                    /* the rows lie in order, without gaps   */
    uint64_t rows_room;            /* rows there is room for                */
    uint64_t number;               /* of the first row, for a sink's groups */
    struct device_memory *written; /* what the machine writes               */
    struct device_memory *copied;  /* the host's copy, pinned; not mapped   */
    struct device_memory *narrow;  /* where narrow columns arrive, pinned;
                                      NULL: there were none                 */
    struct vector segments;        /* of struct segment, in table order     */
    struct vector copies;          /* of struct device_copy: the segments'  */
    uint64_t prefetched;           /* rows that were sent before they were
                                      known to be there                     */
    size_t next;                   /* the segment that comes next           */
    const u8 *host;                /* where the rows are, for the host      */
    struct arena arena;            /* of `vectors` and `outputs` */
};

/* Bytes of one result row, and of its NULLs. */
uint64_t result_row_bytes(const struct program *program);

enum vdbq_status result_init(struct result *result,
                             const struct result_params *params,
                             struct error *error);
/* Accepts a zeroed struct. */
void result_finish(struct result *result);

/* Makes room for a launch of `steps` steps by a machine of that shape: after
 * it `outputs` and the memories hold for the launch. */
enum vdbq_status result_begin(struct result *result, struct machine_shape shape,
                              uint64_t steps, struct device_times *times,
                              struct error *error);

/* Has no column leave narrow, as it is after result_begin(). */
void result_leave_wide(struct result *result);

/* Of a dense machine, before it has run: makes the `copies` that bring its
 * first `rows` rows to the host, as many as are likely to be there. */
enum vdbq_status result_prefetch(struct result *result, uint64_t rows,
                                 struct error *error);
/* The machine has run: makes `segments`, and the `copies` that bring them to
 * the host, but for rows that were prefetched. Descriptors follow `progress`
 * unless the machine is dense. */
enum vdbq_status result_arrange(struct result *result,
                                const struct progress *progress, unsigned steps,
                                struct error *error);
/* The copies are done: the rows can be read. */
enum vdbq_status result_land(struct result *result, struct device_times *times,
                             struct error *error);

/* Whether the rows are copied to the host. */
bool result_leaves(const struct result *result);

/* There are no segments left: others have taken their rows. */
void result_none(struct result *result);
/* Hands the segments' rows to the sink: there are none left. */
enum vdbq_status result_sink(struct result *result, struct error *error);

/* Puts the rows that landed next to one another where they came in many short
 * segments, for a reader whose threads share one batch. */
void result_close_up(struct result *result);

/* Whether there is another batch. */
bool result_has_batch(const struct result *result);
/* The next batch; rows 0: no more. Those before stay. */
void result_batch(struct result *result, struct vdbq_batch *batch);

#endif
