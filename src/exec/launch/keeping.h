/* SPDX-License-Identifier: MIT */
/*
 * Columns of rows are copied on a device, and their bounds found: as few calls of
 * vdbq_keep (cl/rows/keep.h) as these fit.
 */
#ifndef VDBQ_EXEC_KEEPING_H
#define VDBQ_EXEC_KEEPING_H

#include "cl/rows/keep.h"
#include "device/device.h"

/* Zeroed but for what the caller sets: all above `keep`, and of `keep` the rows and
 * where bounds lie. */
struct keeping {
    struct device *device;
    struct device_memory *from, *to;
    struct device_times *times; /* added to */
    struct keep keep;           /* the columns of the next call */
};

/* One column more; nothing need be in the queue before keeping_send(). */
enum vdbq_status keeping_add(struct keeping *keeping,
                             const struct keep_column *column,
                             struct error *error);
/* The same of a column's values and then its NULL flags, unless these go KEEP_NOWHERE. */
enum vdbq_status keeping_add_with_nulls(struct keeping *keeping,
                                        const struct keep_column *values,
                                        u64 nulls_from, u64 nulls_to,
                                        struct error *error);
/* Puts into the queue what is not there yet. */
enum vdbq_status keeping_send(struct keeping *keeping, struct error *error);

#endif
