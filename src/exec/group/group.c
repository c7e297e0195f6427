/* SPDX-License-Identifier: MIT */
/*
 * Grouping: see group.h. Rows are shared out among threads, each with a
 * table of groups of its own; a block of rows is looked up in it, then each
 * aggregate takes the block's values into the groups' records.
 */
#include "exec/group/group_scatter.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "cl/sum.h"
#include "exec/group/group_ordered.h"
#include "exec/sort/sort.h"

enum {
    SAMPLE_ROWS = 1 << 14, /* that one thread looks at first            */
    MORSEL_ROWS = 1 << 13, /* that a thread takes at a time             */
    MANY_ROWS = 1 << 17,   /* so many tell better how many groups come  */
    FEW_PART = 64          /* of the rows: so many groups are few       */
};

struct adding {
    struct group *group;           /* grows */
    const struct batches *batches; /* the rows */
    uint64_t end;                  /* row behind those that are added */
    atomic_uint_fast64_t next;     /* row that no thread has taken yet */
};

static enum vdbq_status init_part(struct group *group, struct group_part *part,
                                  struct error *error);
static void add_share(void *context, unsigned share);

/* ------------------------------------------------- making, taking in ---- */

/* What an aggregate takes in. */
static struct aggregate_argument
argument_of(const struct group_params *params,
            const struct step_aggregate *aggregate)
{
    int column = aggregate->column;
    if (column < 0)
        return (struct aggregate_argument){ .type = TYPE_NONE };
    return (struct aggregate_argument){
        .type = sort_type(params->columns[column].type),
        .scale = params->columns[column].scale,
        .nullable = params->nullable == NULL || params->nullable[column],
    };
}

/* Makes an aggregate; where one before it adds the same, they share its state. */
static void make_aggregate(struct group *group, unsigned number)
{
    const struct step_aggregate *step =
        vector_at(&group->params.step->aggregates, number);
    struct aggregate *made = &group->aggregates[number];

    *made =
        aggregate_make(step, argument_of(&group->params, step), group->bytes);
    for (unsigned i = 0; i < number && !made->shared; i++)
        if (aggregate_adds_same(&group->aggregates[i], made))
            aggregate_share(made, &group->aggregates[i]);
    group->bytes += aggregate_bytes(made);
    group->distinct |= aggregate_is_distinct(made);
}

/* Lays out the record: keys, then head, then the aggregates' states. */
static enum vdbq_status init_group(struct group *group, struct error *error)
{
    const struct step_group *step = group->params.step;
    const struct step_column *columns = group->params.columns;

    group->keys = step->keys;
    group->aggregate_count = (unsigned)step->aggregates.count;
    group->aggregates = arena_alloc(
        &group->arena, (group->aggregate_count + 1) * sizeof(struct aggregate));
    group->types = arena_alloc(&group->arena, (step->keys + 1) * sizeof(int));
    group->parts = arena_alloc(&group->arena, group->params.threads
                                                  * sizeof(struct group_part));
    if (!group->aggregates || !group->types || !group->parts)
        return error_no_memory(error);
    for (unsigned i = 0; i < step->keys; i++)
        group->types[i] = sort_type(columns[i].type);
    group->bytes = sizeof(struct group_head);
    for (unsigned i = 0; i < group->aggregate_count; i++)
        make_aggregate(group, i);
    group->memory =
        group->params.memory != NULL ? group->params.memory : &group->none;
    if (group->params.results != NULL)
        group->row_bytes = spill_row_bytes(
            group->params.results, group->keys + group->aggregate_count, NULL);
    spill_file_init(&group->file, group->params.files, group->memory);
    group->ordered = !group->params.apart && group_order_possible(group);
    group->segments = VECTOR(struct group_segment);
    group->runs = group->params.threads >= GROUP_RUNS_THREADS && group->keys > 0
                  && !group->distinct;
    enum vdbq_status status =
        group->runs ? group_scatter_plan(group, error) : VDBQ_OK;
    return status == VDBQ_OK
               ? init_part(group, &group->parts[group->part_count++], error)
               : status;
}

enum vdbq_status group_create(const struct group_params *params,
                              struct group **made, struct error *error)
{
    struct group *group = memory_zeroed(1, sizeof *group);
    enum vdbq_status status;

