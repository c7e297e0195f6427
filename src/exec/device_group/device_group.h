/* SPDX-License-Identifier: MIT */
/*
 * Grouping (STEP_GROUP) on the device that scans: result rows are taken into a
 * table in the device's memory (cl/group.h). Only the groups come to the host,
 * or they stay as rows of the device. They are the same, in the same order, as
 * those of exec/group/group.h.
 */
#ifndef VDBQ_EXEC_DEVICE_GROUP_H
#define VDBQ_EXEC_DEVICE_GROUP_H

#include "exec/rows/row_set.h"
#include "exec/launch/device_rows.h"
#include "exec/launch/sink.h"
#include "program/steps/steps.h"

struct device_group_params {
    const struct step_group *step; /* keys and aggregates */
    const bool *follows; /* keys that follow from others: rows of a group have
                            them in common anyway; NULL: none do  */
    const struct device_column *columns; /* of the input */
    const struct step_column *inputs;    /* the same, as the plan has them */
    const struct program
        *program;           /* whose result rows they are; NULL: of none */
    unsigned column_count;  /* of both */
    struct device *device;  /* holds the input's rows */
    uint64_t room;          /* bytes of its memory that may be taken   */
    uint64_t rows;          /* that there may be, about              */
    double rows_expected;   /* ... as the plan has it                */
    double groups_expected; /* ... of rows; 0: nobody knows           */
    bool wide; /* codes may have several parts: where they need not there are
                  better ways                                           */
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
/* All rows were taken: lists the groups. */
enum vdbq_status device_group_end(struct device_group *group,
                                  struct error *error);
/* How many there are then. */
uint64_t device_group_count(const struct device_group *group);

/* Writes the groups as columns that stay on the device, in the order of their
 * first rows. `results`: the columns as the plan has them, of which those that
 * are read (as long as the rows are there) have values. `*kept` false: they
 * cannot stay; the rows are to be finished, whatever it returns. */
enum vdbq_status device_group_keep(struct device_group *group,
                                   const struct run_place *place,
                                   const struct step_column *results,
                                   const bool *reads, struct device_rows *rows,
                                   bool *kept, struct error *error);
/* Writes the groups on the host, as group_finish(). */
enum vdbq_status device_group_finish(struct device_group *group,
                                     struct row_set *row_set,
                                     struct error *error);

/* Groups as a device wrote them: of each its code and then a record, with ~ the
 * number of the first row, how many rows there are, and states. */
enum { DEVICE_GROUP_KEYS_MAX = 8 };
struct device_group_shape;
struct device_groups {
    const struct device_group_shape *shape; /* how a group looks             */
    const struct aggregate *aggregates; /* where states are in a record      */
    const uint8_t *bytes; /* of all groups                                   */
    size_t width;         /* from a group to the next                        */
    size_t record_at;     /* of a group's bytes                              */
    uint32_t count;       /* of groups */
    unsigned keys;        /* of each                                         */
    bool ordered;         /* they are in the order of their first rows       */
};
/* The groups on the host; their bytes are the group's. */
enum vdbq_status device_group_read(struct device_group *group,
                                   struct device_groups *groups,
                                   struct error *error);
/* Rows that it took. */
uint64_t device_group_rows(const struct device_group *group);
/* Writes a key of all groups to rows [0, count) of a column, for which there is
 * room, as wide as values can be; says how wide they are. */
void device_groups_key(const struct device_groups *groups, unsigned key,
                       struct row_set_column *column);

/* "dense", "dense, in local memory", "hashed" or "hashed, wide keys". */
const char *device_group_text(const struct device_group *group);
const struct device_times *device_group_times(const struct device_group *group);

#endif
