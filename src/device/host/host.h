/* SPDX-License-Identifier: MIT */
/*
 * The host build: the machine as C, compiled in; runs on the calling thread.
 */
#ifndef VDBQ_DEVICE_HOST_HOST_H
#define VDBQ_DEVICE_HOST_HOST_H

#include "device/kernel.h"

/* Fails with DEVICE where more cores are asked for than there are. */
enum vdbq_status host_open(const struct device_params *params,
                           struct device **device, struct error *error);

/* The bytes of a memory of the host; NULL: there is none. */
void *host_memory_bytes(struct device_memory *memory);

/* Runs a kernel of cl/search/search.cl, and no other, to its end. */
enum vdbq_status host_call(struct device *device,
                           const struct device_call *call,
                           struct device_times *times, struct error *error);

#endif