    *made = NULL;
    if (group == NULL)
        return error_no_memory(error);
    group->params = *params;
    if (group->params.threads == 0)
        group->params.threads = 1;
    if (group->params.threads > PARALLEL_THREADS_MAX)
        group->params.threads = PARALLEL_THREADS_MAX;
    assert(group->params.threads >= 1
           && group->params.threads <= PARALLEL_THREADS_MAX);
    status = init_group(group, error);
    if (status == VDBQ_OK)
        *made = group;
    else
        group_destroy(group);
    return status;
}

/* Room to remember values of aggregates without keys. */
static bool init_seen(struct group *group, struct group_part *part)
{
    part->seen = arena_alloc(&group->arena,
                             (group->aggregate_count + 1) * sizeof *part->seen);
    for (unsigned i = 0; part->seen != NULL && i < group->aggregate_count;
         i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        if (group->keys > 0 || !aggregate_is_distinct(aggregate)
            || aggregate->type != TYPE_I32)
            continue;
        part->seen[i].flags = arena_alloc(&group->arena, GROUP_SEEN);
        if (part->seen[i].flags == NULL)
            return false;
    }
    return part->seen != NULL;
}

/* Makes one thread's table, and one more for each DISTINCT aggregate. */
static enum vdbq_status init_part(struct group *group, struct group_part *part,
                                  struct error *error)
{
    enum vdbq_status status = group_store_init(
        group, &part->groups, group->types, group->keys, group->bytes, error);

    part->groups.stays = group->keys == 0 || group->distinct;
    part->groups.shared = group->runs;
    part->distinct = arena_alloc(&group->arena, (group->aggregate_count + 1)
                                                    * sizeof *part->distinct);
    if (status == VDBQ_OK
        && (part->distinct == NULL || !init_seen(group, part)))
        status = error_no_memory(error);
    if (status == VDBQ_OK && group->keys == 0)
        status = group_table_one(&part->groups.table, error);
    for (unsigned i = 0; i < group->aggregate_count && status == VDBQ_OK; i++)
        if (aggregate_is_distinct(&group->aggregates[i]))
            status = group_pairs_init(group, &part->distinct[i], i,
                                      &part->groups.table, error);
    return status;
}

void group_destroy(struct group *group)
{
    if (group == NULL)
        return;
    for (unsigned i = 0; i < group->part_count; i++) {
        group_store_finish(group, &group->parts[i].groups);
        group_scatter_finish(group, &group->parts[i]);
        for (unsigned k = 0;
             group->parts[i].distinct != NULL && k < group->aggregate_count;
             k++)
            group_store_finish(group, &group->parts[i].distinct[k]);
    }
    spill_file_close(&group->file);
    vector_finish(&group->segments);
    arena_finish(&group->arena);
    group_rooms_finish(group);
    memory_release(group->lent);
    memory_release(group);
}

/* Whether rows mostly make groups, or pairs, of their own: what parts cost to
 * merge is then more than what threads gain, unless they go by partitions. */
static bool is_sparse(const struct group_table *table)
{
    return table->count
           > (table->rows < MANY_ROWS ? table->rows / 2 : table->rows / 8);
}

/* Whether there is memory for each row to be a group of its own, in two
 * tables: groups of which pairs know the numbers stay in memory. */
static bool has_room(const struct group *group, uint64_t rows)
{
    uint64_t groups = rows + group->parts[0].groups.table.count;
    return groups
           < account_room(group->memory) / 2
                 / (group->parts[0].groups.table.width + group->row_bytes + 1);
}

/* Whether pairs, or some of them, are written out already. */
static bool shares_already(const struct group_part *part, unsigned aggregates)
{
    bool shares = false;
    for (unsigned i = 0; i < aggregates; i++)
        shares |= part->distinct[i].shared;
    return shares;
}

bool group_is_shared(const struct group *group)
{
    const struct group_part *part = &group->parts[0];
    const struct group_table *groups = &part->groups.table;
    bool many = group->distinct && group->keys > 0
                && groups->count >= groups->rows / FEW_PART
                && !shares_already(part, group->aggregate_count);
    return group->params.threads
           >= (many ? GROUP_PAIRS_THREADS : GROUP_RUNS_THREADS);
}

/* Whether all threads work on the rows, whatever groups they make. */
static bool is_shared(const struct group *group, uint64_t rows)
{
    return group_is_shared(group)
           && (group->runs || group->keys == 0 || has_room(group, rows));
}

