/* SPDX-License-Identifier: MIT */
/*
 * Opens a device on another thread, with the machine that queries will ask for
 * first, while the host stands in for it: a driver with its compiler takes a
 * tenth of a second to start.
 */
#ifndef VDBQ_API_OPENER_H
#define VDBQ_API_OPENER_H

#include "base/settings.h"
#include "device/device.h"

struct opener;

/* Has the calling thread wait for all openers when it ends, or calls exit(): a process
 * that ends destroys what a driver's libraries are about to set up, and then crashes
 * or hangs. Threads that start an opener do so in any case; the one that opens a
 * connection is likely the one that ends the process. */
void opener_guard(void);

/* Starts to open the device that the settings name, unless it was never tried.
 * NULL: there is no memory, or no thread. */
struct opener *opener_start(const struct settings *settings,
                            const struct device_machine_params *machine);
/* The settings that it opens the device for. */
const struct settings *opener_settings(const struct opener *opener);
/* Whether opener_finish() will not wait. */
bool opener_ended(const struct opener *opener);
/* Waits for the device, which is the caller's from then on; NULL: it cannot be
 * opened, or its kernels are not compiled yet. The opener is gone. */
struct device *opener_finish(struct opener *opener);

#endif
