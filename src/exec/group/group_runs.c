/* SPDX-License-Identifier: MIT */
/*
 * Many groups on several cores. A thread whose table has grown too large for
 * its caches writes it out as a run (group_store.c). At the end each partition
 * is merged by one thread from the runs of all: partitions have no key in
 * common. After Leis et al., "Morsel-driven parallelism" (2014), section 4.4.
 */
#include <assert.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/group/group_inner.h"

/* --------------------------------------------------------------- merge -- */

/* Partitions that are merged, by several threads. */
struct merging {
    struct group *group;           /* has the runs */
    struct group_part *partitions; /* grow */
    uint8_t *records;              /* of all, each with room for what the
                                      runs have */
    uint64_t firsts[GROUP_PARTITIONS + 1]; /* the first of each */
    atomic_uint next;                      /* partition to be merged */
};

/* Merges records into a partition. */
static enum vdbq_status merge_some(const struct group *group,
                                   struct group_part *partition,
                                   const uint8_t *records, uint32_t count)
{
    struct group_table *table = &partition->groups.table;
    enum vdbq_status status = VDBQ_OK;
    uint32_t numbers[GROUP_BLOCK];
    uint64_t since = 0;
    while (count > 0 && status == VDBQ_OK) {
        unsigned some = count < GROUP_BLOCK ? count : GROUP_BLOCK;
        status = group_table_join(table, records, some, 0, numbers,
                                  &partition->error);
        if (status == VDBQ_OK)
            group_merge_records(group, table, records, some, numbers);
        if (status == VDBQ_OK && stop_after(&since, some))
            status = error_cancelled(&partition->error);
        records += some * table->width;
        count -= some;
    }
    return status;
}

/* Merges what all runs have of a partition; `last`: the table of the one that the
 * thread merged before, or NULL. */
static enum vdbq_status merge_partition(const struct merging *merging,
                                        unsigned p, struct group_table **last)
{
    const struct group *group = merging->group;
    struct group_part *partition = &merging->partitions[p];
    enum vdbq_status status =
        group_store_init(group, &partition->groups, group->types, group->keys,
                         group->bytes, &partition->error);
    size_t width = partition->groups.table.width;
    if (status == VDBQ_OK)
        group_table_lend(
            &partition->groups.table,
            merging->records + merging->firsts[p] * width,
            (uint32_t)(merging->firsts[p + 1] - merging->firsts[p]));
    if (status == VDBQ_OK && *last != NULL)
        group_table_pass(*last, &partition->groups.table);
    if (status == VDBQ_OK)
        *last = &partition->groups.table;
    for (unsigned i = 0; i < group->part_count; i++) {
        const struct vector *runs = &group->parts[i].groups.runs;
        for (size_t k = 0; k < runs->count && status == VDBQ_OK; k++) {
            const struct group_run *run = vector_at(runs, k);
            uint32_t first, count = group_run_records(run, p, &first);
            status = merge_some(group, partition, run->records + first * width,
                                count);
            if (status == VDBQ_OK)
                status = stop_pause(&partition->error);
        }
    }
    return status;
}

/* Gives each partition its room: for the records that the runs have of it. */
static enum vdbq_status make_room(struct merging *merging, struct error *error)
{
    const struct group *group = merging->group;
    size_t width = group->parts[0].groups.table.width;
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        uint64_t count = 0;
        uint32_t first;
        for (unsigned i = 0; i < group->part_count; i++)
            for (size_t k = 0; k < group->parts[i].groups.runs.count; k++)
                count += group_run_records(
                    vector_at(&group->parts[i].groups.runs, k), p, &first);
        if (count >= UINT32_MAX)
            return error_set(error, VDBQ_LIMIT, "more than %u groups",
                             UINT32_MAX - 1);
        merging->firsts[p + 1] = merging->firsts[p] + count;
    }
    merging->records =
        memory_resize(NULL, merging->firsts[GROUP_PARTITIONS] * width);
    return merging->records != NULL ? VDBQ_OK : error_no_memory(error);
}

/* One thread's share: partitions, as long as there are any. */
static void merge_share(void *context, unsigned share)
{
    struct merging *merging = context;
    struct group_table *last = NULL;
    (void)share;
    for (;;) {
        unsigned p = atomic_fetch_add(&merging->next, 1);
        if (p >= GROUP_PARTITIONS)
            return;
        merging->partitions[p].status = merge_partition(merging, p, &last);
    }
}

/* Puts partitions in the place of the threads' parts. */
static enum vdbq_status use_partitions(struct group *group,
                                       struct group_part *partitions,
                                       struct error *error)
{
    for (unsigned i = 0; i < group->part_count; i++) {
        group_store_finish(group, &group->parts[i].groups);
    }
    group->parts = partitions;
    group->part_count = GROUP_PARTITIONS;
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++)
        if (partitions[p].status != VDBQ_OK) {
            *error = partitions[p].error;
            return error->status;
        }
    return VDBQ_OK;
}

bool group_has_runs(const struct group *group)
{
    uint64_t groups = 0;
    for (unsigned i = 0; i < group->part_count; i++) {
        if (group->parts[i].groups.runs.count > 0)
            return true;
        groups += group->parts[i].groups.table.count;
    }
    return group->part_count > 1 && group->keys > 0 && !group->distinct
           && groups > GROUP_MERGED_MAX;
}

/* One thread: writes out what a part still has. */
static void flush_part(void *context, unsigned share)
{
    struct group *group = context;
    struct group_part *part = &group->parts[share];
    part->groups.shared = true;
    part->status = group_store_flush(group, &part->groups, &part->error);
}

enum vdbq_status group_end_runs(struct group *group, struct error *error)
{
    parallel_run(group->part_count, flush_part, group);
    for (unsigned i = 0; i < group->part_count; i++)
        if (group->parts[i].status != VDBQ_OK) {
            *error = group->parts[i].error;
            return error->status;
        }
    return VDBQ_OK;
}

enum vdbq_status group_merge_runs(struct group *group, struct error *error)
{
    assert(!group->distinct && group->keys > 0 && !group_is_spilled(group));
    struct merging merging = { .group = group };
    merging.partitions = arena_alloc(
        &group->arena, GROUP_PARTITIONS * sizeof *merging.partitions);
    if (merging.partitions == NULL)
        return error_no_memory(error);
    enum vdbq_status status = make_room(&merging, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(group->params.threads, merge_share, &merging);
    group->lent = merging.records;
    return use_partitions(group, merging.partitions, error);
}
