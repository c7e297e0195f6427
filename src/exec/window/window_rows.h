/* SPDX-License-Identifier: MIT */
/*
 * The rows of a window's stream where a device has them and computes all functions
 * itself (device_window.h): they stay there. Of few rows it gives the input's back,
 * for the host is done with them before launches are under way.
 */
#ifndef VDBQ_EXEC_WINDOW_ROWS_H
#define VDBQ_EXEC_WINDOW_ROWS_H

#include "exec/launch/device_rows.h"
#include "exec/stream/stream_inner.h"

struct window_rows {
    struct device_rows rows;     /* the input's columns, then the functions' */
    bool *reads;                 /* of each column: it is there; owned       */
    struct device_reader reader; /* gives them out                           */
    bool taken;                  /* the device has them ...                  */
    bool computed;               /* ... and their functions                  */
};

/* Takes the rows of the input of a stream of STEP_WINDOW, if its device can compute
 * all functions; else no row was asked for. Fails as device_window_run() does.
 * window_rows_finish() is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status window_rows_open(struct window_rows *window,
                                  const struct stream *stream,
                                  struct error *error);
void window_rows_finish(struct window_rows *window);

#endif
