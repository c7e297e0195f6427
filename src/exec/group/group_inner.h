/* SPDX-License-Identifier: MIT */
/*
 * What the files of grouping share. Each thread has a part: groups of the
 * rows that it took in. Parts are merged at the end; those that have no key in
 * common (partitions) stay apart.
 */
#ifndef VDBQ_EXEC_GROUP_INNER_H
#define VDBQ_EXEC_GROUP_INNER_H

#include "base/hostile.h"
#include "base/vector.h"
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

/* Groups of a part that were written out. */
enum {
    /* threads from which on many groups are shared out: to write them out and
     * to merge them costs two what they gain */
    GROUP_RUNS_THREADS = HOSTILE(1, 4),
    GROUP_PARTITIONS = 256, /* by their keys' hashes */
    /* groups of a thread's table, unless it finds ever more rows there */
    GROUP_LOCAL = HOSTILE(2, 1 << 16),
    GROUP_LOCAL_MAX = HOSTILE(8, 1 << 20), /* ... and at most */
    /* groups of all threads that one of them may merge */
    GROUP_MERGED_MAX = HOSTILE(2, 1 << 17)
};
struct group_run {
    uint8_t *records;                /* by partitions, owned                */
    uint32_t ends[GROUP_PARTITIONS]; /* record behind those of each         */
};

/* How a part's table fills. */
struct group_fill {
    uint64_t rows;        /* of the table's rows: those in runs            */
    uint64_t rows_half;   /* ... and until it was half full                */
    uint32_t groups_half; /* groups there were then; 0: it is not          */
    uint32_t groups_most; /* groups at which it is full; 0: not yet set    */
    bool sparse;          /* most rows of the last run made groups of their
                             own                                          */
};

struct group_part {
    struct group_table table;     /* the groups this thread found, owned */
    struct vector runs;           /* struct group_run: those found before   */
    struct group_fill fill;       /* how it goes on                         */
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
    bool distinct;                /* an aggregate keeps values apart       */
    bool runs;                /* tables are written out when they are full */
    uint64_t rows;            /* taken in so far                       */
    unsigned part_count;      /* in use                                */
    struct group_part *parts; /* params.threads                        */
    uint8_t *lent;            /* room for the records of partitions    */
    struct arena arena;       /* of all arrays above */
};

/* Whether values are kept apart first. */
bool group_is_distinct(const struct aggregate *aggregate);

/* group_merge.c: merges all parts into the first one, and gives what
 * DISTINCT kept to the aggregates. */
enum vdbq_status group_merge(struct group *group, struct error *error);

/* Merges `count` records into groups `numbers` of a table. */
void group_merge_records(const struct group *group, struct group_table *table,
                         const uint8_t *records, unsigned count,
                         const uint32_t *numbers);

/* group_runs.c: makes room for so many rows more in a part: where its table is
 * full, which grows as long as that pays, it is written out as a run. */
enum vdbq_status group_part_room(struct group_part *part, unsigned count,
                                 struct error *error);
/* Writes a part's table out as a run. */
enum vdbq_status group_part_flush(struct group_part *part, struct error *error);
void group_part_forget_runs(struct group_part *part);
/* Whether parts are merged by partitions: some were written out, or there are
 * many groups. */
bool group_has_runs(const struct group *group);
/* ... which then are the group's parts. */
enum vdbq_status group_merge_runs(struct group *group, struct error *error);

/* group_write.c: writes the groups of all parts in the order of their first
 * rows. */
enum vdbq_status group_write(struct group *group, struct row_set *row_set,
                             struct error *error);

/* Writes the extras of groups (group_extra) of a table. */
void group_records(const struct group_table *table, const uint32_t *numbers,
                   unsigned count, uint8_t **records);

#endif
