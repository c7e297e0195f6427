/* SPDX-License-Identifier: MIT */
/*
 * Blocks of rows on their way into groups: their groups are looked up, then each
 * aggregate takes its values into the groups' records.
 */
#include <assert.h>

#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/group/group_scatter.h"

void group_make_room(const struct group *group, struct group_part *part,
                     unsigned count)
{
    assert(count <= GROUP_ADDED_MAX && part->added <= GROUP_ADDED_MAX);
    if (part->added + count > GROUP_ADDED_MAX) {
        group_carry(group, &part->groups.table);
        part->added = 0;
    }
    part->added += count;
}

/* Counts rows in their groups; `made` of the groups were there before. */
static void count_rows(const struct group_table *table, uint32_t made,
                       const uint32_t *numbers, uint8_t *const *records,
                       const struct aggregate_rows *rows)
{
    unsigned count = rows->count;
    for (unsigned i = 0; i < count; i++)
        ((struct group_head *)(void *)records[i])->rows++;
    for (unsigned i = 0; made < table->count && i < count; i++)
        if (numbers[i] == made) {
            ((struct group_head *)(void *)records[i])->first = rows->number + i;
            made++;
        }
}

/* The same of scattered rows: of several threads, which are in any order. */
static void count_scattered(uint8_t *const *records,
                            const struct aggregate_rows *rows)
{
    for (unsigned i = 0; i < rows->count; i++) {
        struct group_head *head = (void *)records[i];
        uint64_t number = aggregate_number(rows, i);
        if (head->rows++ == 0 || number < head->first)
            head->first = number;
    }
}

/* The same of rows that are sorted by groups, from `least` on. */
static void count_sorted(const struct group_table *table, uint32_t made,
                         uint32_t least, struct aggregate_sorted *sorted,
                         uint64_t number)
{
    unsigned first = 0;
    for (unsigned g = 0; g < sorted->groups; first = sorted->ends[g++]) {
        struct group_head *head = (void *)group_extra(table, least + g);
        sorted->records[g] = (uint8_t *)head;
        head->rows += sorted->ends[g] - first;
        if (least + g >= made)
            head->first = number + sorted->rows[first];
    }
}

/* Leaves out values that were seen before: how many are left. */
static unsigned unseen(struct group_seen *seen, int32_t *values, unsigned count)
{
    uint8_t *flags = seen->flags;
    unsigned left = 0;

    if (!seen->based && count > 0)
        seen->base = (uint32_t)values[0] - GROUP_SEEN / 2;
    seen->based |= count > 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t at = (uint32_t)values[i] - seen->base;
        bool known = at < GROUP_SEEN && flags[at] != 0;
        if (at < GROUP_SEEN)
            flags[at] = 1;
        values[left] = values[i];
        left += !known;
    }
    return left;
}

/* Keeps a block's different values for DISTINCT: rows that count, one behind
 * the other, then a look into the table of pairs. */
static enum vdbq_status add_distinct(struct group *group,
                                     struct group_part *part, unsigned which,
                                     const struct aggregate_rows *rows,
                                     const uint32_t *numbers, uint64_t coming)
{
    const struct aggregate *aggregate = &group->aggregates[which];
    uint64_t values[GROUP_BLOCK];
    uint32_t groups[GROUP_BLOCK], found[GROUP_BLOCK];
    struct vdbq_vector pair[2] = { { VDBQ_INTEGER, groups, NULL },
                                   { VDBQ_TYPE_NONE, values, NULL } };
    unsigned picked = aggregate_pick(aggregate, rows, values,
                                     group->keys > 0 ? numbers : NULL, groups),
             count = picked;

    if (part->seen[which].flags != NULL)
        count = unseen(&part->seen[which], (int32_t *)(void *)values, picked);
    part->distinct[which].table.rows += picked - count;
    if (count == 0)
        return VDBQ_OK;
    enum vdbq_status status =
        group_store_room(group, &part->distinct[which], count, &part->error);
    if (status != VDBQ_OK)
        return status;
    return group_table_find(&part->distinct[which].table,
                            pair + (group->keys == 0), 0, count, coming, found,
                            &part->error);
}

/* A block of rows on its way into groups. */
struct adding_block {
    struct group *group;
    struct group_part *part;
    const struct vdbq_vector *columns;
    struct aggregate_rows rows;
    uint64_t coming;                /* how many rows will follow at least */
    uint32_t numbers[GROUP_BLOCK];  /* of the groups of rows              */
    uint8_t *records[GROUP_BLOCK];  /* ... their records, unless sorted   */
    bool is_sorted;                 /* by few groups                      */
    struct aggregate_sorted sorted; /* ...                                */
    struct aggregate_room room;
};

