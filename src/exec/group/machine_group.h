/* SPDX-License-Identifier: MIT */
/*
 * Grouping (STEP_GROUP) in the program that scans: items of the machine have
 * tables of their own, and here they are merged. The groups are the same, in
 * the same order, as those of exec/group/group.h.
 */
#ifndef VDBQ_EXEC_MACHINE_GROUP_H
#define VDBQ_EXEC_MACHINE_GROUP_H

#include "exec/device_group/device_group.h"
#include "exec/launch/launch_tables.h"
#include "program/program.h"

struct machine_group;

/* Makes `*group`; NULL: its keys have too many codes. `program` is the
 * scan's. */
enum vdbq_status machine_group_create(const struct device_group_params *params,
                                      const struct program *program,
                                      struct machine_group **group,
                                      struct error *error);
void machine_group_destroy(struct machine_group *group);
/* For the scan. */
struct launch_tables *machine_group_tables(struct machine_group *group);
/* Writes the groups, as group_finish(); or where `apart` is not NULL, makes them
 * those of that group, which has none yet. */
struct group;
enum vdbq_status machine_group_finish(struct machine_group *group,
                                      struct group *apart,
                                      struct row_set *row_set,
                                      struct error *error);

#endif
