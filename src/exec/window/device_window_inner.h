/* SPDX-License-Identifier: MIT */
/*
 * What the files of windows on a device share: what a function keeps of places and
 * gives to rows (cl/window/window.h).
 */
#ifndef VDBQ_EXEC_DEVICE_WINDOW_INNER_H
#define VDBQ_EXEC_DEVICE_WINDOW_INNER_H

#include "cl/window/window.h"
#include "exec/window/device_window.h"

/* A function as the kernels have it. */
struct window_made {
    bool keeps; /* something of places: `scan` says what */
    struct window_scan scan;
    struct window_give give;
    uint64_t work_bytes; /* that `scan` keeps */
};

/* device_window_function.c: of function `number` over the rows of a store. */
struct window_made window_make(const struct device_window_params *params,
                               unsigned number,
                               const struct device_store *store);
/* A column of the store, as the kernels have it; below 0: none. */
struct window_column window_column_of(const struct device_store *store,
                                      int column);

#endif
