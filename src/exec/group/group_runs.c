/* SPDX-License-Identifier: MIT */
/*
 * Many groups on several cores. A thread whose table has grown too large for
 * its caches writes it out as a run, the records in the order of partitions of
 * their keys' hashes, and starts anew. At the end each partition is merged by
 * one thread from the runs of all: partitions have no key in common. After
 * Leis et al., "Morsel-driven parallelism" (2014), section 4.4.
 *
 * Where nearly all rows of a run were groups of their own, the next runs take
 * rows without looking for their groups: the merge finds them.
 */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "exec/group/group_inner.h"
#include "exec/group/group_pack.h"

enum {
    RUNS_PER_LOOK = 8 /* runs of which one at least looks for groups */
};

/* The partition of a hash: of its highest bits, for slots go by the others. */
static unsigned partition_of(uint64_t hash)
{
    _Static_assert(GROUP_PARTITIONS == 1 << 8, "of eight bits");
    return (unsigned)(hash >> 56);
}

/* ---------------------------------------------------------------- runs -- */

/* Notes the partition of each record, and counts them: ends[p] is where
 * partition p starts. */
static void count_partitions(const struct group_table *table, uint8_t *parts,
                             uint32_t *ends)
{
    uint32_t starts = 0;
    memset(ends, 0, GROUP_PARTITIONS * sizeof *ends);
    for (uint32_t i = 0; i < table->count; i++) {
        const uint64_t *packed = (const uint64_t *)group_record(table, i);
        parts[i] = (uint8_t)partition_of(pack_hash(packed, table->words));
        ends[parts[i]]++;
    }
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        uint32_t count = ends[p];
        ends[p] = starts;
        starts += count;
    }
}

/* Copies a table's records into a run. */
static enum vdbq_status fill_run(const struct group_table *table,
                                 struct group_run *run, struct error *error)
{
    size_t width = table->width;
    uint8_t *parts = memory_resize(NULL, (size_t)table->count + 1);
    run->records = memory_resize(NULL, (size_t)table->count * width + 1);
    enum vdbq_status status = VDBQ_OK;
    if (parts == NULL || run->records == NULL)
        status = error_no_memory(error);
    else
        count_partitions(table, parts, run->ends);
    for (uint32_t i = 0; status == VDBQ_OK && i < table->count; i++)
        memcpy(run->records + run->ends[parts[i]]++ * width,
               group_record(table, i), width);
    memory_release(parts);
    return status;
}

enum vdbq_status group_part_flush(struct group_part *part, struct error *error)
{
    struct group_table *table = &part->table;
    if (table->count == 0)
        return VDBQ_OK;
    struct group_run *run = vector_add(&part->runs);
    if (run == NULL)
        return error_no_memory(error);
    *run = (struct group_run){ 0 };
    enum vdbq_status status = fill_run(table, run, error);
    bool sparse = part->fill.sparse;
    if (!table->blind)
        sparse = table->count > (table->rows - part->fill.rows) / 16 * 15;
    part->fill = (struct group_fill){ .rows = table->rows,
                                      .groups_most = GROUP_LOCAL,
                                      .sparse = sparse };
    group_table_clear(table, sparse && part->runs.count % RUNS_PER_LOOK != 0);
    return status;
}

/* Whether the second half of the groups took many more rows than the first:
 * most groups are there then, and the table should stay. */
static bool is_saturating(const struct group_part *part)
{
    const struct group_fill *fill = &part->fill;
    uint64_t first = fill->rows_half - fill->rows;
    uint64_t second = part->table.rows - fill->rows_half;
    uint32_t groups = part->table.count - fill->groups_half;
    return second * fill->groups_half > first * groups / 8 * 9;
}

enum vdbq_status group_part_room(struct group_part *part, unsigned count,
                                 struct error *error)
{
    struct group_fill *fill = &part->fill;
    const struct group_table *table = &part->table;
    if (fill->groups_most == 0)
        fill->groups_most = GROUP_LOCAL;
    if (fill->groups_half == 0 && table->count >= fill->groups_most / 2) {
        fill->groups_half = table->count;
        fill->rows_half = table->rows;
    }
    if (table->count + count <= fill->groups_most)
        return VDBQ_OK;
    if (table->blind || fill->groups_most >= GROUP_LOCAL_MAX
        || !is_saturating(part))
        return group_part_flush(part, error);
    fill->groups_half = table->count;
    fill->rows_half = table->rows;
    fill->groups_most *= 2;
    return VDBQ_OK;
}

