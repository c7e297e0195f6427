/* SPDX-License-Identifier: MIT */
/*
 * Build rows that never come to the host: those of a scan on the device that
 * probes them are taken there, and indexed there.
 */
#ifndef VDBQ_EXEC_BUILD_DEVICE_H
#define VDBQ_EXEC_BUILD_DEVICE_H

#include "exec/launch/sink.h"
#include "exec/stream/stream.h"

struct build_device;

struct build_device_params {
    struct device *device;
    const bool *wanted; /* one a column of the stream: it is to be kept  */
};
/* Takes all rows of a stream, if it is a scan on that device, and there is
 * memory for as many as may come. `*rows` NULL: so it is not. */
enum vdbq_status build_device_take(const struct build_device_params *params,
                                   struct stream *stream,
                                   struct build_device **rows,
                                   struct error *error);
void build_device_free(struct build_device *rows); /* accepts NULL */

uint64_t build_device_rows(const struct build_device *rows);
/* What is known of a column. */
const struct device_column *build_device_column(const struct build_device *rows,
                                                unsigned column);

/* Copies rows [first, first + count) of a column to their place: the values
 * and, where there is one for these, the NULL flags. */
enum vdbq_status build_device_copy(struct build_device *rows, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to,
                                   const struct build_input *place,
                                   struct error *error);
/* Makes an index in `to`, over keys that lie there, of `width` bytes. */
enum vdbq_status build_device_index(struct build_device *rows,
                                    const struct key_index *index,
                                    struct device_memory *to,
                                    const struct build_input *keys,
                                    unsigned width, struct error *error);
/* Waits for all of that, and adds what it took. */
enum vdbq_status build_device_wait(struct build_device *rows,
                                   struct device_times *times,
                                   struct error *error);

#endif
