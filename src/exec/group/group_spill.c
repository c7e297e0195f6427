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

struct spilling {
    struct group *group;
    struct group_part part; /* the partition that is merged                 */
    struct group_partitions partitions; /* of all groups                    */
    struct row_set *row_set;            /* rows of a partition's groups     */
    uint64_t *firsts;                   /* ... their first rows             */
    uint32_t firsts_room;               /* there is room for so many        */
    struct reorder *reorder;            /* takes the rows                   */
    struct error failure; /* the first one, by the result's columns         */
    unsigned failed_column;
};

/* ---------------------------------------------------------------- rows -- */

/* Notes a failure, if its column comes before that of others. */
static enum vdbq_status note_failure(struct spilling *spilling,
                                     enum vdbq_status status,
                                     struct error *error)
{
    unsigned column = spilling->group->failed_column;
    if (status != VDBQ_RANGE)
        return status;
    if (spilling->failure.status == VDBQ_OK
        || column < spilling->failed_column) {
        spilling->failure = *error;
        spilling->failed_column = column;
    }
    error_clear(error);
    return VDBQ_OK;
}

/* Notes the first rows of the table's groups; false: no memory. */
static bool list_firsts(struct spilling *spilling)
{
    const struct group_table *table = &spilling->part.groups.table;
    if (table->count > spilling->firsts_room) {
        uint64_t *firsts =
            memory_resize(spilling->firsts, table->count * sizeof *firsts);
        if (firsts == NULL)
            return false;
        spilling->firsts = firsts;
        spilling->firsts_room = table->count;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const struct group_head *head = (const void *)group_extra(table, i);
        spilling->firsts[i] = head->first;
    }
    return true;
}

/* For group_partitions: makes rows of the groups of a partition. */
static enum vdbq_status take_groups(void *context, struct error *error)
{
    struct spilling *spilling = context;
    if (!list_firsts(spilling))
        return error_no_memory(error);
    spilling->row_set->rows = 0;
    enum vdbq_status status =
        group_write_table(spilling->group, spilling->row_set, error);
    if (status != VDBQ_OK)
        return note_failure(spilling, status, error);
    return reorder_add(spilling->reorder, spilling->row_set, spilling->firsts,
                       error);
}

/* ----------------------------------------------------------------- all -- */

/* Takes the runs of all parts, which are no more; the partition's part is the
 * only one then. */
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
    group->parts = &spilling->part;
    group->part_count = 1;
    return status;
}

/* Makes what takes the rows. */
static enum vdbq_status make_reorder(const struct spilling *spilling,
                                     struct error *error)
{
    const struct group *group = spilling->group;
    uint64_t room = account_room(group->memory) / REORDER_PART;
    account_take_anyway(group->memory, room);
    return reorder_init(spilling->reorder,
                        &(struct reorder_params){
                            .files = group->params.files,
                            .columns = group->params.results,
                            .column_count = spilling->row_set->column_count,
                            .reads = group->params.reads,
                            .any_order = group->params.any_order,
                            .numbers = group->rows,
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

/* Merges all, where the partition's store is. */
static enum vdbq_status run(struct spilling *spilling, struct error *error)
{
    struct group_partitions *partitions = &spilling->partitions;
    enum vdbq_status status = group_partitions_init(partitions, error);
    if (status == VDBQ_OK)
        status = take_parts(spilling, error);
    if (status == VDBQ_OK)
        status = make_reorder(spilling, error);
    if (status == VDBQ_OK)
        status = group_partitions_run(partitions, error);
    if (status == VDBQ_OK)
        status = end(spilling, error);
    group_partitions_finish(partitions);
    return status;
}

enum vdbq_status group_merge_spilled(struct group *group,
                                     struct row_set *row_set,
                                     struct reorder *reorder,
                                     struct error *error)
{
    struct spilling spilling = { .group = group,
                                 .row_set = row_set,
                                 .reorder = reorder };
    struct group_store *store = &spilling.part.groups;
    spilling.partitions = (struct group_partitions){ .group = group,
                                                     .store = store,
                                                     .take = take_groups,
                                                     .context = &spilling };
    assert(!group->distinct && group->keys > 0);
    enum vdbq_status status = group_store_init(
        group, store, group->types, group->keys, group->bytes, error);
    if (status == VDBQ_OK)
        status = run(&spilling, error);
    if (group->parts == &spilling.part)
        group->part_count = 0;
    group_store_finish(group, store);
    memory_release(spilling.firsts);
    row_set->rows = 0;
    return status;
}
