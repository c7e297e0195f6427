/* SPDX-License-Identifier: MIT */
/*
 * The groups that came from a device, put into the order of their first rows
 * and written column by column; threads share them out among them.
 */
#include <assert.h>
#include <string.h>

#include "exec/group/device_group_inner.h"
#include "exec/group/group_apart.h"
#include "base/threads/stop.h"
#include "exec/rows/order.h"
#include "exec/sort/sort.h"
#include "exec/rows/write_columns.h"

struct writing {
    struct column_writing head; /* first: threads and their shares */
    const struct device_group_shape *shape; /* how a group looks */
    const uint8_t *groups;                  /* as the device wrote them */
    size_t width;                           /* of a group in bytes     */
    uint32_t count;                         /* groups */
    const uint32_t *order;                  /* NULL: as they are       */
};

/* Writes a group's key; whether it is NULL. */
static bool write_key(const struct group_key *key, const struct group_out *out,
                      struct row_set_column *column, uint64_t row)
{
    uint64_t all = key->size + key->column.nullable, code = out->code;
    bool null = out->null != 0;
    if (key->size > 0) {
        code = out->code / key->stride % all;
        null = code == key->size;
    }
    if (null)
        memset((uint8_t *)column->values + row * column->width, 0,
               column->width);
    else
        order_put((int)key->column.type, code + key->base, column->values, row);
    column->nulls[row] = null;
    return null;
}

/* Where the groups are that become rows. */
static void list_groups(const void *context, struct column_block *block)
{
    const struct writing *writing = context;
    for (unsigned i = 0; i < block->count; i++) {
        uint64_t number = block->first + i;
        if (writing->order != NULL)
            number = writing->order[number];
        assert(number < writing->count);
        block->records[i] = writing->groups + number * writing->width;
    }
}

/* Writes a block of a column. */
static enum vdbq_status write_block(const void *context,
                                    struct column_block *block,
                                    struct error *error)
{
    const struct writing *writing = context;
    const struct group_control *control = &writing->shape->control;
    struct row_set_column *column = block->column;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < block->count && status == VDBQ_OK; i++) {
        uint64_t row = block->first + i;
        const uint8_t *record = block->records[i] + sizeof(struct group_out);
        const struct group_record *head = (const void *)record;
        if (block->number < control->keys) {
            block->nulls |=
                write_key(&control->key[block->number],
                          (const void *)block->records[i], column, row);
            continue;
        }
        status = aggregate_result(
            &writing->shape->aggregates[block->number - control->keys], record,
            head->rows, column->values, column->nulls, row, error);
        block->nulls |= column->nulls[row] != 0;
    }
    return status;
}

/* The groups' order: that of their first rows. */
static enum vdbq_status order_groups(const struct writing *writing,
                                     unsigned threads, uint32_t *order,
                                     struct error *error)
{
    struct sort_key key = { .type = TYPE_I64, .descending = true };
    uint64_t *before = memory_zeroed(writing->count, sizeof *before);
    enum vdbq_status status;
    key.values = before;
    for (uint32_t i = 0; before != NULL && i < writing->count; i++)
        before[i] =
            ((const struct group_record *)(const void *)(writing->groups
                                                         + i * writing->width
                                                         + sizeof(
                                                             struct group_out)))
                ->before;
    status = before == NULL
                 ? error_no_memory(error)
                 : sort_order(&key, 1, writing->count, threads, order, error);
    memory_release(before);
    return status;
}

enum vdbq_status device_group_write(const struct device_group_shape *shape,
                                    const uint8_t *groups, uint32_t count,
                                    bool ordered, unsigned threads,
                                    struct row_set *row_set,
                                    struct error *error)
{
    assert(count > 0);
    struct writing *writing = memory_zeroed(1, sizeof *writing);
    uint32_t *order = ordered ? NULL : memory_zeroed(count, sizeof *order);
    enum vdbq_status status = VDBQ_OK;
    if (writing == NULL || (order == NULL && !ordered))
        status = error_no_memory(error);
    if (status == VDBQ_OK) {
        writing->shape = shape;
        writing->groups = groups;
        writing->width = sizeof(struct group_out) + shape->control.out;
        writing->count = count;
        writing->order = order;
        writing->head.threads = parallel_threads(threads, count);
        writing->head.list = list_groups;
        writing->head.write = write_block;
        if (!ordered)
            status = order_groups(writing, threads, order, error);
    }
    if (status == VDBQ_OK)
        status = write_columns(&writing->head, count, row_set, error);
    memory_release(order);
    memory_release(writing);
    return status;
}

/* ---------------------------------------------------------------- apart -- */

/* Keys of a block of groups, as columns. */
struct key_columns {
    struct vdbq_vector vectors[GROUP_KEYS_MAX];
    uint64_t values[GROUP_KEYS_MAX][AGGREGATE_BLOCK];
    uint8_t nulls[GROUP_KEYS_MAX][AGGREGATE_BLOCK];
};

static void read_keys(const struct device_group_shape *shape,
                      const uint8_t *groups, unsigned count,
                      struct key_columns *columns)
{
    size_t width = sizeof(struct group_out) + shape->control.out;
    for (unsigned k = 0; k < shape->control.keys; k++) {
        const struct group_key *key = &shape->control.key[k];
        bool wide =
            key->column.type == TYPE_I64 || key->column.type == TYPE_F64;
        struct row_set_column column = { .width = wide ? 8 : 4,
                                         .values = columns->values[k],
                                         .nulls = columns->nulls[k] };
        for (unsigned i = 0; i < count; i++)
            write_key(key, (const void *)(groups + i * width), &column, i);
        columns->vectors[k] = (struct vdbq_vector){ .values = column.values,
                                                    .nulls = column.nulls };
    }
}

enum vdbq_status device_group_move(const struct device_group_shape *shape,
                                   const uint8_t *groups, uint32_t count,
                                   uint64_t rows, struct group *into,
                                   struct error *error)
{
    size_t width = sizeof(struct group_out) + shape->control.out;
    struct key_columns *columns = memory_zeroed(1, sizeof *columns);
    unsigned some = 0;
    enum vdbq_status status =
        columns != NULL ? VDBQ_OK : error_no_memory(error);
    group_took_rows(into, rows);
    for (uint32_t at = 0; status == VDBQ_OK && at < count; at += some) {
        const uint8_t *block = groups + at * width;
        some = count - at < AGGREGATE_BLOCK ? count - at : AGGREGATE_BLOCK;
        read_keys(shape, block, some, columns);
        status = group_take_states(
            into,
            &(struct group_states){ .keys = columns->vectors,
                                    .records = block + sizeof(struct group_out),
                                    .width = width,
                                    .count = some,
                                    .aggregates = shape->aggregates },
            error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    memory_release(columns);
    return status;
}
