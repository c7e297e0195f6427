/* SPDX-License-Identifier: MIT */
/*
 * What grouping gives, written column by column in the order of the groups'
 * first rows; threads share the groups out among them.
 */
#include "exec/group/group_inner.h"

#include <assert.h>

#include "base/memory.h"
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
        for (uint32_t i = 0; i < table->count; i++, at++) {
            const uint8_t *extra = group_extra(table, i);
            writing->records[at] = group_record(table, i);
            writing->firsts[at] =
                ((const struct group_head *)(const void *)extra)->first;
        }
    }
}

/* Puts the groups of several parts into the order of their first rows; those
 * of one are in it. */
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

/* The record that becomes a row. */
static const uint8_t *record_of(const struct writing *writing, uint32_t row)
{
    return writing->records != NULL
               ? writing->records[writing->order[row]]
               : group_record(&writing->group->parts[0].groups.table, row);
}

/* Rows [first, first + count) of a column that is a key; whether any is
 * NULL. */
static bool write_key(const struct writing *writing,
                      const uint8_t *const *records, uint32_t first,
                      unsigned count)
{
    const struct row_set_column *column = writing->head.column;
    return group_table_key(
        &writing->group->parts[0].groups.table, writing->head.number, records,
        count, (uint8_t *)column->values + (size_t)first * column->width,
        column->nulls + first);
}

/* The same of what comes of an aggregate. */
static enum vdbq_status write_aggregate(const struct writing *writing,
                                        const uint8_t *const *records,
                                        uint32_t first, unsigned count,
                                        bool *nulls, struct error *error)
{
    const struct group *group = writing->group;
    const struct row_set_column *column = writing->head.column;
    const struct aggregate *aggregate =
        &group->aggregates[writing->head.number - group->keys];
    size_t keys = 8 * group->parts[0].groups.table.words;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; status == VDBQ_OK && i < count; i++) {
        const uint8_t *extra = records[i] + keys;
        const struct group_head *head = (const void *)extra;
        status = aggregate_result(aggregate, extra, head->rows, column->values,
                                  column->nulls, first + i, error);
        *nulls |= column->nulls[first + i] != 0;
    }
    return status;
}

/* One thread's share of the rows of one column. */
static void write_share(void *context, unsigned share)
{
    struct writing *writing = context;
    uint64_t at = share_first(&writing->head, writing->count, share);
    uint64_t end = share_first(&writing->head, writing->count, share + 1);
    const uint8_t *records[GROUP_BLOCK];
    enum vdbq_status status = VDBQ_OK;
    bool nulls = false;

    for (; at < end && status == VDBQ_OK; at += GROUP_BLOCK) {
        unsigned count =
            end - at < GROUP_BLOCK ? (unsigned)(end - at) : GROUP_BLOCK;
        uint32_t first = (uint32_t)at;
        for (unsigned i = 0; i < count; i++)
            records[i] = record_of(writing, first + i);
        if (writing->head.number < writing->group->keys)
            nulls |= write_key(writing, records, first, count);
        else
            status = write_aggregate(writing, records, first, count, &nulls,
                                     &writing->head.shares[share].error);
    }
    writing->head.shares[share].nulls = nulls;
    writing->head.shares[share].status = status;
}

enum vdbq_status group_write(struct group *group, struct row_set *row_set,
                             struct error *error)
{
    assert(group->part_count >= 1);
    struct writing *writing = memory_zeroed(1, sizeof *writing);
    enum vdbq_status status = VDBQ_OK;

    if (writing == NULL)
        return error_no_memory(error);
    writing->group = group;
    writing->count = groups_before(group, group->part_count);
    if (writing->count > UINT32_MAX - 1)
        status =
            error_set(error, VDBQ_LIMIT, "more than %u groups", UINT32_MAX - 1);
    writing->head.threads =
        parallel_threads(group->params.threads, writing->count);
    if (status == VDBQ_OK && group->part_count > 1)
        status = order_groups(writing, error);
    if (status == VDBQ_OK)
        status = write_columns(&writing->head, write_share, writing->count,
                               row_set, error);
    group->failed_column = writing->head.number;
    memory_release(writing->records);
    memory_release(writing->firsts);
    memory_release(writing->order);
    memory_release(writing);
    return status;
}
