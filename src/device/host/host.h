/* SPDX-License-Identifier: MIT */
/*
 * The host build: the machine as C, compiled in; runs on the calling thread.
 */
#ifndef VDBQ_DEVICE_HOST_HOST_H
#define VDBQ_DEVICE_HOST_HOST_H

#include "device/device.h"

/* Fails with DEVICE where more cores are asked for than there are. */
enum vdbq_status host_open(const struct device_params *params,
                           struct device **device, struct error *error);

#endif
