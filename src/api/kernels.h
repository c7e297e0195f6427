/* SPDX-License-Identifier: MIT */
/*
 * The kernels that a program needs.
 */
#ifndef VDBQ_API_KERNELS_H
#define VDBQ_API_KERNELS_H

#include "api/session.h"

/* The interpreted machine that a program needs; NULL: any. */
struct device_machine_params kernels_of(const struct program *program);

#endif
