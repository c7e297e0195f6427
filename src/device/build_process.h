/* SPDX-License-Identifier: MIT */
/*
 * The process that compiles kernels behind this one: the shell, with --kernels.
 */
#ifndef VDBQ_DEVICE_BUILD_PROCESS_H
#define VDBQ_DEVICE_BUILD_PROCESS_H

#include <stdbool.h>

struct device_params;
struct device_machine_params;

/* Sees that one is at work, for that device: it builds the interpreted machine
 * for such programs, and all that was ordered (order.h). With `beside`, and while there
 * are lanes for it (device_build_lanes()), another one beside those that are. False
 * where there is no program to do it, or it was started very often. Any thread. */
bool build_process_start(const struct device_params *device,
                         const struct device_machine_params *wanted,
                         bool beside);

#endif
