/* SPDX-License-Identifier: MIT */
/*
 * Rows in the order of their key: each thread takes a stretch of them that
 * begins with a new key. What a thread's table gets of the rows of one call is a
 * segment; the segments in turn have the groups in the order of their first
 * rows.
 */
#include "exec/group/group_ordered.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"

/* Rows on their way into parts. */
struct ordering {
    struct group *group;
    const struct batches *batches;
    unsigned shares;
    uint64_t bounds[PARALLEL_THREADS_MAX + 1]; /* where each share begins */
    atomic_bool broken;                        /* a key is out of order   */
};

bool group_order_possible(const struct group *group)
{
    return group->keys == 1 && !group->distinct
           && (group->types[0] == TYPE_I32 || group->types[0] == TYPE_I64);
}

/* ------------------------------------------------------------ the proof -- */

static int64_t key_at(const struct group *group, const struct batches *batches,
                      uint64_t row)
{
    struct batches_run run = batches_run_at(batches, row, row + 1);
    const void *values = run.columns[0].values;
    return group->types[0] == TYPE_I64 ? ((const int64_t *)values)[run.start]
                                       : ((const int32_t *)values)[run.start];
}

/* Makes ascends_<name>(): whether no value is below the one before it. */
#define ASCENDS(name, type)                                                    \
    PARALLEL_CLONES                                                            \
    static bool ascends_##name(const type *values, uint64_t count)             \
    {                                                                          \
        unsigned falls = 0;                                                    \
        for (uint64_t i = 1; i < count; i++)                                   \
            falls |= values[i] < values[i - 1];                                \
        return falls == 0;                                                     \
    }

ASCENDS(i32, int32_t)
ASCENDS(i64, int64_t)

static bool has_null(const uint8_t *nulls, uint64_t count)
{
    unsigned any = 0;
    for (uint64_t i = 0; nulls != NULL && i < count; i++)
        any |= nulls[i];
    return any != 0;
}

/* Whether the keys of rows that lie in one batch are in order, and none is
 * NULL. */
static bool run_ascends(const struct group *group,
                        const struct batches_run *run)
{
    const struct vdbq_vector *keys = &run->columns[0];
    if (keys->nulls != NULL && has_null(keys->nulls + run->start, run->rows))
        return false;
    return group->types[0] == TYPE_I64
               ? ascends_i64((const int64_t *)keys->values + run->start,
                             run->rows)
               : ascends_i32((const int32_t *)keys->values + run->start,
                             run->rows);
}

/* Rows [at, end), of which the first comes behind the one before it, too. */
static bool rows_ascend(const struct ordering *ordering, uint64_t at,
                        uint64_t end)
{
    const struct group *group = ordering->group;
    const struct batches *batches = ordering->batches;
    while (at < end && !stop_asked()) {
        uint64_t most =
            end - at < GROUP_ORDER_ROWS ? end : at + GROUP_ORDER_ROWS;
        struct batches_run run = batches_run_at(batches, at, most);
        if (!run_ascends(group, &run)
            || (at > 0
                && key_at(group, batches, at) < key_at(group, batches, at - 1)))
            return false;
        at += run.rows;
    }
    return true;
}

/* One thread's share of the proof. */
static void prove_share(void *context, unsigned share)
{
    struct ordering *ordering = context;
    uint64_t rows = batches_rows(ordering->batches);
    uint64_t at = rows * share / ordering->shares;
    uint64_t end = rows * (share + 1) / ordering->shares;
    for (; at < end && !ordering->broken; at += GROUP_ORDER_ROWS) {
        uint64_t most =
            end - at < GROUP_ORDER_ROWS ? end : at + GROUP_ORDER_ROWS;
        if (!rows_ascend(ordering, at, most))
            ordering->broken = true;
    }
}

/* Whether the rows come in order behind those before; the first ones tell at
 * once of most that do not. */
static bool is_in_order(struct ordering *ordering)
{
    struct group *group = ordering->group;
    uint64_t rows = batches_rows(ordering->batches);
    if (group->rows > 0
        && key_at(group, ordering->batches, 0) < group->last_key)
        return false;
    if (!rows_ascend(ordering, 0, rows < GROUP_BLOCK ? rows : GROUP_BLOCK))
        return false;
    parallel_run(ordering->shares, prove_share, ordering);
    return !ordering->broken;
}

/* The first row behind `row`, and before `end`, that has another key than the
 * one before `row`, if keys are in order; `end`: none has. */
