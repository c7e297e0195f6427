/* SPDX-License-Identifier: MIT */
/*
 * Grouping (STEP_GROUP) on the device that scans: result rows are taken into a
 * table in the device's memory (cl/group.h), and only the groups come to the
 * host. They are the same, in the same order, as those of exec/group/group.h.
 */
#ifndef VDBQ_EXEC_DEVICE_GROUP_H
#define VDBQ_EXEC_DEVICE_GROUP_H

#include "exec/rows/row_set.h"
#include "exec/launch/sink.h"
#include "program/steps/steps.h"

struct device_group_params {
    const struct step_group *step;       /* keys and aggregates */
    const struct device_column *columns; /* of the input */
    const struct step_column *inputs;    /* the same, as the plan has them */
    unsigned column_count;               /* of both */
    struct device *device;               /* holds the input's rows */
    uint64_t rows;    /* that there may be, about              */
    unsigned threads; /* of the host to work with at most      */
};
struct device_group;

/* Whether the device can make such groups: their keys have codes, its memory
 * has room. */
bool device_group_can(const struct device_group_params *params);

enum vdbq_status device_group_create(const struct device_group_params *params,
                                     struct device_group **group,
                                     struct error *error);
/* Waits for what is in flight; accepts NULL. */
void device_group_destroy(struct device_group *group);

/* Takes the rows; the group's. */
struct sink *device_group_sink(struct device_group *group);
/* Writes the groups, as group_finish(); or where `apart` is not NULL, makes them
 * those of that group, which has none yet. */
struct group;
enum vdbq_status device_group_finish(struct device_group *group,
                                     struct group *apart,
                                     struct row_set *row_set,
                                     struct error *error);

/* "dense", "dense, in local memory" or "hashed". */
const char *device_group_text(const struct device_group *group);
const struct device_times *device_group_times(const struct device_group *group);

#endif
