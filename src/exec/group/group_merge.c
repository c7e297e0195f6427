/* SPDX-License-Identifier: MIT */
/*
 * The end of grouping: parts become one, and values that DISTINCT kept apart
 * are given to their aggregates.
 */
#include "exec/group/group_inner.h"

#include <assert.h>

#include "base/memory.h"
#include "cl/types.h"

void group_merge_records(const struct group *group, struct group_table *table,
                         const uint8_t *records, unsigned count,
                         const uint32_t *numbers)
{
    for (unsigned i = 0; i < count; i++) {
        uint8_t *into = group_extra(table, numbers[i]);
        const uint8_t *from = records + i * table->width + 8 * table->words;
        struct group_head *head = (void *)into;
        const struct group_head *other = (const void *)from;
        if (head->rows == 0 || other->first < head->first)
            head->first = other->first;
        head->rows += other->rows;
        for (unsigned k = 0; k < group->aggregate_count; k++)
            aggregate_merge(&group->aggregates[k], into, from);
    }
}

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
    }
    return status;
}

/* Pairs of DISTINCT, as columns. */
struct pairs {
    uint32_t numbers[GROUP_BLOCK]; /* of the pairs where they are found */
    uint32_t groups[GROUP_BLOCK];  /* the same groups in the part that takes */
    uint64_t values[GROUP_BLOCK];  /* of the aggregate's argument */
    uint8_t nulls[GROUP_BLOCK];    /* of the values: all 0 */
};

/* Reads pairs [at, at + count); without keys all groups are the one. */
static void read_pairs(const struct group_table *table, uint32_t at,
                       unsigned count, struct pairs *pairs)
{
    const uint8_t *records[GROUP_BLOCK];
    for (unsigned i = 0; i < count; i++) {
        records[i] = group_record(table, at + i);
        pairs->groups[i] = 0;
    }
    if (table->key_count == 2)
        group_table_key(table, 0, records, count, pairs->groups, pairs->nulls);
    group_table_key(table, table->key_count - 1, records, count, pairs->values,
                    pairs->nulls);
}

/* Adds a part's pairs to those of the first part. */
static enum vdbq_status merge_pairs(struct group_table *into,
                                    const struct group_table *from,
                                    const uint32_t *map, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    struct pairs pairs;
    struct vdbq_vector columns[2] = { { VDBQ_INTEGER, pairs.groups, NULL },
                                      { VDBQ_TYPE_NONE, pairs.values, NULL } };

    for (uint32_t at = 0; status == VDBQ_OK && at < from->count;
         at += GROUP_BLOCK) {
        uint32_t left = from->count - at;
        unsigned count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        read_pairs(from, at, count, &pairs);
        for (unsigned i = 0; i < count; i++)
            pairs.groups[i] = map[pairs.groups[i]];
        status = group_table_find(into, columns + (into->key_count == 1), 0,
                                  count, left - count, pairs.numbers, error);
    }
    return status;
}

/* Merges one part into the first one and frees its tables. */
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
        if (!group_is_distinct(&group->aggregates[i]))
            continue;
        if (status == VDBQ_OK)
            status = merge_pairs(&group->parts[0].distinct[i].table,
                                 &part->distinct[i].table, map, error);
        group_store_finish(group, &part->distinct[i]);
    }
    memory_release(map);
    return status;
}

/* Gives a table of pairs to its aggregate. */
static void take_pairs(struct group *group, unsigned which)
{
    const struct aggregate *aggregate = &group->aggregates[which];
    const struct group_table *table = &group->parts[0].groups.table;
    const struct group_table *kept = &group->parts[0].distinct[which].table;
    struct pairs pairs;
    uint8_t *records[GROUP_BLOCK];
    struct vdbq_vector values = { VDBQ_TYPE_NONE, pairs.values, NULL };
    struct aggregate_rows rows = { .argument = &values };
    struct aggregate_room room = { .made = false };

    for (uint32_t i = 0; i < table->count; i++) {
        uint8_t *record = group_extra(table, i);
        aggregate_skip(aggregate, record,
                       ((struct group_head *)(void *)record)->rows);
    }
    for (uint32_t at = 0; at < kept->count; at += GROUP_BLOCK) {
        uint32_t left = kept->count - at;
        rows.count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        read_pairs(kept, at, rows.count, &pairs);
        group_records(table, pairs.groups, rows.count, records);
        for (unsigned i = 0; i < rows.count; i++)
            aggregate_skip(aggregate, records[i], UINT64_MAX);
        aggregate_add(aggregate, &rows, &room, records);
    }
}

enum vdbq_status group_merge(struct group *group, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    assert(group->part_count <= group->params.threads);
    if (group_has_runs(group))
        return group_merge_runs(group, error);
    for (unsigned i = 1; status == VDBQ_OK && i < group->part_count; i++)
        status = merge_part(group, &group->parts[i], error);
    for (unsigned i = 0; status == VDBQ_OK && i < group->aggregate_count; i++)
        if (group_is_distinct(&group->aggregates[i]))
            take_pairs(group, i);
    return status;
}
