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

/* Runs groups [0, groups) of a launch; the arguments are the kernel's. */
void host_machine_run(struct machine *machine, const u8 *control, u8 *result,
                      struct progress *progress, const u8 *build_side,
                      const u8 *const morsels[LAUNCH_MORSELS], u32 groups);

#endif
