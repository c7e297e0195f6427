/* SPDX-License-Identifier: MIT */
/*
 * What grouping gives, written column by column in the order of the groups'
 * first rows; threads share the groups out among them.
 */
#include "exec/group/group_ordered.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/rows/write_columns.h"
#include "exec/sort/sort.h"

struct writing {
    struct column_writing head; /* first: threads and their shares */
    struct group *group;        /* merged: no two parts have the same keys */
    uint64_t count;             /* groups of all parts                       */
    const uint8_t **records;    /* of all parts; NULL: of the only one        */
    uint64_t *firsts;           /* rows, one a record                        */
    uint32_t *order;            /* of the records                            */
};

/* --------------------------------------------------------------- order -- */

/* What a part's records go behind. */
static uint64_t groups_before(const struct group *group, unsigned part)
{
    uint64_t before = 0;
    for (unsigned i = 0; i < part; i++)
        before += group->parts[i].groups.table.count;
    return before;
}

/* One thread's share of the parts: where their records are. */
static void list_share(void *context, unsigned share)
{
    struct writing *writing = context;
    const struct group *group = writing->group;
    unsigned threads = writing->head.threads;
    unsigned part = group->part_count * share / threads;
    unsigned end = group->part_count * (share + 1) / threads;
    uint64_t at = groups_before(group, part);
    for (; part < end; part++) {
        const struct group_table *table = &group->parts[part].groups.table;
        for (uint32_t i = 0; i < table->count && !stop_at(i); i++, at++) {
            const uint8_t *extra = group_extra(table, i);
            writing->records[at] = group_record(table, i);
            writing->firsts[at] =
                ((const struct group_head *)(const void *)extra)->first;
        }
    }
}

/* Puts the groups of several parts, or those that came apart, into the order of
 * their first rows; those of one are in it. */
static enum vdbq_status order_groups(struct writing *writing,
                                     struct error *error)
{
    size_t count = writing->count;
    writing->records =
        memory_resize(NULL, (count + 1) * sizeof *writing->records);
    writing->firsts =
        memory_resize(NULL, (count + 1) * sizeof *writing->firsts);
    writing->order = memory_resize(NULL, (count + 1) * sizeof *writing->order);
    if (writing->records == NULL || writing->firsts == NULL
        || writing->order == NULL)
        return error_no_memory(error);
    parallel_run(writing->head.threads, list_share, writing);
    struct sort_key key = { .type = TYPE_I64, .values = writing->firsts };
    return sort_order(&key, 1, (uint32_t)count, writing->group->params.threads,
                      writing->order, error);
}

/* --------------------------------------------------------------- write -- */

/* The records that become rows; they are far from one another in memory. */
static void list_records(const void *context, struct column_block *block)
{
    const struct writing *writing = context;
    const struct group_table *table = &writing->group->parts[0].groups.table;
    if (writing->group->ordered) {
        group_list_ordered(writing->group, block->first, block->count,
                           block->records);
        return;
    }
    for (unsigned i = 0; i < block->count; i++) {
        uint32_t row = (uint32_t)block->first + i;
        block->records[i] = writing->records != NULL
                                ? writing->records[writing->order[row]]
                                : group_record(table, row);
        __builtin_prefetch(block->records[i]);
    }
}

/* Writes what comes of an aggregate. */
static enum vdbq_status write_aggregate(const struct group *group,
                                        struct column_block *block,
                                        struct error *error)
{
    const struct row_set_column *column = block->column;
    const struct aggregate *aggregate =
        &group->aggregates[block->number - group->keys];
    size_t keys = 8 * group->parts[0].groups.table.words;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; status == VDBQ_OK && i < block->count; i++) {
        const uint8_t *extra = block->records[i] + keys;
        const struct group_head *head = (const void *)extra;
        status = aggregate_result(aggregate, extra, head->rows, column->values,
                                  column->nulls, block->first + i, error);
        block->nulls |= column->nulls[block->first + i] != 0;
    }
    return status;
}

/* Writes a block of a column: a key, or an aggregate. */
static enum vdbq_status write_block(const void *context,
                                    struct column_block *block,
                                    struct error *error)
{
    const struct group *group = ((const struct writing *)context)->group;
    const struct row_set_column *column = block->column;
    if (block->number >= group->keys)
        return write_aggregate(group, block, error);
    block->nulls = group_table_key(&group->parts[0].groups.table, block->number,
                                   block->records, block->count,
                                   (uint8_t *)column->values
                                       + (size_t)block->first * column->width,
                                   column->nulls + block->first);
    return VDBQ_OK;
}

/* Writes the groups, in order or, where there is one table, as they lie there. */
static enum vdbq_status write_groups(struct group *group, bool in_order,
                                     struct row_set *row_set,
                                     struct error *error)
{
    assert(group->part_count >= 1);
    uint64_t count = groups_before(group, group->part_count);
    struct writing writing = { .head = { .threads = parallel_threads(
                                             group->params.threads, count),
                                         .list = list_records,
                                         .write = write_block },
                               .group = group,
                               .count = count };
    enum vdbq_status status = VDBQ_OK;

    if (count > UINT32_MAX - 1)
        status =
            error_set(error, VDBQ_LIMIT, "more than %u groups", UINT32_MAX - 1);
    if (status == VDBQ_OK && in_order)
        status = order_groups(&writing, error);
    if (status == VDBQ_OK)
        status = write_columns(&writing.head, count, row_set, error);
    group->failed_column = writing.head.failed;
    memory_release(writing.records);
    memory_release(writing.firsts);
    memory_release(writing.order);
    return status;
}

enum vdbq_status group_write(struct group *group, struct row_set *row_set,
                             struct error *error)
{
    bool lie_in_order =
        group->ordered || (group->part_count == 1 && !group->params.apart);
    return write_groups(group, !lie_in_order, row_set, error);
}

enum vdbq_status group_write_table(struct group *group, struct row_set *row_set,
                                   struct error *error)
{
    assert(group->part_count == 1 && !group->ordered);
    return write_groups(group, false, row_set, error);
}
