/* SPDX-License-Identifier: MIT */
/*
 * The machine as host C: the same text that devices compile, so that there is
 * one meaning. It is the oracle of every test, and runs where no OpenCL is.
 * Compiled once for any CPU and once for each kind that can do more, where
 * HOST_MACHINE_RUN is the function's name (meson.build).
 */
#include "device/host/host_machine_run.h"

#include <assert.h>
#include <string.h>

#include "cl/ops.cl"

#include "cl/machine.cl"

#ifndef HOST_MACHINE_RUN
#define HOST_MACHINE_RUN host_machine_run_plain
#endif

void HOST_MACHINE_RUN(struct machine *machine, const u8 *control, u8 *result,
                      struct progress *progress, const u8 *build_side,
                      const u8 *const morsels[LAUNCH_MORSELS], u32 groups)
{
    const struct launch_head *launch =
        (const struct launch_head *)(const void *)control;
    machine_open(machine, control, result, progress);
    memcpy(machine->morsels, morsels, sizeof machine->morsels);
    machine->build_side = build_side;
    for (u32 group = 0; group < groups; group++)
        run_group(machine, launch, group);
    if (machine->fault < progress->fault) {
        progress->fault = machine->fault;
        progress->fault_at = machine->fault_at;
    }
}
