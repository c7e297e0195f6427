/* SPDX-License-Identifier: MIT */
/*
 * Runs of stores, in memory and in the group's file, are merged partition by
 * partition: no two have a key in common, so that threads merge several at once. A
 * partition that is too large for the memory is written out again, by the next bits
 * of its hashes, and merged later.
 */
#ifndef VDBQ_EXEC_GROUP_PARTITIONS_H
#define VDBQ_EXEC_GROUP_PARTITIONS_H

#include "exec/group/group_inner.h"

struct group_partitions {
    struct group *group; /* has the file                             */
    unsigned threads;    /* that merge at most */
    /* Empty, one for each thread: partitions are merged in them. */
    struct group_store *stores[PARALLEL_THREADS_MAX];
    bool pairs; /* of DISTINCT; else groups */
    /* Takes what the table of a thread's store has: all of a partition. Threads
     * may call it at once. */
    enum vdbq_status (*take)(void *context, unsigned thread,
                             struct error *error);
    void *context;         /* for `take` */
    struct vector sources; /* struct group_source: what is left */
    pthread_mutex_t lock;  /* held by who adds to them */
    bool made;             /* ... which there is */
    uint8_t *records[PARALLEL_THREADS_MAX]; /* that each thread has read */
};

/* What stands in `group`, `threads`, `stores`, `pairs`, `take` and `context` stays;
 * the rest is made. group_partitions_finish() is due whatever it returns; the
 * stores are the caller's. */
enum vdbq_status group_partitions_init(struct group_partitions *partitions,
                                       struct error *error);
void group_partitions_finish(struct group_partitions *partitions);

/* Writes a store's table out, and adds its runs to those that are merged: they
 * all are of the highest bits. */
enum vdbq_status group_partitions_add(struct group_partitions *partitions,
                                      struct group_store *store,
                                      struct error *error);
/* Merges all. */
enum vdbq_status group_partitions_run(struct group_partitions *partitions,
                                      struct error *error);

/* Takes records, GROUP_BLOCK at most. */
typedef enum vdbq_status (*group_run_take)(void *context,
                                           const uint8_t *records,
                                           uint32_t count, struct error *error);
/* Has all records of a run taken, some at a time. Fails as `take` does, and with
 * IO, NO_MEMORY, CANCELLED. */
enum vdbq_status group_run_each(const struct group *group,
                                const struct group_run *run, size_t width,
                                group_run_take take, void *context,
                                struct error *error);

#endif
