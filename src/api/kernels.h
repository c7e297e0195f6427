/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are built behind, by a process of their own.
 */
#ifndef VDBQ_API_KERNELS_H
#define VDBQ_API_KERNELS_H

#include "api/session.h"

/* The interpreted machine that a program needs; NULL: any. */
struct device_machine_params kernels_of(const struct program *program);

/* Has it built for the first CPU device, unless that is being done already;
 * false where there is no program to do it. */
bool kernels_build_behind(const struct settings *settings,
                          const struct device_machine_params *wanted);

#endif
