/* SPDX-License-Identifier: MIT */
/*
 * The end of grouping: parts become one, and values that DISTINCT kept apart
 * are given to their aggregates.
 */
#include "exec/group/group_pairs.h"
#include "exec/group/group_partitions.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "cl/types.h"

/* Merges a part's groups; map[i]: the number of group i in the first part. */
static enum vdbq_status merge_groups(struct group *group,
                                     const struct group_part *part,
                                     uint32_t *map, struct error *error)
{
    struct group_table *table = &group->parts[0].groups.table;
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t at = 0; status == VDBQ_OK && at < part->groups.table.count;
         at += GROUP_BLOCK) {
        uint32_t left = part->groups.table.count - at;
        unsigned count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        if (group->keys > 0)
            status =
                group_table_join(table, group_record(&part->groups.table, at),
                                 count, left - count, map + at, error);
        else
            map[at] = 0;
        if (status == VDBQ_OK)
            group_merge_records(group, table,
                                group_record(&part->groups.table, at), count,
                                map + at);
        if (status == VDBQ_OK && stop_at(at))
            status = error_cancelled(error);
    }
    return status;
}

/* Pairs of a part on their way to those of the first part. */
struct moving {
    struct group *group;
    struct group_store *into;  /* of the first part */
    struct group_table *table; /* of the pairs: says how they are packed */
    const uint32_t *map;       /* of a group: its number in the first part */
};

/* Adds up to GROUP_BLOCK pairs. */
static enum vdbq_status move_pairs(const struct moving *moving,
                                   const uint8_t *records, unsigned count,
                                   uint64_t coming, struct error *error)
{
    struct group_table *into = &moving->into->table;
    struct group_pairs pairs;
    const struct vdbq_vector columns[2] = {
        { VDBQ_INTEGER, pairs.groups, NULL },
        { VDBQ_TYPE_NONE, pairs.values, NULL }
    };
    group_read_pairs(moving->table, records, count, &pairs);
    for (unsigned i = 0; i < count; i++)
        pairs.groups[i] = moving->map[pairs.groups[i]];
    enum vdbq_status status =
        group_store_room(moving->group, moving->into, count, error);
    return status == VDBQ_OK
               ? group_table_find(into, columns + (into->key_count == 1), 0,
                                  count, coming, pairs.numbers, error)
               : status;
}

/* Adds some of a run. */
static enum vdbq_status move_records(void *moving, const uint8_t *records,
                                     uint32_t count, struct error *error)
{
    return move_pairs(moving, records, count, 0, error);
}

/* Adds a part's pairs to those of the first part. */
static enum vdbq_status merge_pairs(struct moving *moving,
                                    const struct vector *runs,
                                    struct error *error)
{
    const struct group_table *from = moving->table;
    enum vdbq_status status = VDBQ_OK;
    for (uint32_t at = 0; status == VDBQ_OK && at < from->count;
         at += GROUP_BLOCK) {
        uint32_t left = from->count - at;
        unsigned count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        status = move_pairs(moving, group_record(from, at), count, left - count,
                            error);
        if (status == VDBQ_OK && stop_at(at))
            status = error_cancelled(error);
    }
    for (size_t i = 0; status == VDBQ_OK && i < runs->count; i++)
        status = group_run_each(moving->group, vector_at(runs, i), from->width,
                                move_records, moving, error);
    return status;
}

/* Whether a part has written out pairs of an aggregate. */
static bool has_runs(const struct group *group, unsigned which)
{
    for (unsigned i = 0; i < group->part_count; i++)
        if (group->parts[i].distinct[which].runs.count > 0)
            return true;
    return false;
}

/* Merges one part into the first one and frees its tables, but for pairs that
 * are merged later. */
static enum vdbq_status merge_part(struct group *group, struct group_part *part,
                                   struct error *error)
{
    assert(part != &group->parts[0]);
    uint32_t *map = memory_resize(NULL, ((size_t)part->groups.table.count + 1)
                                            * sizeof *map);
    enum vdbq_status status = map == NULL
                                  ? error_no_memory(error)
                                  : merge_groups(group, part, map, error);

    group_store_finish(group, &part->groups);
    for (unsigned i = 0; i < group->aggregate_count; i++) {
        if (!aggregate_is_distinct(&group->aggregates[i]))
            continue;
        if (group->keys == 0 && has_runs(group, i))
            continue; /* all are of one group: no number changes */
        if (status == VDBQ_OK)
            status = merge_pairs(
                &(struct moving){ .group = group,
                                  .into = &group->parts[0].distinct[i],
                                  .table = &part->distinct[i].table,
                                  .map = map },
                &part->distinct[i].runs, error);
        group_store_finish(group, &part->distinct[i]);
    }
    memory_release(map);
    return status;
}

