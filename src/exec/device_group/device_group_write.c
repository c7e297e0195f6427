/* SPDX-License-Identifier: MIT */
/*
 * The groups that came from a device, put into the order of their first rows
 * and written column by column; threads share them out among them.
 */
#include <assert.h>
#include <string.h>

#include "exec/device_group/device_group_inner.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/rows/order.h"
#include "exec/sort/sort.h"
#include "exec/rows/write_columns.h"

struct writing {
    struct column_writing head;         /* first: threads and their shares */
    const struct device_groups *groups; /* as the device wrote them */
    size_t width;                       /* of a group in bytes     */
    const uint32_t *order;              /* NULL: as they are       */
};

struct device_groups device_groups_of(const struct device_group_shape *shape)
{
    return (struct device_groups){
        .shape = shape,
        .aggregates = shape->aggregates,
        .width = device_group_head(&shape->control) + shape->control.out,
        .record_at = device_group_head(&shape->control),
        .keys = shape->control.keys,
    };
}

/* Writes a key of the group whose bytes begin with a struct group_out; whether it is
 * NULL. */
static bool write_key(const struct group_key *key, const uint8_t *bytes,
                      struct row_set_column *column, uint64_t row)
{
    const struct group_out *out = (const void *)bytes;
    const u64 *parts = &out->code;
    u32 null;
    uint64_t code = group_key_code(key->size, key->stride, key->column.nullable,
                                   parts[key->part], out->marks, &null);
    if (null)
        memset((uint8_t *)column->values + row * column->width, 0,
               column->width);
    else
        order_put((int)key->column.type, code + key->base, column->values, row);
    column->nulls[row] = null != 0;
    return null != 0;
}

/* Where the groups are that become rows. */
static void list_groups(const void *context, struct column_block *block)
{
    const struct writing *writing = context;
    for (unsigned i = 0; i < block->count; i++) {
        uint64_t number = block->first + i;
        if (writing->order != NULL)
            number = writing->order[number];
        assert(number < writing->groups->count);
        block->records[i] = writing->groups->bytes + number * writing->width;
    }
}

/* Writes a block of a column. */
static enum vdbq_status write_block(const void *context,
                                    struct column_block *block,
                                    struct error *error)
{
    const struct writing *writing = context;
    const struct device_group_shape *shape = writing->groups->shape;
    unsigned made_of = shape->results[block->number];
    struct row_set_column *column = block->column;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < block->count && status == VDBQ_OK; i++) {
        uint64_t row = block->first + i;
        const uint8_t *record = block->records[i] + writing->groups->record_at;
        const struct group_record *head = (const void *)record;
        if (made_of < GROUP_KEYS_MAX) {
            block->nulls |= write_key(&shape->control.key[made_of],
                                      block->records[i], column, row);
            continue;
        }
        status = aggregate_result(&shape->aggregates[made_of - GROUP_KEYS_MAX],
                                  record, head->rows, column->values,
                                  column->nulls, row, error);
        block->nulls |= column->nulls[row] != 0;
    }
    return status;
}

/* A group's record. */
static const struct group_record *record_of(const struct writing *writing,
                                            uint32_t group)
{
    return (const void *)(writing->groups->bytes + group * writing->width
                          + writing->groups->record_at);
}

/* The groups' order: that of their first rows. */
static enum vdbq_status order_groups(const struct writing *writing,
                                     unsigned threads, uint32_t *order,
                                     struct error *error)
{
    struct sort_key key = { .type = TYPE_I64, .descending = true };
    uint64_t *before = memory_zeroed(writing->groups->count, sizeof *before);
    enum vdbq_status status;
    key.values = before;
    for (uint32_t i = 0; before != NULL && i < writing->groups->count; i++)
        before[i] = record_of(writing, i)->before;
    status = before == NULL ? error_no_memory(error)
                            : sort_order(&key, 1, writing->groups->count,
                                         threads, order, error);
    memory_release(before);
    return status;
}

void device_groups_key(const struct device_groups *groups, unsigned key,
                       struct row_set_column *column)
{
    const struct group_key *from = &groups->shape->control.key[key];
    column->width = TYPE_IS_WIDE(from->column.type) ? 8 : 4;
    for (uint32_t i = 0; i < groups->count; i++)
        write_key(from, groups->bytes + i * groups->width, column, i);
}

enum vdbq_status device_groups_write(const struct device_groups *groups,
                                     unsigned threads, struct row_set *row_set,
                                     struct error *error)
{
    assert(groups->count > 0);
    uint32_t count = groups->count;
    struct writing writing = { .head = { .threads =
                                             parallel_threads(threads, count),
                                         .list = list_groups,
                                         .write = write_block },
                               .groups = groups,
                               .width = groups->width };
    enum vdbq_status status = VDBQ_OK;
    uint32_t *order =
        groups->ordered ? NULL : memory_zeroed(count, sizeof *order);
    writing.order = order;
    if (order == NULL && !groups->ordered)
        return error_no_memory(error);
    if (order != NULL)
        status = order_groups(&writing, threads, order, error);
    if (status == VDBQ_OK)
        status = write_columns(&writing.head, count, row_set, error);
    memory_release(order);
    return status;
}