/* Finds the groups of the rows and counts them there. */
static enum vdbq_status find_groups(struct adding_block *block)
{
    struct group_part *part = block->part;
    struct group_table *table = &part->groups.table;
    unsigned count = block->rows.count;
    uint32_t least;
    enum vdbq_status status =
        group_store_room(block->group, &part->groups, count, &part->error);
    uint32_t made = table->count;
    if (status == VDBQ_OK)
        status =
            group_table_find(table, block->columns, block->rows.start, count,
                             block->coming, block->numbers, &part->error);
    if (status != VDBQ_OK)
        return status;
    group_make_room(block->group, part, count);
    block->is_sorted =
        block->rows.offsets == NULL
        && aggregate_sort(block->numbers, count, &least, &block->sorted);
    if (block->is_sorted) {
        count_sorted(table, made, least, &block->sorted, block->rows.number);
        return VDBQ_OK;
    }
    group_records(table, block->numbers, count, block->records);
    if (block->rows.offsets != NULL)
        count_scattered(block->records, &block->rows);
    else
        count_rows(table, made, block->numbers, block->records, &block->rows);
    return VDBQ_OK;
}

/* Adds the rows to an aggregate. */
static enum vdbq_status add_aggregate(struct adding_block *block,
                                      unsigned which)
{
    const struct aggregate *aggregate = &block->group->aggregates[which];
    const struct step_aggregate *step = &aggregate->step;
    struct aggregate_rows *rows = &block->rows;
    if (aggregate->shared)
        return VDBQ_OK;
    rows->argument = step->column < 0 ? NULL : &block->columns[step->column];
    rows->filter = step->filter < 0 ? NULL : &block->columns[step->filter];
    if (aggregate_is_distinct(aggregate))
        return add_distinct(block->group, block->part, which, rows,
                            block->numbers, block->coming);
    if (block->group->keys == 0)
        aggregate_add_one(aggregate, rows, &block->room, block->records[0]);
    else if (block->is_sorted)
        aggregate_add_sorted(aggregate, rows, &block->sorted, &block->room);
    else
        aggregate_add(aggregate, rows, &block->room, block->records);
    return VDBQ_OK;
}

/* Finds the groups of rows, GROUP_BLOCK at most, then adds them column by
 * column. */
static enum vdbq_status add_block(struct group *group, struct group_part *part,
                                  const struct group_rows *rows)
{
    struct adding_block block;
    enum vdbq_status status = VDBQ_OK;

    assert(rows->count > 0 && rows->count <= GROUP_BLOCK);
    block.group = group;
    block.part = part;
    block.columns = rows->columns;
    block.rows = (struct aggregate_rows){ .start = rows->start,
                                          .count = (unsigned)rows->count,
                                          .number = rows->number,
                                          .offsets = rows->offsets };
    block.coming = rows->coming;
    block.room.made = false;
    if (group->keys > 0) {
        status = find_groups(&block);
    } else {
        block.records[0] = group_extra(&part->groups.table, 0);
        ((struct group_head *)(void *)block.records[0])->rows += rows->count;
    }
    for (unsigned i = 0; status == VDBQ_OK && i < group->aggregate_count; i++)
        status = add_aggregate(&block, i);
    return status;
}

void group_add_rows(struct group *group, struct group_part *part,
                    const struct group_rows *rows)
{
    struct group_rows block = *rows;
    for (uint64_t at = 0; at < rows->count && part->status == VDBQ_OK;
         at += block.count) {
        uint64_t left = rows->count - at;
        block.start = rows->start + at;
        block.count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        if (rows->offsets != NULL)
            block.offsets = rows->offsets + at;
        else
            block.number = rows->number + at;
        part->status = add_block(group, part, &block);
        if (part->status == VDBQ_OK)
            part->status = stop_pause(&part->error);
    }
}

/* Takes in the first of these rows, up to a block of them; how many. */
static uint64_t add_first(struct group *group, const struct batches *batches,
                          struct group_part *part, uint64_t at, uint64_t end)
{
    struct batches_run run = batches_run_at(batches, at, end);
    if (part->scatter == NULL && group_scatter_pays(group, part))
        part->status = group_scatter_begin(group, part, &part->error);
    if (part->status == VDBQ_OK && part->scatter != NULL)
        return group_scatter_rows(group, part, &run);
    struct group_rows rows = {
        .columns = run.columns,
        .start = run.start,
        .count = run.rows < GROUP_BLOCK ? run.rows : GROUP_BLOCK,
        .number = group->rows + run.number,
    };
    rows.coming = batches_rows(batches) - at - rows.count;
    group_add_rows(group, part, &rows);
    return rows.count;
}

void group_add_range(struct group *group, const struct batches *batches,
                     struct group_part *part, uint64_t at, uint64_t end)
{
    while (at < end && part->status == VDBQ_OK) {
        at += add_first(group, batches, part, at, end);
        if (part->status == VDBQ_OK)
            part->status = stop_pause(&part->error);
    }
}
