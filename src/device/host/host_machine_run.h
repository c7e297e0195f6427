/* SPDX-License-Identifier: MIT */
/*
 * The builds of the machine as host C, of which host_machine_run() takes the
 * one that fits the CPU.
 */
#ifndef VDBQ_DEVICE_HOST_MACHINE_RUN_H
#define VDBQ_DEVICE_HOST_MACHINE_RUN_H

#include "device/host/host_machine.h"

/* As host_machine_run(). */
typedef void host_machine_runs(struct machine *machine,
                               const struct host_machine_arguments *arguments,
                               u32 first, u32 end);

host_machine_runs host_machine_run_plain; /* any CPU */
host_machine_runs host_machine_run_avx2;  /* of x86-64, as is the next */
host_machine_runs host_machine_run_avx512;

#endif
