/* SPDX-License-Identifier: MIT */
/*
 * Jobs: a launch on its way, so that the host need not wait. Bytes go in, the
 * machine runs, bytes come out; several jobs of one device are in flight at
 * once, and what one copies in overlaps what another runs or copies out.
 * Their machines start in the order of their starts, each once the one before
 * has ended, or, where the job says that it may, has no groups left to start.
 * A device without queues does everything when it is asked to.
 */
#ifndef VDBQ_DEVICE_JOB_H
#define VDBQ_DEVICE_JOB_H

#include <stddef.h>

#include "device/device.h"

struct device_job;

/* Bytes between the host and memory that the device holds. The fast way is from
 * and to pinned memory; plain bytes only go in. They belong to the job until it was
 * waited for. */
struct device_copy {
    struct device_memory *memory; /* of the device */
    uint64_t offset;              /* of the first byte in it */
    void *bytes;                  /* of the host */
    uint64_t size;                /* not 0 */
    bool plain;                   /* `bytes` lie in memory that is not pinned */
    struct device_memory *from;   /* a copy in: that `bytes` lie in; NULL: the
                                     caller does not say                     */
};

/* A launch of the machine. `control` starts with what `launch` is, and has the
 * struct progress behind that; the copies that go before set up both. */
struct device_launch {
    const struct launch_head *launch; /* head of the control block */
    struct device_memory *control;    /* the whole block */
    uint64_t progress_at; /* offset of the struct progress in it, a multiple
                             of 64; a descriptor or state a step follows  */
    struct device_memory *morsels[LAUNCH_MORSELS]; /* their tablets, or columns;
                                     NULL: no such morsel, or nothing is read */
    struct device_memory *build_side; /* the build rows; NULL: there are none */
    struct device_memory *result;     /* where rows are written */
};

struct device_job_params {
    struct device_machine *machine; /* to run */
    const struct device_copy *in;   /* made before the machine runs        */
    size_t in_count;                /* of `in` */
    struct device_launch launch;    /* of no step: the machine does not run */
    bool beside;                    /* it may run beside that of the job
                                     before: nothing that kernels write is
                                     read or written by both              */
    struct progress *progress;      /* host: as it is once the machine ran  */
    struct device_memory *progress_in; /* that it lies in               */
    uint64_t progress_size; /* of which so many bytes are wanted    */
};

enum vdbq_status device_job_create(struct device *device,
                                   struct device_job **job,
                                   struct error *error);
/* Waits for what is in flight; accepts NULL. */
void device_job_destroy(struct device_job *job);

/* Starts a job that was waited for, or is new. */
enum vdbq_status device_job_start(struct device_job *job,
                                  const struct device_job_params *params,
                                  struct error *error);
/* Whether the machine has run, so that device_job_run() would not wait. */
bool device_job_has_run(struct device_job *job);
/* Waits until the machine has run: `progress` is there. */
enum vdbq_status device_job_run(struct device_job *job, struct error *error);
/* Starts to copy result rows to the host, once the machine has run; more than
 * once a start, if there are more. */
enum vdbq_status device_job_collect(struct device_job *job,
                                    const struct device_copy *copies,
                                    size_t count, struct error *error);
/* Waits for everything, and adds what it cost. */
enum vdbq_status device_job_wait(struct device_job *job,
                                 struct device_times *times,
                                 struct error *error);

#endif
