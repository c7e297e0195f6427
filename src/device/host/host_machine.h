/* SPDX-License-Identifier: MIT */
/*
 * The machine as host C, for the host device: one group at a time.
 */
#ifndef VDBQ_DEVICE_HOST_MACHINE_H
#define VDBQ_DEVICE_HOST_MACHINE_H

#include "cl/launch.h"

struct machine;

/* Rows that one step covers. */
unsigned host_machine_step_rows(void);

/* A machine's registers; NULL: no memory. It serves one run at a time. */
struct machine *host_machine_create(void);
void host_machine_destroy(struct machine *machine);

/* The arguments of the kernel. */
struct host_machine_arguments {
    const u8 *control;
    u8 *result;
    struct progress *progress;
    const u8 *build_side;
    const u8 *morsels[LAUNCH_MORSELS];
};

/* Runs groups [first, end) of a launch. Several machines may each run some of
 * its groups at once. */
void host_machine_run(struct machine *machine,
                      const struct host_machine_arguments *arguments, u32 first,
                      u32 end);
/* Puts what failed first in a machine's groups in the progress, unless another
 * group failed before it; no machine may run. */
void host_machine_report(const struct machine *machine,
                         struct progress *progress);

#endif
