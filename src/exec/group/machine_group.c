/* SPDX-License-Identifier: MIT */
/*
 * Groups that the machine made: tables of its items are merged into one, which
 * has a record for each code of the keys.
 */
#include "exec/group/machine_group.h"

#include <assert.h>
#include <string.h>

#include "exec/group/aggregate_state.h"
#include "exec/group/device_group_inner.h"
#include "cl/order.h"
#include "program/steps/group_sink.h"

enum {
    TABLE_BYTES =
        1 << 14,   /* of all copies: they share a core's first cache with
                              the rows, and one thread merges them          */
    COPIES_MAX = 8 /* more than eight win nothing                   */
};

struct machine_group {
    struct launch_tables tables; /* first */
    struct device_group_shape shape;
    const struct step_group *step;
    unsigned threads;
    uint64_t numbers; /* of rows that came so far */
    uint8_t *merged;  /* a struct group_out and a record for each slot */
};

static size_t merged_width(const struct machine_group *group)
{
    return sizeof(struct group_out) + group->shape.control.out;
}

/* The merged record of a slot. */
static uint8_t *merged_at(const struct machine_group *group, uint64_t slot)
{
    return group->merged + slot * merged_width(group)
           + sizeof(struct group_out);
}

/* Adds up the halves of a sum, which the machine keeps apart. */
static void join_halves(const struct aggregate *aggregate, uint8_t *record)
{
    struct wide_state *state = (void *)(record + aggregate->at);
    struct wide_state sum = { .low = state->low };
    i128 high = (i128)state->high * 4294967296;
    wide_merge(&sum, (uint64_t)high, (int64_t)(high >> 64));
    *state = sum;
}

/* Merges a record of an item. */
static void merge_record(struct machine_group *group, uint8_t *into,
                         const uint8_t *from)
{
    struct group_record *head = (void *)into;
    const struct group_record *other = (const void *)from;
    uint64_t before = ~(group->numbers + ~other->before);
    uint8_t record[sizeof *head + GROUP_SINK_AGGREGATES_MAX * 3 * sizeof(u64)];
    memcpy(record, from, group->shape.control.out);
    if (before > head->before)
        head->before = before;
    head->rows += other->rows;
    group->tables.rows += other->rows;
    for (unsigned i = 0; i < group->shape.control.aggregates; i++) {
        const struct aggregate *aggregate = &group->shape.aggregates[i];
        if (group_sink_same(group->step, i) < i)
            continue;
        if (aggregate->kind == AGGREGATE_WIDE)
            join_halves(aggregate, record);
        aggregate_merge(aggregate, into, record);
        if (aggregate->kind == AGGREGATE_NARROW)
            narrow_carry((void *)(into + aggregate->at));
    }
}

/* Merges the tables of a launch. */
static void take(struct launch_tables *tables, const u8 *items, unsigned count,
                 uint64_t numbers)
{
    struct machine_group *group = (struct machine_group *)tables;
    const struct group_control *control = &group->shape.control;
    uint64_t slots = control->slots * tables->copies;
    for (unsigned item = 0; item < count; item++)
        for (uint64_t slot = 0; slot < slots; slot++) {
            const u8 *record =
                items + (size_t)item * tables->bytes + slot * control->out;
            if (((const struct group_record *)(const void *)record)->rows > 0)
                merge_record(group, merged_at(group, slot % control->slots),
                             record);
        }
    group->numbers += numbers;
}

/* Says how an item's table lies, with as many copies as there is room for. */
static void place_tables(struct machine_group *group)
{
    const struct group_control *control = &group->shape.control;
    struct launch_tables *tables = &group->tables;
    tables->take = take;
    tables->copy_bytes = (u32)(control->slots * control->out);
    tables->copies = 1;
    while (control->keys > 0 && tables->copies < COPIES_MAX
           && 2 * tables->copies * tables->copy_bytes <= TABLE_BYTES)
        tables->copies *= 2;
    tables->bytes = tables->copies * tables->copy_bytes + control->out;
    for (unsigned i = 0; i < control->keys; i++)
        tables->keys[i] = (struct launch_key){
            .base = order_of_code(control->key[i].base),
            .size = (u32)control->key[i].size,
            .stride = (u32)(control->key[i].stride * control->out)
        };
}

/* Whether the keys have few codes; where the program puts what. */
static bool fits(const struct device_group_params *params,
                 const struct program *program, struct machine_group *group)
{
    struct device_group_shape *shape = &group->shape;
    if (!group_sink_fits(program, params->step)
        || !device_group_shape(params, shape))
        return false;
    assert(shape->control.out == group_sink_record(params->step));
    return !shape->control.hashed
           && shape->control.slots <= TABLE_BYTES / shape->control.out;
}

enum vdbq_status machine_group_create(const struct device_group_params *params,
                                      const struct program *program,
                                      struct machine_group **group,
                                      struct error *error)
{
    struct machine_group *made = memory_zeroed(1, sizeof *made);
    *group = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->step = params->step;
    made->threads = params->threads;
    if (!fits(params, program, made)) {
        memory_release(made);
        return VDBQ_OK;
    }
    place_tables(made);
    made->merged = memory_zeroed(made->shape.control.slots, merged_width(made));
    if (made->merged == NULL) {
        memory_release(made);
        return error_no_memory(error);
    }
    *group = made;
    return VDBQ_OK;
}

void machine_group_destroy(struct machine_group *group)
{
    if (group != NULL)
        memory_release(group->merged);
    memory_release(group);
}

struct launch_tables *machine_group_tables(struct machine_group *group)
{
    return &group->tables;
}

/* Gives aggregates that share a state their own. */
static void spread_states(const struct machine_group *group, uint8_t *record)
{
    for (unsigned i = 0; i < group->shape.control.aggregates; i++) {
        size_t first = group_sink_same(group->step, i);
        const struct aggregate *aggregate = &group->shape.aggregates[i];
        if (first < i)
            memcpy(record + aggregate->skipped,
                   record + group->shape.aggregates[first].skipped,
                   aggregate_bytes(aggregate));
    }
}

enum vdbq_status machine_group_finish(struct machine_group *group,
                                      struct row_set *row_set,
                                      struct error *error)
{
    const struct group_control *control = &group->shape.control;
    size_t width = merged_width(group);
    uint32_t count = 0;
    for (uint64_t slot = 0; slot < control->slots; slot++) {
        const struct group_record *head = (void *)merged_at(group, slot);
        uint8_t *to = group->merged + count * width;
        if (head->rows == 0 && control->keys > 0)
            continue;
        memmove(to, group->merged + slot * width, width);
        ((struct group_out *)(void *)to)->code = slot;
        spread_states(group, to + sizeof(struct group_out));
        count++;
    }
    if (count == 0)
        return row_set_room(row_set, 0, error);
    return device_group_write(&group->shape, group->merged, count, false,
                              group->threads, row_set, error);
}
