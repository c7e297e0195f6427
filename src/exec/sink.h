/* SPDX-License-Identifier: MIT */
/*
 * A sink: takes result rows of launches where they are, on the device, so
 * that they need not come to the host. Its kernels go into the device's queue
 * behind the launch that wrote the rows, and in front of the next one that
 * writes there.
 */
#ifndef VDBQ_EXEC_SINK_H
#define VDBQ_EXEC_SINK_H

#include "device/device.h"

/* Rows [start, start + count) of the program's result columns. */
struct sink_rows {
    struct device_memory *memory;
    const struct output *outputs; /* one a column: where they lie */
    uint64_t start, count;
};

struct sink {
    /* Takes the next rows, in table order. */
    enum vdbq_status (*take)(struct sink *sink, const struct sink_rows *rows,
                             struct error *error);
    /* Waits until no rows are read any more. */
    enum vdbq_status (*wait)(struct sink *sink, struct error *error);
};

#endif
