/* SPDX-License-Identifier: MIT */
/*
 * Groups apart: see group_apart.h.
 */
#include "exec/group/group_apart.h"

#include <assert.h>
#include <string.h>

#include "base/threads/stop.h"
#include "cl/order.h"
#include "exec/aggregate/aggregate_state.h"
#include "exec/group/group_partitions.h"

size_t group_record_bytes(const struct group *group)
{
    return group->parts[0].groups.table.width;
}

uint64_t group_row_count(const struct group *group)
{
    return group->rows;
}

void group_took_rows(struct group *group, uint64_t rows)
{
    group->rows += rows;
}

/* --------------------------------------------------------------- give -- */

/* Gives what a table has. */
static enum vdbq_status give_table(const struct group_table *table,
                                   struct group_taker *taker,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    uint32_t count = 0;
    for (uint32_t at = 0; status == VDBQ_OK && at < table->count; at += count) {
        uint32_t left = table->count - at;
        count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        status = taker->take(taker, group_record(table, at), count, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

/* Gives some of what a run has. */
static enum vdbq_status give_records(void *taker, const uint8_t *records,
                                     uint32_t count, struct error *error)
{
    return ((struct group_taker *)taker)->take(taker, records, count, error);
}

enum vdbq_status group_give(struct group *group, struct group_taker *taker,
                            struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    assert(!group->distinct && !group->ordered);
    if (group_has_runs(group))
        status = group_end_runs(group, error);
    if (status == VDBQ_OK && !group_is_spilled(group))
        status = group_merge(group, error);
    for (unsigned i = 0; status == VDBQ_OK && i < group->part_count; i++) {
        const struct group_store *store = &group->parts[i].groups;
        for (size_t k = 0; status == VDBQ_OK && k < store->runs.count; k++)
            status = group_run_each(group, vector_at(&store->runs, k),
                                    group_record_bytes(group), give_records,
                                    taker, error);
        if (status == VDBQ_OK)
            status = give_table(&store->table, taker, error);
    }
    return status;
}

/* --------------------------------------------------------------- take -- */

/* Puts the numbers of a record's rows behind `first` others, and sees to it that
 * its sums have room. */
static void move_record(const struct group *group, uint8_t *extra,
                        uint64_t first)
{
    struct group_head *head = (void *)extra;
    head->first += first;
    for (unsigned i = 0; i < group->aggregate_count; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        struct earliest_state *earliest = (void *)(extra + aggregate->at);
        if (aggregate->kind == AGGREGATE_EARLIEST && earliest->before > 0)
            earliest->before -= first;
        aggregate_carry(aggregate, extra);
    }
}

/* Finds or makes the groups of records. */
static enum vdbq_status find_groups(struct group *group, const uint8_t *records,
                                    unsigned count, uint32_t *numbers,
                                    struct error *error)
{
    struct group_store *store = &group->parts[0].groups;
    memset(numbers, 0, count * sizeof *numbers);
    if (group->keys == 0)
        return VDBQ_OK;
    enum vdbq_status status = group_store_room(group, store, count, error);
    return status == VDBQ_OK ? group_table_join(&store->table, records, count,
                                                0, numbers, error)
                             : status;
}

enum vdbq_status group_take(struct group *group, uint8_t *records,
                            uint32_t count, uint64_t first, struct error *error)
{
    struct group_table *table = &group->parts[0].groups.table;
    uint32_t numbers[GROUP_BLOCK];
    assert(count <= GROUP_BLOCK);
    for (uint32_t i = 0; i < count; i++)
        move_record(group, records + i * table->width + 8 * table->words,
                    first);
    enum vdbq_status status =
        find_groups(group, records, count, numbers, error);
    if (status != VDBQ_OK)
        return status;
    group_merge_records(group, table, records, count, numbers);
    for (uint32_t i = 0; i < count; i++)
        for (unsigned k = 0; k < group->aggregate_count; k++)
            aggregate_carry(&group->aggregates[k],
                            group_extra(table, numbers[i]));
    return VDBQ_OK;
}

/* -------------------------------------------------------------- device -- */

/* Copies what an aggregate keeps. */
static void copy_state(const struct aggregate *from, const uint8_t *record,
                       const struct aggregate *to, uint8_t *extra)
{
    size_t counted = to->skips ? sizeof(uint64_t) : 0;
    if (to->shared)
        return;
    assert(from->kind == to->kind);
    memcpy(extra + to->at, record + from->at, aggregate_bytes(to) - counted);
    if (to->skips && from->skips)
        memcpy(extra + to->skipped, record + from->skipped, sizeof(uint64_t));
}

/* Takes a block of groups that it does not have, with these keys. */
static enum vdbq_status take_states(struct group *group,
                                    const struct device_groups *block,
                                    const struct vdbq_vector *keys,
                                    struct error *error)
{
    struct group_store *store = &group->parts[0].groups;
    uint32_t numbers[GROUP_BLOCK] = { 0 };
    enum vdbq_status status = VDBQ_OK;
    if (group->keys > 0)
        status = group_store_room(group, store, block->count, error);
    if (status == VDBQ_OK && group->keys > 0)
        status = group_table_find(&store->table, keys, 0, block->count, 0,
                                  numbers, error);
    for (unsigned i = 0; status == VDBQ_OK && i < block->count; i++) {
        const uint8_t *record =
            block->bytes + i * block->width + block->record_at;
        const uint64_t *from = (const void *)record;
        uint8_t *extra = group_extra(&store->table, numbers[i]);
        struct group_head *head = (void *)extra;
        head->first = ~from[0];
        head->rows = from[1];
        for (unsigned k = 0; k < group->aggregate_count; k++)
            copy_state(&block->aggregates[k], record, &group->aggregates[k],
                       extra);
    }
    return status;
}

/* Keys of a block of groups, as columns. */
struct key_columns {
    struct vdbq_vector vectors[DEVICE_GROUP_KEYS_MAX];
    uint64_t values[DEVICE_GROUP_KEYS_MAX][AGGREGATE_BLOCK];
    uint8_t nulls[DEVICE_GROUP_KEYS_MAX][AGGREGATE_BLOCK];
};

static void read_keys(const struct device_groups *block,
                      struct key_columns *columns)
{
    for (unsigned k = 0; k < block->keys; k++) {
        struct row_set_column column = { .values = columns->values[k],
                                         .nulls = columns->nulls[k] };
        device_groups_key(block, k, &column);
        columns->vectors[k] = (struct vdbq_vector){ .values = column.values,
                                                    .nulls = column.nulls };
    }
}

enum vdbq_status group_take_device(struct group *group,
                                   const struct device_groups *groups,
                                   uint64_t rows, struct error *error)
{
    struct key_columns *columns = memory_zeroed(1, sizeof *columns);
    struct device_groups block = *groups;
    enum vdbq_status status =
        columns != NULL ? VDBQ_OK : error_no_memory(error);
    group_took_rows(group, rows);
    for (uint32_t at = 0; status == VDBQ_OK && at < groups->count;
         at += block.count) {
        uint32_t left = groups->count - at;
        block.bytes = groups->bytes + at * groups->width;
        block.count = left < AGGREGATE_BLOCK ? left : AGGREGATE_BLOCK;
        read_keys(&block, columns);
        status = take_states(group, &block, columns->vectors, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    memory_release(columns);
    return status;
}

/* -------------------------------------------------------------- texts -- */

/* The key of a record; NULL: it is NULL. */
static uint32_t *key_of(const struct group_table *table, uint8_t *record,
                        unsigned key)
{
    uint32_t *units = (void *)record;
    bool null = units[table->nulls + key / 32] >> (key % 32) & 1;
    return null ? NULL : &units[table->keys[key].unit];
}

/* A value that an aggregate keeps. */
static void renumber_state(const struct aggregate *aggregate, uint8_t *extra,
                           unsigned column, const struct group_texts *texts)
{
    struct best_state *best = (void *)(extra + aggregate->at);
    struct earliest_state *earliest = (void *)(extra + aggregate->at);
    uint64_t flip = aggregate_turn(aggregate->step.function);
    if (aggregate->kind == AGGREGATE_BEST && best->best > 0)
        best->best = order_code(texts->number(
                         texts->context, column,
                         (uint32_t)order_of_code(best->best ^ flip)))
                     ^ flip;
    if (aggregate->kind == AGGREGATE_EARLIEST && !earliest->null)
        earliest->value =
            texts->number(texts->context, column, (uint32_t)earliest->value);
}

void group_renumber(const struct group *group, uint8_t *records, uint32_t count,
                    unsigned column, const struct group_texts *texts)
{
    const struct group_table *table = &group->parts[0].groups.table;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *record = records + i * table->width;
        uint32_t *key =
            column < group->keys ? key_of(table, record, column) : NULL;
        if (column >= group->keys)
            renumber_state(&group->aggregates[column - group->keys],
                           record + 8 * table->words, column, texts);
        else if (key != NULL)
            *key = texts->number(texts->context, column, *key);
    }
}
