/* SPDX-License-Identifier: MIT */
/*
 * Records of groups and of pairs, some at a time: what all who merge them need.
 */
#include <assert.h>

#include "cl/types.h"
#include "exec/aggregate/aggregate_state.h"
#include "exec/group/group_pairs.h"

enum { FAR_BYTES = 1 << 18 }; /* more records than this are far away */

/* -------------------------------------------------------------- groups -- */

void group_records(const struct group_table *table, const uint32_t *numbers,
                   unsigned count, uint8_t **records)
{
    size_t extra = table->width - 8 * table->words;
    bool far = table->count * table->width > FAR_BYTES;

    for (unsigned i = 0; i < count; i++)
        records[i] = group_extra(table, numbers[i]);
    for (unsigned i = 0; far && i < count; i++)
        __builtin_prefetch(records[i] + extra - 1, 1);
}

void group_carry(const struct group *group, const struct group_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        for (unsigned k = 0; k < group->aggregate_count; k++)
            aggregate_carry(&group->aggregates[k], group_extra(table, i));
}

/* What the least number of a record's rows is kept as: the less, the greater. */
static uint64_t least_number(const struct group *group, const uint8_t *record)
{
    const struct aggregate *least =
        &group->aggregates[group->aggregate_count - 1];
    assert(least->kind == AGGREGATE_BEST
           && least->step.function == AGGREGATE_MIN);
    return ((const struct best_state *)(const void *)(record + least->at))
        ->best;
}

/* Whether the first row of a record comes before that of another one, if that has
 * some. */
static bool is_earlier(const struct group *group, const uint8_t *record,
                       const uint8_t *than)
{
    const struct group_head *head = (const void *)record;
    const struct group_head *other = (const void *)than;
    if (other->rows == 0)
        return true;
    if (group->params.step->numbered
        && least_number(group, record) != least_number(group, than))
        return least_number(group, record) > least_number(group, than);
    return head->first < other->first;
}

/* Merges what an aggregate keeps; `earlier`: the record's first row is. */
static void merge_state(const struct group *group, unsigned which,
                        uint8_t *into, const uint8_t *from, bool earlier)
{
    const struct aggregate *aggregate = &group->aggregates[which];
    if (group->params.step->numbered && aggregate->kind == AGGREGATE_EARLIEST) {
        if (!earlier)
            return;
        ((struct earliest_state *)(void *)(into + aggregate->at))->before = 0;
    }
    if (!aggregate->shared)
        aggregate_merge(aggregate, into, from);
}

void group_merge_records(const struct group *group, struct group_table *table,
                         const uint8_t *records, unsigned count,
                         const uint32_t *numbers)
{
    for (unsigned i = 0; i < count; i++) {
        uint8_t *into = group_extra(table, numbers[i]);
        const uint8_t *from = records + i * table->width + 8 * table->words;
        struct group_head *head = (void *)into;
        const struct group_head *other = (const void *)from;
        bool earlier = is_earlier(group, from, into);
        if (earlier)
            head->first = other->first;
        head->rows += other->rows;
        for (unsigned k = 0; k < group->aggregate_count; k++)
            merge_state(group, k, into, from, earlier);
    }
}

void group_skip_rows(const struct group *group, unsigned which,
                     const struct group_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        uint8_t *record = group_extra(table, i);
        aggregate_skip(&group->aggregates[which], record,
                       ((struct group_head *)(void *)record)->rows);
    }
}

/* --------------------------------------------------------------- pairs -- */

enum vdbq_status group_pairs_init(struct group *group,
                                  struct group_store *store, unsigned which,
                                  const struct group_table *of,
                                  struct error *error)
{
    const int types[] = { TYPE_I32, group->aggregates[which].type };
    bool grouped = group->keys > 0;
    enum vdbq_status status =
        group_store_init(group, store, types + !grouped, 1 + grouped, 0, error);
    store->of = grouped ? of : NULL;
    return status;
}

void group_read_pairs(const struct group_table *table, const uint8_t *first,
                      unsigned count, struct group_pairs *pairs)
{
    const uint8_t *records[GROUP_BLOCK];
    for (unsigned i = 0; i < count; i++) {
        records[i] = first + i * table->width;
        pairs->groups[i] = 0;
    }
    if (table->key_count == 2)
        group_table_key(table, 0, records, count, pairs->groups, pairs->nulls);
    group_table_key(table, table->key_count - 1, records, count, pairs->values,
                    pairs->nulls);
}
