/* SPDX-License-Identifier: MIT */
/*
 * One machine that is built behind, on a thread of its own, while the device
 * goes on with another one. All calls but the build are the device's thread's.
 */
#ifndef VDBQ_DEVICE_BUILDER_H
#define VDBQ_DEVICE_BUILDER_H

#include "device/device.h"

struct builder;

/* Starts the thread; NULL: no memory, or no thread. */
struct builder *builder_start(struct device *device,
                              const struct device_machine_params *params);

/* Takes the machine of the device's builder into the cache, if it is done or
 * `wait` is set, and adds to `times` what the build took; without a builder
 * it does nothing. A build that failed leaves nothing behind: the machine
 * that runs meanwhile gives the same rows. */
void builder_collect(struct device *device, bool wait,
                     struct device_times *times);

#endif
