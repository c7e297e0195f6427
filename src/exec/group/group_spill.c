/* SPDX-License-Identifier: MIT */
/*
 * Groups that do not fit into memory: their runs are in a temporary file, and
 * are merged partition by partition. Where a partition is too large it is
 * written out again, by the next bits of its hashes, and merged later. Its
 * groups become rows, which are put back into the order of the groups' first
 * rows (reorder.h).
 */
#include <assert.h>

#include "base/memory.h"
#include "exec/group/group_inner.h"

enum {
    READ_RECORDS = GROUP_BLOCK, /* that are read at once                    */
    REORDER_PART = 2 /* of the memory there is, which rows then have        */
};

/* Runs to be merged, of stores of one level. */
struct source {
    struct vector runs; /* struct group_run */
    unsigned level;
};

struct merging {
    struct group *group;
    struct group_part part;  /* the partition that is merged                */
    struct vector sources;   /* struct source: what is left                 */
    uint8_t *records;        /* that were read                              */
    struct row_set *row_set; /* rows of a partition's groups                */
    uint64_t *firsts;        /* ... their first rows                        */
    uint32_t firsts_room;
    struct reorder *reorder; /* takes the rows                              */
    struct error failure;    /* the first one, by the result's columns      */
    unsigned failed_column;
};

bool group_is_spilled(const struct group *group)
{
    for (unsigned i = 0; i < group->part_count; i++) {
        const struct vector *runs = &group->parts[i].groups.runs;
        for (size_t k = 0; k < runs->count; k++)
            if (((const struct group_run *)vector_at(runs, k))->records == NULL)
                return true;
    }
    return false;
}

/* ------------------------------------------------------------- sources -- */

/* Adds an empty source; NULL: no memory. */
static struct source *add_source(struct merging *merging, unsigned level)
{
    struct source *source = vector_add(&merging->sources);
    if (source != NULL)
        *source =
            (struct source){ .runs = VECTOR(struct group_run), .level = level };
    return source;
}

/* Moves a store's runs to a source, which may be NULL: no memory. */
static enum vdbq_status move_runs(struct group_store *store,
                                  struct source *source, struct error *error)
{
    if (source == NULL
        || !vector_append(&source->runs, store->runs.items, store->runs.count))
        return error_no_memory(error);
    store->runs.count = 0;
    return VDBQ_OK;
}

static void finish_source(struct source *source)
{
    for (size_t i = 0; i < source->runs.count; i++)
        memory_release(
            ((struct group_run *)vector_at(&source->runs, i))->records);
    vector_finish(&source->runs);
}

/* The first source: what all parts have. */
static enum vdbq_status begin_sources(struct merging *merging,
                                      struct error *error)
{
    struct group *group = merging->group;
    struct source *source = add_source(merging, 0);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < group->part_count; i++) {
        struct group_store *store = &group->parts[i].groups;
        if (status == VDBQ_OK)
            status = group_store_flush(group, store, error);
        if (status == VDBQ_OK)
            status = move_runs(store, source, error);
        group_store_finish(group, store);
    }
    group->part_count = 0;
    return status;
}

/* -------------------------------------------------------- a partition -- */

/* Merges records into the partition's table. */
static enum vdbq_status merge_records(struct merging *merging,
                                      const uint8_t *records, uint32_t count,
                                      struct error *error)
{
    struct group_store *store = &merging->part.groups;
    uint32_t numbers[GROUP_BLOCK];
    assert(count <= GROUP_BLOCK);
    enum vdbq_status status =
        group_store_room(merging->group, store, count, error);
    if (status == VDBQ_OK)
        status =
            group_table_join(&store->table, records, count, 0, numbers, error);
    if (status == VDBQ_OK)
        group_merge_records(merging->group, &store->table, records, count,
                            numbers);
    return status;
}

/* The same of those that a run has of a partition. */
static enum vdbq_status merge_run(struct merging *merging,
                                  const struct group_run *run,
                                  unsigned partition, struct error *error)
{
    size_t width = merging->part.groups.table.width;
    uint32_t first, left = group_run_records(run, partition, &first), count;
    enum vdbq_status status = VDBQ_OK;
    for (; left > 0 && status == VDBQ_OK; left -= count, first += count) {
        const uint8_t *records = merging->records;
        count = left < READ_RECORDS ? left : READ_RECORDS;
        if (run->records != NULL)
            records = run->records + first * width;
        else
            status = spill_file_read(&merging->group->file, merging->records,
                                     count * width, run->offset + first * width,
                                     error);
        if (status == VDBQ_OK)
            status = merge_records(merging, records, count, error);
    }
    return status;
}

/* Notes a failure, if its column comes before that of others. */
static enum vdbq_status note_failure(struct merging *merging,
                                     enum vdbq_status status,
                                     struct error *error)
{
    unsigned column = merging->group->failed_column;
    if (status != VDBQ_RANGE)
        return status;
    if (merging->failure.status == VDBQ_OK || column < merging->failed_column) {
        merging->failure = *error;
        merging->failed_column = column;
    }
    error_clear(error);
    return VDBQ_OK;
}

