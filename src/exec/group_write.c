/* SPDX-License-Identifier: MIT */
/*
 * What grouping gives, written column by column; threads share the groups
 * out among them.
 */
#include "exec/group_inner.h"

#include "base/memory.h"
#include "base/parallel.h"

struct writing {
    struct group *group;
    const uint32_t *order; /* NULL: that of the groups' numbers */
    unsigned threads;
    unsigned number;       /* of the column                     */
    struct relation_column *column;
    struct {
        bool nulls; /* it wrote some */
        enum vdbq_status status;
        struct error error;
    } shares[PARALLEL_THREADS_MAX];
};

/* Groups [first, end): what comes of an aggregate; whether any is NULL. */
static enum vdbq_status write_aggregate(const struct writing *writing,
                                        uint32_t first, uint32_t end,
                                        bool *nulls, struct error *error)
{
    const struct group *group = writing->group;
    const struct relation_column *column = writing->column;
    const struct aggregate *aggregate =
        &group->aggregates[writing->number - group->keys];
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t i = first; status == VDBQ_OK && i < end; i++) {
        uint32_t number = writing->order != NULL ? writing->order[i] : i;
        const uint8_t *record = group_extra(&group->parts[0].table, number);
        const struct group_head *head = (const void *)record;
        status = aggregate_result(aggregate, record, head->rows,
                                  column->values, column->nulls, i, error);
        *nulls |= column->nulls[i] != 0;
    }
    return status;
}

static void write_share(void *context, unsigned share)
{
    struct writing *writing = context;
    const struct group *group = writing->group;
    const struct group_table *table = &group->parts[0].table;
    uint64_t count = table->count;
    uint32_t first = (uint32_t)(count * share / writing->threads);
    uint32_t end = (uint32_t)(count * (share + 1) / writing->threads);

    writing->shares[share].nulls = false;
    writing->shares[share].status = VDBQ_OK;
    if (writing->number < group->keys)
        writing->shares[share].nulls = group_table_key(
            table, writing->number, writing->order, first, end,
            writing->column->values, writing->column->nulls);
    else
        writing->shares[share].status = write_aggregate(
            writing, first, end, &writing->shares[share].nulls,
            &writing->shares[share].error);
}

static enum vdbq_status write_column(struct writing *writing,
                                     struct error *error)
{
    struct relation_column *column = writing->column;
    bool nulls = false;

    parallel_run(writing->threads, write_share, writing);
    for (unsigned i = 0; i < writing->threads; i++) {
        nulls |= writing->shares[i].nulls;
        if (writing->shares[i].status != VDBQ_OK) {
            *error = writing->shares[i].error;
            return error->status;
        }
    }
    if (!nulls) {
        memory_release(column->nulls);
        column->nulls = NULL;
    }
    return VDBQ_OK;
}

enum vdbq_status group_write(struct group *group, const uint32_t *order,
                             struct relation *relation, struct error *error)
{
    uint32_t count = group->parts[0].table.count;
    struct writing *writing = arena_alloc(&group->arena, sizeof *writing);
    enum vdbq_status status = relation_room(relation, count, error);

    if (writing == NULL)
        return error_no_memory(error);
    writing->group = group;
    writing->order = order;
    writing->threads = parallel_threads(group->params.threads, count);
    for (unsigned i = 0; status == VDBQ_OK
                         && i < group->keys + group->aggregate_count; i++) {
        writing->number = i;
        writing->column = &relation->columns[i];
        status = relation_flags(relation, i, error);
        if (status == VDBQ_OK)
            status = write_column(writing, error);
    }
    if (status == VDBQ_OK)
        relation->rows = count;
    return status;
}
