/* SPDX-License-Identifier: MIT */
/*
 * What the files of grouping on a device share.
 */
#ifndef VDBQ_EXEC_DEVICE_GROUP_INNER_H
#define VDBQ_EXEC_DEVICE_GROUP_INNER_H

#include "cl/group.h"
#include "exec/aggregate/aggregate.h"
#include "exec/group/device_group.h"

/* How groups are kept: the control block but for the columns' places, and
 * what the host knows beside it. */
struct device_group_shape {
    struct group_control control; /* what the kernels read */
    struct aggregate aggregates[GROUP_AGGREGATES_MAX]; /* at: in a record */
    bool finds;    /* vdbq_group_find is needed                        */
    bool raises;   /* ... and vdbq_group_raise, of each launch         */
    uint64_t bits; /* of values that count once; 0: none               */
};

/* device_group_shape.c: false where the device cannot. */
bool device_group_shape(const struct device_group_params *params,
                        struct device_group_shape *shape);
/* All slots of a table, and the bytes of their records. */
uint64_t device_group_slots(const struct group_control *control);
uint64_t device_group_bytes(const struct group_control *control);

/* device_group_write.c: writes `count` groups as they came, struct group_out
 * and record each, in the order of their first rows; `ordered`: they are. */
enum vdbq_status device_group_write(const struct device_group_shape *shape,
                                    const uint8_t *groups, uint32_t count,
                                    bool ordered, unsigned threads,
                                    struct row_set *row_set,
                                    struct error *error);

/* The same: makes groups as they came, of so many rows, those of a group that has
 * none yet. */
enum vdbq_status device_group_move(const struct device_group_shape *shape,
                                   const uint8_t *groups, uint32_t count,
                                   uint64_t rows, struct group *into,
                                   struct error *error);

#endif
