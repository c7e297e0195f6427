/* SPDX-License-Identifier: MIT */
/*
 * Pairs of DISTINCT aggregates, given to these by all threads: group_pairs.h.
 *
 * Pairs go by the hash of both the group's keys and the value, so that a group with
 * most of the rows is in all partitions. A thread drops what a partition has twice,
 * and takes the values into states of its own. At the end these are merged into
 * those of the groups, by ranges of groups, so that no two threads meet at one.
 */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/group/group_pairs.h"

/* What threads share. */
struct all {
    const struct group_taking *params;
    unsigned which;   /* the aggregate that takes its pairs     */
    atomic_uint next; /* partition that no thread has taken yet */
    /* one a thread; NULL: there was no memory for it */
    struct taking *takings[PARALLEL_THREADS_MAX];
};

/* What a thread has while it merges pairs. */
struct taking {
    struct all *all;
    struct aggregate aggregate; /* of the pairs, whose states are at 0      */
    struct group_store pairs;   /* of a partition                           */
    struct group_table states;  /* of groups, by their numbers among all    */
    uint32_t *order; /* the states, by ranges of groups                     */
    uint32_t ends[PARALLEL_THREADS_MAX]; /* place behind those of each      */
    uint64_t added; /* to states since they had room for GROUP_ADDED_MAX     */
    struct group_pairs block;
    struct aggregate_room room;
    enum vdbq_status status; /* of the thread's work */
    struct error error;
};

/* Adds pairs of a part to those of the partition. */
static enum vdbq_status add_pairs(struct taking *taking, unsigned part,
                                  const uint8_t *records, unsigned count)
{
    const struct group *group = taking->all->params->group;
    const uint32_t *map = taking->all->params->maps[part];
    struct group_table *table = &taking->pairs.table;
    struct group_pairs *block = &taking->block;
    const struct vdbq_vector columns[2] = {
        { VDBQ_INTEGER, block->groups, NULL },
        { VDBQ_TYPE_NONE, block->values, NULL }
    };
    group_read_pairs(table, records, count, block);
    for (unsigned i = 0; group->keys > 0 && i < count; i++)
        block->groups[i] = map[block->groups[i]];
    return group_table_find(table, columns + (table->key_count == 1), 0, count,
                            0, block->numbers, &taking->error);
}

/* Sees to it that the states have room for so many values. */
static void make_room_for(struct taking *taking, unsigned count)
{
    taking->added += count;
    if (taking->added <= GROUP_ADDED_MAX)
        return;
    for (uint32_t i = 0; i < taking->states.count; i++)
        aggregate_carry(&taking->aggregate, group_extra(&taking->states, i));
    taking->added = count;
}

/* Takes the values of pairs that lie one behind the other into the states. */
static enum vdbq_status take_pairs(struct taking *taking,
                                   const uint8_t *records, unsigned count)
{
    struct group_pairs *block = &taking->block;
    const struct vdbq_vector groups = { VDBQ_INTEGER, block->groups, NULL };
    const struct vdbq_vector values = { VDBQ_TYPE_NONE, block->values, NULL };
    const struct aggregate_rows rows = { .argument = &values, .count = count };
    uint8_t *states[GROUP_BLOCK];
    group_read_pairs(&taking->pairs.table, records, count, block);
    enum vdbq_status status = group_table_find(
        &taking->states, &groups, 0, count, 0, block->numbers, &taking->error);
    if (status != VDBQ_OK)
        return status;
    group_records(&taking->states, block->numbers, count, states);
    for (unsigned i = 0; i < count; i++)
        aggregate_skip(&taking->aggregate, states[i], UINT64_MAX);
    taking->room.made = false;
    make_room_for(taking, count);
    aggregate_add(&taking->aggregate, &rows, &taking->room, states);
    return VDBQ_OK;
}

/* Merges what a run has of a partition. */
static enum vdbq_status merge_run(struct taking *taking, unsigned part,
                                  const struct group_run *run, unsigned p)
{
    size_t width = taking->pairs.table.width;
    uint32_t first, left = group_run_records(run, p, &first), count;
    enum vdbq_status status = VDBQ_OK;
    for (; left > 0 && status == VDBQ_OK; left -= count, first += count) {
        count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        status = add_pairs(taking, part, run->records + first * width, count);
    }
    return status;
}

/* Merges a partition of the pairs and takes its values. */
static enum vdbq_status merge_pairs(struct taking *taking, unsigned p)
{
    const struct group *group = taking->all->params->group;
    struct group_table *table = &taking->pairs.table;
    enum vdbq_status status = stop_pause(&taking->error);
    group_table_clear(table, false);
    for (unsigned i = 0; i < group->part_count; i++) {
        const struct vector *runs =
            &group->parts[i].distinct[taking->all->which].runs;
        for (size_t k = 0; k < runs->count && status == VDBQ_OK; k++)
            status = merge_run(taking, i, vector_at(runs, k), p);
    }
    for (uint32_t at = 0; at < table->count && status == VDBQ_OK;
         at += GROUP_BLOCK) {
        uint32_t left = table->count - at;
        status = take_pairs(taking, group_record(table, at),
                            left < GROUP_BLOCK ? left : GROUP_BLOCK);
    }
    return status;
}

