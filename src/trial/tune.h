/* SPDX-License-Identifier: MIT */
/*
 * The tuning run: a few shapes of the machine over made-up rows, the best of
 * which is kept, and the rates by which later queries are planned.
 */
#ifndef VDBQ_EXEC_TUNE_H
#define VDBQ_EXEC_TUNE_H

#include <stdatomic.h>

#include "exec/launch/launcher.h"

struct tune_params {
    struct device *device;
    struct device *again; /* the same device, opened a second time: what
                              it builds comes from the driver's cache     */
    struct device *host;
    uint64_t open_ns;   /* that opening the device took                */
    vdbq_report report; /* gets the table, line by line                */
    void *context;
};

/* Tunes the device and writes its file. Fails with DEVICE, IO, CANCELLED;
 * the device is then as it was. */
enum vdbq_status tune(const struct tune_params *params, struct error *error);

#endif
