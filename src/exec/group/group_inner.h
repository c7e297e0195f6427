/* SPDX-License-Identifier: MIT */
/*
 * What the files of grouping share. Each thread has a part: groups of the
 * rows that it took in. Parts are merged at the end.
 */
#ifndef VDBQ_EXEC_GROUP_INNER_H
#define VDBQ_EXEC_GROUP_INNER_H

#include "exec/group/aggregate.h"
#include "exec/group/group.h"
#include "exec/group/group_table.h"

/* What a group's record holds behind its keys; then its states. */
struct group_head {
    uint64_t first; /* number of its first row */
    uint64_t rows;  /* in the group */
};

/* Values of a DISTINCT aggregate of INTEGER that are in its table for sure: a
 * byte for each of the values from `base` on. */
enum { GROUP_SEEN = 1 << 16 };
struct group_seen {
    uint8_t *flags; /* NULL: they are not looked at */
    uint32_t base;  /* the value of the first flag */
    bool based;     /* there was a value            */
};

struct group_part {
    struct group_table table;     /* the groups this thread found, owned */
    struct group_seen *seen;      /* one an aggregate, without keys          */
    struct group_table *distinct; /* one an aggregate: different pairs of
                                     a group's number (where there are keys)
                                     and a value; only DISTINCT ones are
                                     made                                  */
    enum vdbq_status status;      /* of the last rows added */
    struct error error;           /* why, where they failed */
};

struct group {
    struct group_params params; /* of the caller; threads are at least 1 */
    unsigned keys; /* columns of the input that are keys, the first ones */
    unsigned aggregate_count;     /* of `aggregates` */
    struct aggregate *aggregates; /* at: behind the keys of a record       */
    int *types;                   /* TYPE_... of the input's keys          */
    size_t bytes;                 /* of a record behind its keys           */
    bool sums;                    /* so that rows are limited (sum.h)      */
    uint64_t rows;                /* taken in so far                       */
    unsigned part_count;          /* in use                                */
    struct group_part *parts;     /* params.threads                        */
    struct arena arena;           /* of all arrays above */
};

/* Whether values are kept apart first. */
bool group_is_distinct(const struct aggregate *aggregate);

/* group_merge.c: merges all parts into the first one, and gives what
 * DISTINCT kept to the aggregates. */
enum vdbq_status group_merge(struct group *group, struct error *error);

/* group_write.c: writes the groups of the first part in an order (NULL: that
 * of their numbers). */
enum vdbq_status group_write(struct group *group, const uint32_t *order,
                             struct row_set *row_set, struct error *error);

/* Writes the extras of groups (group_extra) of a table. */
void group_records(const struct group_table *table, const uint32_t *numbers,
                   unsigned count, uint8_t **records);

#endif
