/* SPDX-License-Identifier: MIT */
/*
 * Pairs of DISTINCT aggregates, merged by all threads: see group_pairs.h.
 *
 * First groups are merged, partition by partition; each part then knows the
 * numbers of its groups among those of all, and pairs can be taken
 * (group_take_pairs.c).
 */
#include "exec/group/group_pairs.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"

/* A part's groups. */
struct numbered {
    uint32_t *order; /* their numbers, by partitions            */
    uint32_t *map;   /* of each: its number among those of all  */
    uint32_t ends[GROUP_PARTITIONS]; /* place behind those of each  */
};

/* What threads share. */
struct merging {
    struct group *group;
    struct numbered parts[PARALLEL_THREADS_MAX];
    struct group_part *partitions; /* of the groups                      */
    uint8_t *records;    /* of all groups, a partition's behind one another  */
    uint64_t held_bytes; /* ... of the account                            */
    uint64_t firsts[GROUP_PARTITIONS + 1]; /* the first of each           */
    atomic_uint next; /* partition that no thread has taken yet           */
    struct {
        enum vdbq_status status; /* of a share of the work */
        struct error error;
    } shares[PARALLEL_THREADS_MAX];
};

/* The first failure of so many shares. */
static enum vdbq_status end_shares(const struct merging *merging,
                                   unsigned count, struct error *error)
{
    for (unsigned i = 0; i < count; i++)
        if (merging->shares[i].status != VDBQ_OK) {
            *error = merging->shares[i].error;
            return error->status;
        }
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- runs -- */

bool group_shares_pairs(const struct group *group)
{
    bool shares = group->part_count > 1;
    for (unsigned i = 0; i < group->aggregate_count; i++)
        shares |= group->parts[0].distinct[i].runs.count > 0;
    return shares && group_is_shared(group);
}

bool group_has_pair_files(const struct group *group)
{
    for (unsigned i = 0; i < group->part_count; i++)
        for (unsigned k = 0; k < group->aggregate_count; k++) {
            const struct vector *runs = &group->parts[i].distinct[k].runs;
            for (size_t r = 0; r < runs->count; r++)
                if (VECTOR_ITEMS(runs, struct group_run)[r].records == NULL)
                    return true;
        }
    return false;
}

/* One thread: writes out what a part still has. */
static void flush_pairs(void *context, unsigned share)
{
    struct group *group = context;
    struct group_part *part = &group->parts[share];
    part->status = VDBQ_OK;
    for (unsigned i = 0; i < group->aggregate_count; i++)
        if (aggregate_is_distinct(&group->aggregates[i])
            && part->status == VDBQ_OK)
            part->status =
                group_store_flush(group, &part->distinct[i], &part->error);
}

enum vdbq_status group_end_pairs(struct group *group, struct error *error)
{
    parallel_run(group->part_count, flush_pairs, group);
    for (unsigned i = 0; i < group->part_count; i++)
        if (group->parts[i].status != VDBQ_OK) {
            *error = group->parts[i].error;
            return error->status;
        }
    return VDBQ_OK;
}

/* -------------------------------------------------------------- groups -- */

/* One thread: puts the numbers of a part's groups in the order of partitions. */
static void list_groups(void *context, unsigned share)
{
    struct merging *merging = context;
    const struct group_store *store = &merging->group->parts[share].groups;
    struct numbered *part = &merging->parts[share];
    uint32_t count = store->table.count;
    uint8_t *parts = memory_resize(NULL, count);
    part->order = memory_resize(NULL, count * sizeof *part->order);
    part->map = memory_resize(NULL, count * sizeof *part->map);
    merging->shares[share].status = VDBQ_OK;
    if (parts == NULL || part->order == NULL || part->map == NULL) {
        merging->shares[share].status =
            error_no_memory(&merging->shares[share].error);
    } else {
        group_store_partitions(store, parts, part->ends);
        merging->shares[share].status =
            stop_pause(&merging->shares[share].error);
        for (uint32_t i = 0;
             i < count && merging->shares[share].status == VDBQ_OK; i++)
            part->order[part->ends[parts[i]]++] = i;
    }
    memory_release(parts);
}

/* Merges the groups that a part has of a partition, and numbers them. */
static enum vdbq_status merge_part(const struct merging *merging,
                                   unsigned number, unsigned p, uint8_t *block)
{
    const struct group_table *from =
        &merging->group->parts[number].groups.table;
    const struct numbered *part = &merging->parts[number];
    struct group_part *partition = &merging->partitions[p];
    struct group_table *table = &partition->groups.table;
    uint32_t at = p > 0 ? part->ends[p - 1] : 0, end = part->ends[p];
    enum vdbq_status status = VDBQ_OK;
    for (unsigned count; at < end && status == VDBQ_OK; at += count) {
        uint32_t numbers[GROUP_BLOCK];
        count = end - at < GROUP_BLOCK ? end - at : GROUP_BLOCK;
        for (unsigned i = 0; i < count; i++)
            memcpy(block + i * from->width,
                   group_record(from, part->order[at + i]), from->width);
        status = group_table_join(table, block, count, 0, numbers,
                                  &partition->error);
        if (status != VDBQ_OK)
            break;
        group_merge_records(merging->group, table, block, count, numbers);
        for (unsigned i = 0; i < count; i++)
            part->map[part->order[at + i]] =
                (uint32_t)merging->firsts[p] + numbers[i];
    }
    return status;
}

/* Merges the groups of a partition; `last`: the table of the one that the thread
 * merged before, or NULL. */
static enum vdbq_status merge_groups(const struct merging *merging, unsigned p,
                                     struct group_table **last, uint8_t *block)
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
    for (unsigned i = 0; i < group->part_count && status == VDBQ_OK; i++)
        status = merge_part(merging, i, p, block);
    for (unsigned i = 0; i < group->aggregate_count && status == VDBQ_OK; i++)
        if (aggregate_is_distinct(&group->aggregates[i]))
            group_skip_rows(group, i, &partition->groups.table);
    return status;
}

