/* SPDX-License-Identifier: MIT */
/*
 * Machines that are built behind, each on a thread of its own, while the device
 * goes on with others. All calls but the build are the device's thread's.
 */
#ifndef VDBQ_DEVICE_BUILDER_H
#define VDBQ_DEVICE_BUILDER_H

#include "device/device.h"

struct builder;

/* Whether as many compile as leave half of the cores to others. */
bool builders_are_enough(const struct device *device);

/* Starts a thread that builds it; where the machine was ordered of the build
 * process (order.h), only once that has built it, and not at all where nobody waits
 * for it any more. False: no memory, no thread, or enough of them work. */
bool builder_start(struct device *device,
                   const struct device_machine_params *params, bool ordered);

/* Takes the machines of the device's builders into the cache that are done, or, if
 * `wait` is set, all but those that are ordered and not yet built, and adds to
 * `times` what the builds took; without a builder it does nothing. A build that failed
 * leaves nothing behind: the machine that runs meanwhile gives the same rows. */
void builder_collect(struct device *device, bool wait,
                     struct device_times *times);

#endif