static uint64_t next_key(const struct ordering *ordering, uint64_t row,
                         uint64_t end)
{
    const struct group *group = ordering->group;
    int64_t key = key_at(group, ordering->batches, row - 1);
    while (row < end) {
        uint64_t middle = row + (end - row) / 2;
        if (key_at(group, ordering->batches, middle) == key)
            row = middle + 1;
        else
            end = middle;
    }
    return end;
}

/* Where shares begin: with a new key. False: a key has so many rows that one
 * thread would have much more of them than others. */
static bool deal_out(struct ordering *ordering)
{
    uint64_t rows = batches_rows(ordering->batches);
    uint64_t most = rows / ordering->shares / 2;
    for (unsigned i = 1; i < ordering->shares; i++) {
        uint64_t first = rows * i / ordering->shares;
        ordering->bounds[i] = next_key(ordering, first, first + most);
        if (ordering->bounds[i] == first + most)
            return false;
    }
    ordering->bounds[ordering->shares] = rows;
    return true;
}

/* ----------------------------------------------------------- taking in ---- */

/* The part that takes a share: the first one goes on with the last key. */
static unsigned part_of(const struct ordering *ordering, unsigned share)
{
    const struct group *group = ordering->group;
    return (group->last_part + share) % group->part_count;
}

static void add_share(void *context, unsigned share)
{
    struct ordering *ordering = context;
    struct group_part *part = &ordering->group->parts[part_of(ordering, share)];
    part->status = VDBQ_OK;
    group_add_range(ordering->group, ordering->batches, part,
                    ordering->bounds[share], ordering->bounds[share + 1]);
}

/* Notes which groups are new, in the order of their rows. */
static enum vdbq_status note_segments(struct ordering *ordering,
                                      struct error *error)
{
    struct group *group = ordering->group;
    for (unsigned i = 0; i < ordering->shares; i++) {
        struct group_part *part = &group->parts[part_of(ordering, i)];
        struct group_segment made = { .part = part,
                                      .first = part->segmented,
                                      .before = group->segmented };
        if (part->status != VDBQ_OK) {
            *error = part->error;
            return error->status;
        }
        if (part->groups.table.count <= part->segmented)
            continue; /* nothing new, or a run took all */
        group->segmented += part->groups.table.count - part->segmented;
        part->segmented = part->groups.table.count;
        if (!vector_append(&group->segments, &made, 1))
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

/* From now on rows are looked up. */
static void end_order(struct group *group)
{
    group->ordered = false;
    for (unsigned i = 0; i < group->part_count; i++)
        group->parts[i].groups.table.in_order = false;
}

/* Parts for all threads, whose tables take rows in order. */
static enum vdbq_status make_parts(struct group *group, unsigned count,
                                   struct error *error)
{
    unsigned made = group->rows > 0 ? group->part_count : 0;
    enum vdbq_status status = group_make_parts(group, count, error);
    for (; status == VDBQ_OK && made < group->part_count; made++)
        group_table_in_order(&group->parts[made].groups.table);
    return status;
}

enum vdbq_status group_add_ordered(struct group *group,
                                   const struct batches *batches, bool *done,
                                   struct error *error)
{
    uint64_t rows = batches_rows(batches);
    struct ordering ordering = { .group = group,
                                 .batches = batches,
                                 .shares = parallel_threads(
                                     group->params.threads, rows) };
    *done = deal_out(&ordering) && is_in_order(&ordering);
    if (!*done) {
        end_order(group);
        return stop_pause(error);
    }
    enum vdbq_status status = make_parts(group, ordering.shares, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(ordering.shares, add_share, &ordering);
    status = note_segments(&ordering, error);
    group->last_key = key_at(group, batches, rows - 1);
    group->last_part = part_of(&ordering, ordering.shares - 1);
    return status;
}

/* ------------------------------------------------------------ the groups -- */

bool group_is_ordered(const struct group *group)
{
    for (unsigned i = 0; i < group->part_count; i++)
        if (group->parts[i].groups.runs.count > 0)
            return false;
    return group->ordered;
}

/* The segment that has a group. */
static const struct group_segment *segment_of(const struct group *group,
                                              uint64_t number)
{
    const struct group_segment *segments =
        VECTOR_ITEMS(&group->segments, struct group_segment);
    size_t low = 0, high = group->segments.count;
    assert(number < group->segmented);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (segments[middle].before <= number)
            low = middle;
        else
            high = middle;
    }
    return &segments[low];
}

void group_list_ordered(const struct group *group, uint64_t first,
                        unsigned count, const uint8_t **records)
{
    for (unsigned i = 0; i < count; i++) {
        const struct group_segment *segment = segment_of(group, first + i);
        records[i] = group_record(
            &segment->part->groups.table,
            segment->first + (uint32_t)(first + i - segment->before));
    }
}
