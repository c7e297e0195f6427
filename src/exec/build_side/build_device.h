/* SPDX-License-Identifier: MIT */
/*
 * Build rows that never come to the host: they are put in place, and indexed,
 * by the device that has them.
 */
#ifndef VDBQ_EXEC_BUILD_DEVICE_H
#define VDBQ_EXEC_BUILD_DEVICE_H

#include "cl/launch.h"
#include "exec/launch/device_rows.h"

/* Copies rows [first, first + count) of a column to their place: the values
 * and, where there is one for these, the NULL flags. */
enum vdbq_status build_device_copy(struct device_rows *rows, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to,
                                   const struct build_input *place,
                                   struct error *error);
/* Marks the slots of indexes as free: so many bytes from a place on. */
enum vdbq_status build_device_clear(struct device_rows *rows,
                                    struct device_memory *to, uint64_t from,
                                    uint64_t bytes, struct error *error);
/* Makes an index in `to`, whose slots are free, over a column's keys. */
enum vdbq_status build_device_index(struct device_rows *rows, unsigned column,
                                    const struct key_index *index,
                                    struct device_memory *to,
                                    struct error *error);
/* Waits for all of that, and adds what it took. */
enum vdbq_status build_device_wait(struct device_rows *rows,
                                   struct device_times *times,
                                   struct error *error);

#endif
