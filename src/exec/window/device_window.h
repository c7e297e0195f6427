/* SPDX-License-Identifier: MIT */
/*
 * Windows (STEP_WINDOW) on the device that has the rows: they stay there, in their
 * order, and get a column for each function. Values are those that the host
 * computes (window.h), bit for bit.
 *
 * Of the host alone are: exact sums of floats, DISTINCT, texts that are joined,
 * quantiles, and the least or greatest value of frames that do not begin with the
 * partition.
 */
#ifndef VDBQ_EXEC_DEVICE_WINDOW_H
#define VDBQ_EXEC_DEVICE_WINDOW_H

#include "exec/launch/device_rows.h"
#include "program/steps/steps.h"

/* Whether a device computes all functions of a step with these columns: those of
 * the input come first. */
bool device_window_does(const struct step_window *step,
                        const struct step_column *columns);
/* Whether a device has room for what it needs beside so many rows. */
bool device_window_fits(const struct device *device, uint64_t rows);
/* What is known of the functions' columns, of so many rows at most, by what is known
 * of the input's. */
void device_window_describe(const struct step_window *step,
                            const struct step_column *columns,
                            const struct device_column *input, uint64_t rows,
                            unsigned input_count, struct device_column *made);

struct device_window_params {
    const struct step_window *step;
    const struct step_column *columns; /* of the input, then of the functions */
    unsigned input_count;              /* of these: those of the input        */
};
/* Writes the functions' columns of rows, whose store has made_count of them. Fails
 * with RANGE where a sum overflows. */
enum vdbq_status device_window_run(const struct device_window_params *params,
                                   struct device_rows *rows,
                                   struct error *error);

#endif
