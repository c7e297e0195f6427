/* SPDX-License-Identifier: MIT */
/*
 * Orders: specialised machines that the build process is to make, so that nobody
 * waits for a compiler and a process may end meanwhile. An order is a file
 * KEY-HASH in $XDG_CACHE_HOME/vdbq/orders or ~/.cache/vdbq/orders: KEY is that
 * of the device (tuning.h), HASH that of the text. Its first line has the
 * registers and axes of the program; behind it is the text of the specialised
 * kernel. Like all in that cache it becomes code: the folder must be ours alone.
 */
#ifndef VDBQ_DEVICE_ORDER_H
#define VDBQ_DEVICE_ORDER_H

#include "device/device.h"

/* Writes the order, if it does not lie there yet, and sees that a process is at
 * work on it; false: nobody can be. */
bool order_place(struct device *device,
                 const struct device_machine_params *params);

/* Builds a machine that is wanted, and what is ordered for the device, until there has
 * been no more for the time that its kind says (kind.h); where compilers do not take
 * the cores of queries, beside one another. An order that cannot be read, or whose
 * text cannot be compiled, is dropped. Fails as device_machine() does for the wanted
 * one. */
enum vdbq_status order_build_all(struct device *device,
                                 const struct device_machine_params *wanted,
                                 struct error *error);
/* Builds likewise what is ordered alone, beside a process that builds all; where
 * compilers take the cores of queries it does nothing. */
void order_build_beside(struct device *device);

#endif
