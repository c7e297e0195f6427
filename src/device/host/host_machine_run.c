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

void HOST_MACHINE_RUN(struct machine *machine,
                      const struct host_machine_arguments *arguments, u32 first,
                      u32 end)
{
    const struct launch_head *launch =
        (const struct launch_head *)(const void *)arguments->control;
    machine_open(machine, arguments->control, arguments->result,
                 arguments->progress);
    memcpy(machine->morsels, arguments->morsels, sizeof machine->morsels);
    machine->build_side = arguments->build_side;
    for (u32 group = first; group < end; group++)
        run_group(machine, launch, group);
}
