/* SPDX-License-Identifier: MIT */
/*
 * The machine as host C: the same text that devices compile, so that there is
 * one meaning. It is the oracle of every test, and runs where no OpenCL is.
 */
#include "device/host/host_machine.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "cl/ops.cl"

#include "cl/machine.cl"

static_assert(offsetof(struct machine, r) == 0, "registers come first");

unsigned host_machine_step_rows(void)
{
    return VDBQ_GROUP * VDBQ_TILE;
}

/* The registers, 2 MiB of them, are left as they are: none is read before it is
 * written (program_check()), and of most programs no page of most is touched. */
struct machine *host_machine_create(void)
{
    struct machine *machine = memory_resize(NULL, sizeof *machine);

    if (machine != NULL)
        memset((char *)machine + sizeof machine->r, 0,
               sizeof *machine - sizeof machine->r);
    return machine;
}

void host_machine_destroy(struct machine *machine)
{
    memory_release(machine);
}

void host_machine_run(struct machine *machine, const u8 *control, u8 *result,
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
