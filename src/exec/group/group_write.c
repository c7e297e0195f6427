/* SPDX-License-Identifier: MIT */
/*
 * What grouping gives, written column by column; threads share the groups
 * out among them.
 */
#include "exec/group/group_inner.h"

#include <assert.h>

#include "exec/rows/write_columns.h"

struct writing {
    struct column_writing head; /* first: threads and their shares */
    struct group *group;        /* merged: its first part has all groups */
    const uint32_t *order;      /* NULL: that of the groups' numbers */
};

/* Groups [first, end): what comes of an aggregate; whether any is NULL. */
static enum vdbq_status write_aggregate(const struct writing *writing,
                                        uint32_t first, uint32_t end,
                                        bool *nulls, struct error *error)
{
    const struct group *group = writing->group;
    const struct row_set_column *column = writing->head.column;
    const struct aggregate *aggregate =
        &group->aggregates[writing->head.number - group->keys];
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t i = first; status == VDBQ_OK && i < end; i++) {
        uint32_t number = writing->order != NULL ? writing->order[i] : i;
        const uint8_t *record = group_extra(&group->parts[0].table, number);
        const struct group_head *head = (const void *)record;
        status = aggregate_result(aggregate, record, head->rows, column->values,
                                  column->nulls, i, error);
        *nulls |= column->nulls[i] != 0;
    }
    return status;
}

/* One thread's share of the rows of one column. */
static void write_share(void *context, unsigned share)
{
    struct writing *writing = context;
    const struct group *group = writing->group;
    const struct group_table *table = &group->parts[0].table;
    uint64_t count = table->count;
    uint32_t first = (uint32_t)share_first(&writing->head, count, share);
    uint32_t end = (uint32_t)share_first(&writing->head, count, share + 1);

    writing->head.shares[share].nulls = false;
    writing->head.shares[share].status = VDBQ_OK;
    if (writing->head.number < group->keys)
        writing->head.shares[share].nulls = group_table_key(
            table, writing->head.number, writing->order, first, end,
            writing->head.column->values, writing->head.column->nulls);
    else
        writing->head.shares[share].status = write_aggregate(
            writing, first, end, &writing->head.shares[share].nulls,
            &writing->head.shares[share].error);
}

enum vdbq_status group_write(struct group *group, const uint32_t *order,
                             struct row_set *row_set, struct error *error)
{
    assert(group->part_count >= 1);
    uint32_t count = group->parts[0].table.count;
    struct writing *writing = arena_alloc(&group->arena, sizeof *writing);

    if (writing == NULL)
        return error_no_memory(error);
    writing->group = group;
    writing->order = order;
    writing->head.threads = parallel_threads(group->params.threads, count);
    return write_columns(&writing->head, write_share, count, row_set, error);
}