/* One thread's share: partitions, as long as there are any. */
static void merge_share(void *context, unsigned share)
{
    struct merging *merging = context;
    size_t width = merging->group->parts[0].groups.table.width;
    uint8_t *block = memory_resize(NULL, GROUP_BLOCK * width);
    struct group_table *last = NULL;
    merging->shares[share].status =
        block != NULL ? VDBQ_OK
                      : error_no_memory(&merging->shares[share].error);
    while (merging->shares[share].status == VDBQ_OK) {
        unsigned p = atomic_fetch_add(&merging->next, 1);
        if (p >= GROUP_PARTITIONS)
            break;
        merging->shares[share].status = merge_groups(merging, p, &last, block);
        if (merging->shares[share].status != VDBQ_OK)
            merging->shares[share].error = merging->partitions[p].error;
    }
    memory_release(block);
}

/* Room for the groups of each partition: as many as all parts have of it. */
static enum vdbq_status make_room(struct merging *merging, struct error *error)
{
    struct group *group = merging->group;
    size_t width = group->parts[0].groups.table.width;
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        merging->firsts[p + 1] = merging->firsts[p];
        for (unsigned i = 0; i < group->part_count; i++) {
            const uint32_t *ends = merging->parts[i].ends;
            merging->firsts[p + 1] += ends[p] - (p > 0 ? ends[p - 1] : 0);
        }
    }
    if (merging->firsts[GROUP_PARTITIONS] >= UINT32_MAX)
        return error_set(error, VDBQ_LIMIT, "more than %u groups",
                         UINT32_MAX - 1);
    size_t bytes = merging->firsts[GROUP_PARTITIONS] * width;
    account_take_anyway(group->memory, bytes);
    merging->held_bytes = bytes;
    merging->records = group->lent = memory_resize(NULL, bytes);
    merging->partitions = arena_alloc(
        &group->arena, GROUP_PARTITIONS * sizeof *merging->partitions);
    return merging->records != NULL && merging->partitions != NULL
               ? VDBQ_OK
               : error_no_memory(error);
}

/* Merges groups by partitions. */
static enum vdbq_status merge_partitions(struct merging *merging,
                                         struct error *error)
{
    const struct group *group = merging->group;
    unsigned threads = group->params.threads;
    parallel_run(group->part_count, list_groups, merging);
    enum vdbq_status status = end_shares(merging, group->part_count, error);
    if (status == VDBQ_OK)
        status = make_room(merging, error);
    if (status != VDBQ_OK)
        return status;
    atomic_store(&merging->next, 0);
    parallel_run(threads, merge_share, merging);
    return end_shares(merging, threads, error);
}

/* Without keys: merges the only group of all parts into the first one. */
static void merge_one(struct merging *merging)
{
    struct group *group = merging->group;
    struct group_table *table = &group->parts[0].groups.table;
    const uint32_t number = 0;
    for (unsigned i = 1; i < group->part_count; i++)
        group_merge_records(group, table, group->parts[i].groups.table.records,
                            1, &number);
    for (unsigned i = 0; i < group->aggregate_count; i++)
        if (aggregate_is_distinct(&group->aggregates[i]))
            group_skip_rows(group, i, table);
    merging->records = table->records;
}

/* ----------------------------------------------------------------- all -- */

/* Puts partitions in the place of the threads' parts, of which nothing is left
 * but, without keys, the first one's group. */
static void use_partitions(struct merging *merging)
{
    struct group *group = merging->group;
    for (unsigned i = 0; i < group->part_count; i++) {
        struct group_part *part = &group->parts[i];
        for (unsigned k = 0; k < group->aggregate_count; k++)
            group_store_finish(group, &part->distinct[k]);
        if (group->keys > 0 || i > 0)
            group_store_finish(group, &part->groups);
    }
    group->part_count = group->keys > 0 ? GROUP_PARTITIONS : 1;
    if (group->keys == 0)
        return;
    group->parts = merging->partitions;
    group->parts[0].groups.held_bytes += merging->held_bytes;
}

/* Gives the pairs to their aggregates. */
static enum vdbq_status take_pairs(const struct merging *merging,
                                   struct error *error)
{
    struct group_taking taking = { .group = merging->group,
                                   .records = merging->records,
                                   .groups =
                                       merging->firsts[GROUP_PARTITIONS] };
    if (merging->group->keys == 0)
        taking.groups = 1;
    for (unsigned i = 0; i < merging->group->part_count; i++)
        taking.maps[i] = merging->parts[i].map;
    return group_take_pairs(&taking, error);
}

enum vdbq_status group_merge_pairs(struct group *group, struct error *error)
{
    assert(group->distinct && !group_has_pair_files(group));
    struct merging *merging = memory_zeroed(1, sizeof *merging);
    enum vdbq_status status = VDBQ_OK;
    if (merging == NULL)
        return error_no_memory(error);
    merging->group = group;
    if (group->keys > 0)
        status = merge_partitions(merging, error);
    else
        merge_one(merging);
    if (status == VDBQ_OK)
        status = take_pairs(merging, error);
    if (group->keys == 0 || merging->partitions != NULL)
        use_partitions(merging);
    for (unsigned i = 0; i < PARALLEL_THREADS_MAX; i++) {
        memory_release(merging->parts[i].order);
        memory_release(merging->parts[i].map);
    }
    memory_release(merging);
    return status;
}
