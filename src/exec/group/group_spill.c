/* SPDX-License-Identifier: MIT */
/*
 * Groups that do not fit into memory: their runs are in a temporary file, and
 * are merged partition by partition (group_partitions.h). A partition's groups
 * become rows, which are put back into the order of the groups' first rows,
 * where somebody sees it (reorder.h).
 */
#include <assert.h>

#include "base/memory.h"
#include "exec/group/group_partitions.h"

/* Of the memory there is: what rows have on their way to the reorder. */
enum { REORDER_PART = 2 };

/* A thread that merges partitions. */
struct merger {
    struct group_part part; /* the partition that is merged           */
    struct row_set row_set; /* rows of its groups                     */
    uint64_t *firsts;       /* ... their first rows                   */
    uint32_t firsts_room;   /* there is room for so many              */
};

struct spilling {
    struct group *group;
    struct group_partitions partitions; /* of all groups                    */
    struct reorder *reorder;            /* takes the rows                   */
    struct error failure; /* the first one, by the result's columns         */
    unsigned failed_column;
    pthread_mutex_t lock; /* held by who uses these                         */
    struct merger mergers[PARALLEL_THREADS_MAX]; /* one a thread            */
};

/* ---------------------------------------------------------------- rows -- */

/* Notes a failure, if its column comes before that of others. */
static enum vdbq_status note_failure(struct spilling *spilling,
                                     enum vdbq_status status, unsigned column,
                                     struct error *error)
{
    if (status != VDBQ_RANGE)
        return status;
    pthread_mutex_lock(&spilling->lock);
    if (spilling->failure.status == VDBQ_OK
        || column < spilling->failed_column) {
        spilling->failure = *error;
        spilling->failed_column = column;
    }
    pthread_mutex_unlock(&spilling->lock);
    error_clear(error);
    return VDBQ_OK;
}

/* Notes the first rows of the table's groups; false: no memory. */
static bool list_firsts(struct merger *merger)
{
    const struct group_table *table = &merger->part.groups.table;
    if (table->count > merger->firsts_room) {
        uint64_t *firsts =
            memory_resize(merger->firsts, table->count * sizeof *firsts);
        if (firsts == NULL)
            return false;
        merger->firsts = firsts;
        merger->firsts_room = table->count;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const struct group_head *head = (const void *)group_extra(table, i);
        merger->firsts[i] = head->first;
    }
    return true;
}

/* For group_partitions: makes rows of the groups of a thread's partition. */
static enum vdbq_status take_groups(void *context, unsigned thread,
                                    struct error *error)
{
    struct spilling *spilling = context;
    struct merger *merger = &spilling->mergers[thread];
    struct group alone = *spilling->group; /* as the only part of a group */
    if (!list_firsts(merger))
        return error_no_memory(error);
    alone.parts = &merger->part;
    alone.part_count = alone.params.threads = 1;
    merger->row_set.rows = 0;
    enum vdbq_status status =
        group_write_table(&alone, &merger->row_set, error);
    if (status != VDBQ_OK)
        return note_failure(spilling, status, alone.failed_column, error);
    pthread_mutex_lock(&spilling->lock);
    status =
        reorder_add(spilling->reorder, &merger->row_set, merger->firsts, error);
    pthread_mutex_unlock(&spilling->lock);
    return status;
}

/* ----------------------------------------------------------------- all -- */

/* Takes the runs of all parts, which are empty then. */
static enum vdbq_status take_parts(struct spilling *spilling,
                                   struct error *error)
{
    struct group *group = spilling->group;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < group->part_count; i++) {
        struct group_store *store = &group->parts[i].groups;
        assert(group->parts[i].scatter == NULL);
        if (status == VDBQ_OK)
            status = group_partitions_add(&spilling->partitions, store, error);
        group_store_finish(group, store);
    }
    group->part_count = 0;
    return status;
}

/* Makes what takes the rows. */
static enum vdbq_status make_reorder(const struct spilling *spilling,
                                     struct error *error)
{
    const struct group *group = spilling->group;
    uint64_t room = account_room(group->memory) / REORDER_PART;
    account_take_anyway(group->memory, room);
    return reorder_init(
        spilling->reorder,
        &(struct reorder_params){ .files = group->params.files,
                                  .columns = group->params.results,
                                  .column_count =
                                      group->keys + group->aggregate_count,
                                  .reads = group->params.reads,
                                  .any_order = group->params.any_order,
                                  .numbers = group->rows,
                                  .threads = group->params.threads,
                                  .room_bytes = room,
                                  .memory = group->memory },
        error);
}

/* Fails as grouping in memory does: with the first column that does. */
static enum vdbq_status end(struct spilling *spilling, struct error *error)
{
    if (spilling->failure.status == VDBQ_OK)
        return reorder_end(spilling->reorder, error);
    *error = spilling->failure;
    return error->status;
}

/* Makes what threads merge in. */
static enum vdbq_status make_mergers(struct spilling *spilling,
                                     struct error *error)
{
    const struct group *group = spilling->group;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < group->params.threads && status == VDBQ_OK; i++) {
        struct merger *merger = &spilling->mergers[i];
        status = group_store_init(group, &merger->part.groups, group->types,
                                  group->keys, group->bytes, error);
        spilling->partitions.stores[i] = &merger->part.groups;
        if (status == VDBQ_OK)
            status = row_set_init(&merger->row_set, group->params.results,
                                  group->keys + group->aggregate_count, error);
    }
    return status;
}

static void finish_mergers(struct spilling *spilling)
{
    for (unsigned i = 0; i < spilling->group->params.threads; i++) {
        struct merger *merger = &spilling->mergers[i];
        group_store_finish(spilling->group, &merger->part.groups);
        row_set_finish(&merger->row_set);
        memory_release(merger->firsts);
    }
}

/* Merges all, in the threads' stores. */
static enum vdbq_status run(struct spilling *spilling, struct error *error)
{
    struct group_partitions *partitions = &spilling->partitions;
    enum vdbq_status status = make_mergers(spilling, error);
    if (status == VDBQ_OK)
        status = group_partitions_init(partitions, error);
    if (status == VDBQ_OK)
        status = take_parts(spilling, error);
    if (status == VDBQ_OK)
        status = make_reorder(spilling, error);
    if (status == VDBQ_OK)
        status = group_partitions_run(partitions, error);
    if (status == VDBQ_OK)
        status = end(spilling, error);
    group_partitions_finish(partitions);
    finish_mergers(spilling);
    return status;
}

enum vdbq_status group_merge_spilled(struct group *group,
                                     struct reorder *reorder,
                                     struct error *error)
{
    struct spilling *spilling = memory_zeroed(1, sizeof *spilling);
    if (spilling == NULL)
        return error_no_memory(error);
    assert(!group->distinct && group->keys > 0);
    spilling->group = group;
    spilling->reorder = reorder;
    spilling->partitions =
        (struct group_partitions){ .group = group,
                                   .threads = group->params.threads,
                                   .take = take_groups,
                                   .context = spilling };
    pthread_mutex_init(&spilling->lock, NULL);
    enum vdbq_status status = run(spilling, error);
    pthread_mutex_destroy(&spilling->lock);
    memory_release(spilling);
    return status;
}