/* The group of a state. */
static uint32_t group_of(const struct taking *taking, uint32_t state)
{
    assert(state < taking->states.count);
    return (uint32_t) * (const uint64_t *)group_record(&taking->states, state);
}

/* The range of a group; there is one a thread. */
static unsigned range_of(const struct all *all, uint32_t group)
{
    uint64_t groups = all->params->groups;
    assert(group < groups);
    return (unsigned)(group * (uint64_t)all->params->group->params.threads
                      / groups);
}

/* Puts states in the order of the ranges; false: no memory. */
static bool order_states(struct taking *taking)
{
    uint32_t count = taking->states.count, places[PARALLEL_THREADS_MAX] = { 0 };
    taking->order =
        memory_resize(NULL, (count + (size_t)1) * sizeof *taking->order);
    if (taking->order == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        taking->ends[range_of(taking->all, group_of(taking, i))]++;
    for (unsigned i = 1; i < PARALLEL_THREADS_MAX; i++) {
        places[i] = taking->ends[i - 1];
        taking->ends[i] += taking->ends[i - 1];
    }
    for (uint32_t i = 0; i < count; i++)
        taking->order[places[range_of(taking->all, group_of(taking, i))]++] = i;
    return true;
}

/* Merges the states that a thread has of a range into those of the groups. */
static void merge_states(const struct taking *taking, unsigned range)
{
    const struct all *all = taking->all;
    const struct group_table *groups =
        &all->params->group->parts[0].groups.table;
    size_t at = all->params->group->aggregates[all->which].skipped;
    uint8_t *states = all->params->records + 8 * groups->words + at;
    uint32_t i = range > 0 ? taking->ends[range - 1] : 0;
    for (; i < taking->ends[range] && !stop_at(i); i++) {
        uint32_t state = taking->order[i];
        aggregate_merge(&taking->aggregate,
                        states + group_of(taking, state) * groups->width,
                        group_extra(&taking->states, state));
    }
}

/* One thread's range. */
static void merge_range(void *context, unsigned range)
{
    const struct all *all = context;
    for (unsigned i = 0; i < all->params->group->params.threads; i++)
        merge_states(all->takings[i], range);
}

/* Makes a thread's tables. */
static enum vdbq_status begin_taking(struct taking *taking)
{
    struct all *all = taking->all;
    const int type = TYPE_I32;
    enum vdbq_status status = group_pairs_init(
        all->params->group, &taking->pairs, all->which, NULL, &taking->error);
    taking->aggregate = all->params->group->aggregates[all->which];
    taking->aggregate.at -= taking->aggregate.skipped;
    taking->aggregate.skipped = 0;
    return status == VDBQ_OK
               ? group_table_init(&taking->states, &type, 1,
                                  aggregate_bytes(&taking->aggregate),
                                  &taking->error)
               : status;
}

/* Partitions, as long as there are any. */
static enum vdbq_status take_partitions(struct taking *taking)
{
    struct all *all = taking->all;
    enum vdbq_status status = begin_taking(taking);
    unsigned p = 0;
    while (status == VDBQ_OK
           && (p = atomic_fetch_add(&all->next, 1)) < GROUP_PARTITIONS)
        status = merge_pairs(taking, p);
    if (status == VDBQ_OK && !order_states(taking))
        status = error_no_memory(&taking->error);
    return status == VDBQ_OK ? stop_pause(&taking->error) : status;
}

/* One thread's share. */
static void take_share(void *context, unsigned share)
{
    struct all *all = context;
    struct taking *taking = memory_zeroed(1, sizeof *taking);
    all->takings[share] = taking;
    if (taking == NULL)
        return;
    taking->all = all;
    taking->status = take_partitions(taking);
    group_store_finish(all->params->group, &taking->pairs);
}

/* The first failure of a thread. */
static enum vdbq_status end_takings(const struct all *all, struct error *error)
{
    for (unsigned i = 0; i < all->params->group->params.threads; i++) {
        const struct taking *taking = all->takings[i];
        if (taking == NULL)
            return error_no_memory(error);
        if (taking->status != VDBQ_OK) {
            *error = taking->error;
            return error->status;
        }
    }
    return VDBQ_OK;
}

/* Lets go of what the threads took. */
static void drop_takings(struct all *all)
{
    for (unsigned i = 0; i < PARALLEL_THREADS_MAX; i++) {
        if (all->takings[i] == NULL)
            continue;
        group_table_finish(&all->takings[i]->states);
        memory_release(all->takings[i]->order);
        memory_release(all->takings[i]);
    }
}

/* Gives its pairs to one aggregate. */
static enum vdbq_status take_all(struct all *all, struct error *error)
{
    unsigned threads = all->params->group->params.threads;
    parallel_run(threads, take_share, all);
    enum vdbq_status status = end_takings(all, error);
    if (status == VDBQ_OK)
        parallel_run(threads, merge_range, all);
    drop_takings(all);
    return status == VDBQ_OK ? stop_pause(error) : status;
}

enum vdbq_status group_take_pairs(const struct group_taking *taking,
                                  struct error *error)
{
    const struct group *group = taking->group;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < group->aggregate_count && status == VDBQ_OK; i++) {
        struct all all = { .params = taking, .which = i };
        if (aggregate_is_distinct(&group->aggregates[i]))
            status = take_all(&all, error);
    }
    return status;
}
