/* SPDX-License-Identifier: MIT */
/*
 * Groups that the machine made: the tables of its items are merged into one, which
 * has a record for each code of the keys. Threads share out the codes.
 */
#include "exec/group/machine_group.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/aggregate/aggregate_state.h"
#include "exec/device_group/device_group_inner.h"
#include "exec/group/group_apart.h"
#include "cl/order.h"
#include "cl/tablet.h"
#include "program/steps/group_sink.h"

enum {
    TABLE_MOST = 1 << 20,   /* bytes: an item's table stays in its core's second
                              cache, or nearly */
    TABLE_SMALL = 1 << 17,  /* a larger one must be worth it:            */
    SLOT_ROWS = 8,          /* rows for each of its slots                 */
    COPIES_BYTES = 1 << 14, /* of all copies: in the first, with the rows */
    COPIES_MAX = 8,         /* more than eight win nothing                   */
    RECORDS_MIN = 512       /* more than these are merged by several threads */
};

struct machine_group {
    struct launch_tables tables; /* first */
    struct device_group_shape shape;
    const struct step_group *step;
    unsigned threads;
    unsigned kept[GROUP_SINK_AGGREGATES_MAX]; /* aggregates with states of their
                                                 own, by number ...          */
    unsigned kept_count;                      /* ... and how many these are  */
    uint8_t *merged; /* a struct group_out and a record for each slot */
};

/* Tables on their way to the merged one. */
struct taking {
    struct machine_group *group;
    u8 *const *table;
    unsigned count; /* of tables */
    unsigned threads;
    uint64_t rows[PARALLEL_THREADS_MAX]; /* that each thread found */
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

/* Merges an item's record, if it has rows; how many these are. */
static uint64_t merge_record(const struct machine_group *group, uint8_t *into,
                             uint8_t *from)
{
    struct group_record *head = (void *)into;
    const struct group_record *other = (const void *)from;
    if (other->rows == 0)
        return 0;
    if (other->before > head->before)
        head->before = other->before;
    head->rows += other->rows;
    for (unsigned i = 0; i < group->kept_count; i++) {
        const struct aggregate *aggregate =
            &group->shape.aggregates[group->kept[i]];
        if (aggregate->kind == AGGREGATE_WIDE)
            join_halves(aggregate, from);
        aggregate_merge(aggregate, into, from);
        if (aggregate->kind == AGGREGATE_NARROW)
            narrow_carry((void *)(into + aggregate->at));
    }
    return other->rows;
}

/* Merges one thread's share of the slots. */
static void take_share(void *context, unsigned share)
{
    struct taking *taking = context;
    struct machine_group *group = taking->group;
    const struct group_control *control = &group->shape.control;
    uint64_t first = control->slots * share / taking->threads;
    uint64_t end = control->slots * (share + 1) / taking->threads;
    uint64_t rows = 0;
    for (unsigned i = 0; i < taking->count * group->tables.copies; i++) {
        u8 *copy = taking->table[i / group->tables.copies]
                   + i % group->tables.copies * group->tables.copy_bytes;
        for (uint64_t slot = first; slot < end; slot++)
            rows += merge_record(group, merged_at(group, slot),
                                 copy + slot * control->out);
    }
    taking->rows[share] = rows;
}

/* Merges tables: on several threads, for other cores have written them. */
static void take(struct launch_tables *tables, u8 *const *table, unsigned count)
{
    struct machine_group *group = (struct machine_group *)tables;
    uint64_t slots = group->shape.control.slots;
    struct taking taking = { .group = group, .table = table, .count = count };
    taking.threads = slots * count * tables->copies <= RECORDS_MIN ? 1
                     : slots < group->threads ? (unsigned)slots
                                              : group->threads;
    parallel_run(taking.threads, take_share, &taking);
    for (unsigned i = 0; i < taking.threads; i++)
        tables->rows += taking.rows[i];
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
           && 2 * tables->copies * tables->copy_bytes <= COPIES_BYTES)
        tables->copies *= 2;
    tables->bytes =
        TABLET_ALIGNED(tables->copies * tables->copy_bytes + control->out);
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
    assert(shape->control.out == group_sink_record(program, params->step));
    uint64_t slots = shape->control.slots;
    unsigned most = params->rows_expected / SLOT_ROWS < (double)slots
                        ? TABLE_SMALL
                        : TABLE_MOST;
    return !shape->control.hashed && slots <= most / shape->control.out;
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
    made->threads = params->threads < PARALLEL_THREADS_MAX
                        ? params->threads
                        : (unsigned)PARALLEL_THREADS_MAX;
    if (!fits(params, program, made)) {
        memory_release(made);
        return VDBQ_OK;
    }
    place_tables(made);
    for (unsigned i = 0; i < made->shape.control.aggregates; i++)
        if (group_sink_same(made->step, i) == i)
            made->kept[made->kept_count++] = i;
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
                                      struct group *apart,
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
    struct device_groups groups = device_groups_of(&group->shape);
    groups.bytes = group->merged;
    groups.count = count;
    if (apart != NULL)
        return group_take_device(apart, &groups, group->tables.numbers, error);
    if (count == 0)
        return row_set_room(row_set, 0, error);
    return device_groups_write(&groups, group->threads, row_set, error);
}
