/* SPDX-License-Identifier: MIT */
/*
 * Registers of the machine, and which of its builds (host_machine_run.c) fits
 * the CPU. All give the same bits.
 */
#include "device/host/host_machine.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "cl/machine.h"
#include "device/host/host_machine_run.h"

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

/* The build for the CPU that this is. */
static host_machine_runs *fitting_run(void)
{
#ifdef VDBQ_MACHINE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("popcnt"))
        return host_machine_run_avx512;
#endif
#ifdef VDBQ_MACHINE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("popcnt"))
        return host_machine_run_avx2;
#endif
    return host_machine_run_plain;
}

void host_machine_run(struct machine *machine,
                      const struct host_machine_arguments *arguments, u32 first,
                      u32 end)
{
    fitting_run()(machine, arguments, first, end);
}

void host_machine_report(const struct machine *machine,
                         struct progress *progress)
{
    if (machine->fault < progress->fault) {
        progress->fault = machine->fault;
        progress->fault_at = machine->fault_at;
    }
}