void group_part_forget_runs(struct group_part *part)
{
    for (size_t i = 0; i < part->runs.count; i++)
        memory_release(
            ((struct group_run *)vector_at(&part->runs, i))->records);
    vector_finish(&part->runs);
}

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

/* Records of a run that are a partition's. */
static uint32_t run_records(const struct group_run *run, unsigned p)
{
    return run->ends[p] - (p > 0 ? run->ends[p - 1] : 0);
}

/* Merges records into a partition. */
static enum vdbq_status merge_some(const struct group *group,
                                   struct group_part *partition,
                                   const uint8_t *records, uint32_t count)
{
    struct group_table *table = &partition->table;
    enum vdbq_status status = VDBQ_OK;
    uint32_t numbers[GROUP_BLOCK];
    while (count > 0 && status == VDBQ_OK) {
        unsigned some = count < GROUP_BLOCK ? count : GROUP_BLOCK;
        status = group_table_join(table, records, some, 0, numbers,
                                  &partition->error);
        if (status == VDBQ_OK)
            group_merge_records(group, table, records, some, numbers);
        records += some * table->width;
        count -= some;
    }
    return status;
}

/* Merges what all runs have of a partition. */
static enum vdbq_status merge_partition(const struct merging *merging,
                                        unsigned p)
{
    const struct group *group = merging->group;
    struct group_part *partition = &merging->partitions[p];
    enum vdbq_status status =
        group_table_init(&partition->table, group->types, group->keys,
                         group->bytes, &partition->error);
    if (status == VDBQ_OK)
        group_table_lend(
            &partition->table,
            merging->records + merging->firsts[p] * partition->table.width,
            (uint32_t)(merging->firsts[p + 1] - merging->firsts[p]));
    for (unsigned i = 0; i < group->part_count; i++) {
        const struct vector *runs = &group->parts[i].runs;
        for (size_t k = 0; k < runs->count && status == VDBQ_OK; k++) {
            const struct group_run *run = vector_at(runs, k);
            uint32_t first = p > 0 ? run->ends[p - 1] : 0;
            status = merge_some(group, partition,
                                run->records + first * partition->table.width,
                                run_records(run, p));
        }
    }
    return status;
}

/* Gives each partition its room: for the records that the runs have of it. */
static enum vdbq_status make_room(struct merging *merging, struct error *error)
{
    const struct group *group = merging->group;
    size_t width = group->parts[0].table.width;
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        uint64_t count = 0;
        for (unsigned i = 0; i < group->part_count; i++)
            for (size_t k = 0; k < group->parts[i].runs.count; k++)
                count += run_records(vector_at(&group->parts[i].runs, k), p);
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
    (void)share;
    for (;;) {
        unsigned p = atomic_fetch_add(&merging->next, 1);
        if (p >= GROUP_PARTITIONS)
            return;
        merging->partitions[p].status = merge_partition(merging, p);
    }
}

/* Puts partitions in the place of the threads' parts. */
static enum vdbq_status use_partitions(struct group *group,
                                       struct group_part *partitions,
                                       struct error *error)
{
    for (unsigned i = 0; i < group->part_count; i++) {
        group_part_forget_runs(&group->parts[i]);
        group_table_finish(&group->parts[i].table);
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
        if (group->parts[i].runs.count > 0)
            return true;
        groups += group->parts[i].table.count;
    }
    return group->part_count > 1 && group->keys > 0 && !group->distinct
           && groups > GROUP_MERGED_MAX;
}

enum vdbq_status group_merge_runs(struct group *group, struct error *error)
{
    assert(!group->distinct && group->keys > 0);
    struct merging merging = { .group = group };
    enum vdbq_status status = VDBQ_OK;
    merging.partitions = arena_alloc(
        &group->arena, GROUP_PARTITIONS * sizeof *merging.partitions);
    if (merging.partitions == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < group->part_count && status == VDBQ_OK; i++)
        status = group_part_flush(&group->parts[i], error);
    if (status == VDBQ_OK)
        status = make_room(&merging, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(group->params.threads, merge_share, &merging);
    group->lent = merging.records;
    return use_partitions(group, merging.partitions, error);
}
