/* SPDX-License-Identifier: MIT */
/*
 * Plain memory: the host's, which no driver knows of. See MEMORY_PLAIN.
 */
#ifndef VDBQ_DEVICE_PLAIN_H
#define VDBQ_DEVICE_PLAIN_H

#include "device/device.h"

/* `size_bytes` of it, not zeroed, in large pages where there are such. Fails
 * with NO_MEMORY. */
enum vdbq_status plain_memory_create(struct device *device, uint64_t size_bytes,
                                     struct device_memory **memory,
                                     struct error *error);
void plain_memory_destroy(struct device_memory *memory);

#endif