/* Gives a table of pairs to its aggregate. */
static void take_table(struct group *group, unsigned which,
                       const struct group_table *kept)
{
    const struct aggregate *aggregate = &group->aggregates[which];
    const struct group_table *table = &group->parts[0].groups.table;
    struct group_pairs pairs;
    uint8_t *records[GROUP_BLOCK];
    struct vdbq_vector values = { VDBQ_TYPE_NONE, pairs.values, NULL };
    struct aggregate_rows rows = { .argument = &values };
    struct aggregate_room room = { .made = false };

    for (uint32_t at = 0; at < kept->count && !stop_at(at); at += GROUP_BLOCK) {
        uint32_t left = kept->count - at;
        rows.count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        group_make_room(group, &group->parts[0], (unsigned)rows.count);
        group_read_pairs(kept, group_record(kept, at), rows.count, &pairs);
        group_records(table, pairs.groups, rows.count, records);
        for (unsigned i = 0; i < rows.count; i++)
            aggregate_skip(aggregate, records[i], UINT64_MAX);
        aggregate_add(aggregate, &rows, &room, records);
    }
}

/* A partition of pairs on its way to the aggregate. */
struct taking {
    struct group *group;
    unsigned which;       /* aggregate */
    pthread_mutex_t lock; /* held by who gives it values */
    struct group_store stores[PARALLEL_THREADS_MAX]; /* one a thread */
};

/* For group_partitions. */
static enum vdbq_status take_partition(void *context, unsigned thread,
                                       struct error *error)
{
    struct taking *taking = context;
    pthread_mutex_lock(&taking->lock);
    take_table(taking->group, taking->which, &taking->stores[thread].table);
    pthread_mutex_unlock(&taking->lock);
    return stop_pause(error);
}

/* Adds the runs of all parts to those that are merged. */
static enum vdbq_status add_runs(struct group *group, unsigned which,
                                 struct group_partitions *partitions,
                                 struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < group->part_count; i++) {
        struct group_store *kept = &group->parts[i].distinct[which];
        if (status == VDBQ_OK && kept->table.width > 0)
            status = group_partitions_add(partitions, kept, error);
        group_store_finish(group, kept);
    }
    return status;
}

/* The same of pairs that were written out, partition by partition. */
static enum vdbq_status take_runs(struct group *group, unsigned which,
                                  struct error *error)
{
    struct taking *taking = memory_zeroed(1, sizeof *taking);
    struct group_partitions partitions = { .group = group,
                                           .threads = group->params.threads,
                                           .pairs = true,
                                           .take = take_partition,
                                           .context = taking };
    enum vdbq_status status = VDBQ_OK;
    if (taking == NULL)
        return error_no_memory(error);
    taking->group = group;
    taking->which = which;
    pthread_mutex_init(&taking->lock, NULL);
    for (unsigned i = 0; i < partitions.threads && status == VDBQ_OK; i++) {
        partitions.stores[i] = &taking->stores[i];
        status =
            group_pairs_init(group, &taking->stores[i], which, NULL, error);
    }
    if (status == VDBQ_OK)
        status = group_partitions_init(&partitions, error);
    if (status == VDBQ_OK)
        status = add_runs(group, which, &partitions, error);
    if (status == VDBQ_OK)
        status = group_partitions_run(&partitions, error);
    group_partitions_finish(&partitions);
    for (unsigned i = 0; i < partitions.threads; i++)
        group_store_finish(group, &taking->stores[i]);
    pthread_mutex_destroy(&taking->lock);
    memory_release(taking);
    return status;
}

/* Gives all pairs to their aggregate. */
static enum vdbq_status take_pairs(struct group *group, unsigned which,
                                   struct error *error)
{
    const struct group_store *kept = &group->parts[0].distinct[which];
    group_skip_rows(group, which, &group->parts[0].groups.table);
    group->parts[0].added = GROUP_ADDED_MAX; /* the merge has added, too */
    if (has_runs(group, which))
        return take_runs(group, which, error);
    take_table(group, which, &kept->table);
    return stop_pause(error);
}

enum vdbq_status group_merge(struct group *group, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    assert(group->part_count <= group->params.threads);
    if (group_has_runs(group))
        return group_merge_runs(group, error);
    if (group->distinct && group_shares_pairs(group)) {
        status = group_end_pairs(group, error);
        if (status != VDBQ_OK || !group_has_pair_files(group))
            return status == VDBQ_OK ? group_merge_pairs(group, error) : status;
    }
    for (unsigned i = 1; status == VDBQ_OK && i < group->part_count; i++)
        status = merge_part(group, &group->parts[i], error);
    for (unsigned i = 0; status == VDBQ_OK && i < group->aggregate_count; i++)
        if (aggregate_is_distinct(&group->aggregates[i]))
            status = take_pairs(group, i, error);
    return status;
}