/* Threads for so many rows. */
static unsigned threads_for(const struct group *group, uint64_t rows)
{
    const struct group_part *part = &group->parts[0];
    bool sparse = group->keys > 0 && is_sparse(&part->groups.table);

    for (unsigned i = 0; i < group->aggregate_count; i++)
        sparse |= is_sparse(&part->distinct[i].table);
    return sparse && !is_shared(group, rows)
               ? 1
               : parallel_threads(group->params.threads, rows);
}

/* Pairs of several parts are written out when they are many. */
static void share_pairs(struct group *group)
{
    bool shares = group->part_count > 1 && group_is_shared(group);
    for (unsigned i = 0; i < group->part_count && shares; i++)
        for (unsigned k = 0; k < group->aggregate_count; k++)
            group->parts[i].distinct[k].shared = true;
}

enum vdbq_status group_make_parts(struct group *group, unsigned count,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && group->part_count < count)
        status = init_part(group, &group->parts[group->part_count++], error);
    if (status == VDBQ_OK)
        share_pairs(group);
    return status;
}

/* Takes in rows [first, end) of those at hand. */
static enum vdbq_status add_rows(struct group *group,
                                 const struct batches *batches, uint64_t first,
                                 uint64_t end, struct error *error)
{
    struct adding adding = {
        .group = group, .batches = batches, .end = end, .next = first
    };
    unsigned threads = threads_for(group, end - first);
    enum vdbq_status status = group_make_parts(group, threads, error);

    if (status != VDBQ_OK)
        return status;
    parallel_run(threads, add_share, &adding);
    for (unsigned i = 0; i < threads; i++)
        if (group->parts[i].status != VDBQ_OK) {
            *error = group->parts[i].error;
            return error->status;
        }
    return VDBQ_OK;
}

/* Takes in rows that are looked up. */
static enum vdbq_status add_unordered(struct group *group,
                                      const struct batches *batches,
                                      struct error *error)
{
    uint64_t rows = batches_rows(batches);
    bool samples =
        group->rows == 0 && rows > SAMPLE_ROWS && !is_shared(group, rows);
    uint64_t sample = samples ? SAMPLE_ROWS : 0;
    enum vdbq_status status = VDBQ_OK;

    if (sample > 0)
        status = add_rows(group, batches, 0, sample, error);
    if (status == VDBQ_OK)
        status = add_rows(group, batches, sample, rows, error);
    return status;
}

enum vdbq_status group_add(struct group *group, const struct batches *batches,
                           struct error *error)
{
    assert(batches->columns > 0 || group->keys == 0);
    enum vdbq_status status = VDBQ_OK;
    bool done = false;

    if (group->ordered && batches_rows(batches) > 0)
        status = group_add_ordered(group, batches, &done, error);
    if (status == VDBQ_OK && !done)
        status = add_unordered(group, batches, error);
    group->rows += batches_rows(batches);
    return status;
}

/* ------------------------------------------------------------- threads -- */

/* One thread: takes rows from those that are left, into its own part of the
 * group. They are more and more behind, so that a group's first row comes
 * first in each part. */
static void add_share(void *context, unsigned share)
{
    struct adding *adding = context;
    struct group_part *part = &adding->group->parts[share];

    assert(share < adding->group->part_count);
    part->status = VDBQ_OK;
    while (part->status == VDBQ_OK) {
        uint64_t at = atomic_fetch_add(&adding->next, MORSEL_ROWS);
        if (at >= adding->end)
            return;
        group_add_range(adding->group, adding->batches, part, at,
                        adding->end - at < MORSEL_ROWS ? adding->end
                                                       : at + MORSEL_ROWS);
    }
}

/* ------------------------------------------------------------ the end -- */

enum vdbq_status group_finish(struct group *group, struct row_set *row_set,
                              struct reorder *reorder, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    group->ordered = group_is_ordered(group);
    if (group->ordered)
        return group_write(group, row_set, error);
    if (group_has_runs(group))
        status = group_end_runs(group, error);
    if (status == VDBQ_OK && !group_is_spilled(group))
        status = group_merge(group, error);
    if (status == VDBQ_OK && group_is_spilled(group))
        return group_merge_spilled(group, reorder, error);
    return status == VDBQ_OK ? group_write(group, row_set, error) : status;
}