/* Notes the first rows of the table's groups; false: no memory. */
static bool list_firsts(struct merging *merging)
{
    const struct group_table *table = &merging->part.groups.table;
    if (table->count > merging->firsts_room) {
        uint64_t *firsts =
            memory_resize(merging->firsts, table->count * sizeof *firsts);
        if (firsts == NULL)
            return false;
        merging->firsts = firsts;
        merging->firsts_room = table->count;
    }
    for (uint32_t i = 0; i < table->count; i++)
        merging->firsts[i] =
            ((const struct group_head *)(const void *)group_extra(table, i))
                ->first;
    return true;
}

/* Makes rows of the groups of a partition, which all are in the table. */
static enum vdbq_status give_groups(struct merging *merging,
                                    struct error *error)
{
    if (!list_firsts(merging))
        return error_no_memory(error);
    merging->row_set->rows = 0;
    enum vdbq_status status =
        group_write(merging->group, merging->row_set, error);
    if (status != VDBQ_OK)
        return note_failure(merging, status, error);
    return reorder_add(merging->reorder, merging->row_set, merging->firsts,
                       error);
}

/* Merges a partition of a source: its groups are given out or, where they were
 * too many, become a source. */
static enum vdbq_status merge_partition(struct merging *merging,
                                        const struct source *source,
                                        unsigned partition, struct error *error)
{
    struct group_store *store = &merging->part.groups;
    enum vdbq_status status = VDBQ_OK;
    store->fill = (struct group_fill){ .rows = store->table.rows };
    store->level = source->level + 1;
    group_table_clear(&store->table, false);
    for (size_t i = 0; i < source->runs.count && status == VDBQ_OK; i++)
        status =
            merge_run(merging, vector_at(&source->runs, i), partition, error);
    if (status != VDBQ_OK || store->table.count == 0)
        return status;
    if (store->runs.count == 0)
        return give_groups(merging, error);
    status = group_store_flush(merging->group, store, error);
    return status == VDBQ_OK
               ? move_runs(store, add_source(merging, store->level), error)
               : status;
}

/* Merges the source that was added last; partitions that are too large may add
 * others. */
static enum vdbq_status merge_source(struct merging *merging,
                                     struct error *error)
{
    struct source source = VECTOR_ITEMS(
        &merging->sources, struct source)[--merging->sources.count];
    enum vdbq_status status = VDBQ_OK;
    for (unsigned p = 0; p < GROUP_PARTITIONS && status == VDBQ_OK; p++)
        status = merge_partition(merging, &source, p, error);
    finish_source(&source);
    return status;
}

/* ----------------------------------------------------------------- all -- */

/* Makes what takes the rows, and the table that partitions are merged in. */
static enum vdbq_status begin(struct merging *merging,
                              const struct reorder_params *params,
                              struct error *error)
{
    struct group *group = merging->group;
    enum vdbq_status status = reorder_init(merging->reorder, params, error);
    if (status == VDBQ_OK)
        status = group_store_init(group, &merging->part.groups, group->types,
                                  group->keys, group->bytes, error);
    merging->records = memory_resize(
        NULL, READ_RECORDS * merging->part.groups.table.width + 1);
    if (status == VDBQ_OK && merging->records == NULL)
        status = error_no_memory(error);
    group->parts = &merging->part;
    group->part_count = 1;
    return status;
}

/* Fails as grouping in memory does: with the first column that does. */
static enum vdbq_status end(struct merging *merging, struct error *error)
{
    if (merging->failure.status == VDBQ_OK)
        return reorder_end(merging->reorder, error);
    *error = merging->failure;
    return error->status;
}

static void finish(struct merging *merging)
{
    group_store_finish(merging->group, &merging->part.groups);
    for (size_t i = 0; i < merging->sources.count; i++)
        finish_source(vector_at(&merging->sources, i));
    vector_finish(&merging->sources);
    memory_release(merging->records);
    memory_release(merging->firsts);
    merging->row_set->rows = 0;
    merging->group->part_count = 0;
}

enum vdbq_status group_merge_spilled(struct group *group,
                                     struct row_set *row_set,
                                     struct reorder *reorder,
                                     struct error *error)
{
    struct merging merging = { .group = group,
                               .sources = VECTOR(struct source),
                               .row_set = row_set,
                               .reorder = reorder };
    enum vdbq_status status = begin_sources(&merging, error);
    uint64_t room = account_room(group->memory) / REORDER_PART;
    account_take_anyway(group->memory, room);
    if (status == VDBQ_OK)
        status = begin(
            &merging,
            &(struct reorder_params){ .files = group->params.files,
                                      .columns = group->params.results,
                                      .column_count = row_set->column_count,
                                      .numbers = group->rows,
                                      .room_bytes = room,
                                      .memory = group->memory },
            error);
    while (status == VDBQ_OK && merging.sources.count > 0)
        status = merge_source(&merging, error);
    if (status == VDBQ_OK)
        status = end(&merging, error);
    finish(&merging);
    return status;
}
