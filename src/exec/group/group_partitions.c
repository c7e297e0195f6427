/* SPDX-License-Identifier: MIT */
/*
 * Merging runs by partitions: see group_partitions.h. What is left to be merged
 * is a stack of sources: first the runs of all threads, then those of each
 * partition that was too large.
 */
#include "exec/group/group_partitions.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"

/* Runs to be merged, whose partitions are of one level. */
struct group_source {
    struct vector runs; /* struct group_run */
    unsigned level;
};

/* ------------------------------------------------------- init, finish -- */

enum vdbq_status group_partitions_init(struct group_partitions *partitions,
                                       struct error *error)
{
    size_t width = partitions->store->table.width;
    partitions->sources = VECTOR(struct group_source);
    partitions->records = memory_resize(NULL, GROUP_BLOCK * width);
    return partitions->records != NULL ? VDBQ_OK : error_no_memory(error);
}

static void finish_source(struct group_source *source)
{
    for (size_t i = 0; i < source->runs.count; i++)
        memory_release(
            ((struct group_run *)vector_at(&source->runs, i))->records);
    vector_finish(&source->runs);
}

void group_partitions_finish(struct group_partitions *partitions)
{
    for (size_t i = 0; i < partitions->sources.count; i++)
        finish_source(vector_at(&partitions->sources, i));
    vector_finish(&partitions->sources);
    memory_release(partitions->records);
    partitions->records = NULL;
}

/* ------------------------------------------------------------- sources -- */

/* Adds an empty source; NULL: no memory. */
static struct group_source *add_source(struct group_partitions *partitions,
                                       unsigned level)
{
    struct group_source *source = vector_add(&partitions->sources);
    if (source != NULL)
        *source = (struct group_source){ .runs = VECTOR(struct group_run),
                                         .level = level };
    return source;
}

/* Moves a store's runs to a source, which may be NULL: no memory. */
static enum vdbq_status move_runs(struct group_store *store,
                                  struct group_source *source,
                                  struct error *error)
{
    if (source == NULL
        || !vector_append(&source->runs, store->runs.items, store->runs.count))
        return error_no_memory(error);
    store->runs.count = 0;
    return VDBQ_OK;
}

enum vdbq_status group_partitions_add(struct group_partitions *partitions,
                                      struct group_store *store,
                                      struct error *error)
{
    struct vector *sources = &partitions->sources;
    struct group_source *source =
        sources->count > 0 ? vector_at(sources, 0) : add_source(partitions, 0);
    assert(store->level == 0);
    enum vdbq_status status =
        group_store_flush(partitions->group, store, error);
    return status == VDBQ_OK ? move_runs(store, source, error) : status;
}

/* --------------------------------------------------------- a partition -- */

/* Records of a run that are taken: [first, end). */
struct some_records {
    const struct group *group;
    const struct group_run *run;
    size_t width;
    uint32_t first, end;
    uint8_t *room; /* for GROUP_BLOCK records of a run that is in a file */
};

/* Reads `count` records where they lie, or into the room. */
static enum vdbq_status read_records(const struct some_records *some,
                                     uint32_t count, const uint8_t **records,
                                     struct error *error)
{
    uint64_t at = some->first * some->width;
    bool here = some->run->records != NULL;

    *records = here ? some->run->records + at : some->room;
    return here ? VDBQ_OK
                : spill_file_read(&some->group->file, some->room,
                                  count * some->width, some->run->offset + at,
                                  error);
}

static enum vdbq_status take_some(struct some_records *some,
                                  group_run_take take, void *context,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    const uint8_t *records;
    uint32_t count;

    for (; some->first < some->end && status == VDBQ_OK; some->first += count) {
        uint32_t left = some->end - some->first;
        count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        status = read_records(some, count, &records, error);
        if (status == VDBQ_OK)
            status = take(context, records, count, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

enum vdbq_status group_run_each(const struct group *group,
                                const struct group_run *run, size_t width,
                                group_run_take take, void *context,
                                struct error *error)
{
    struct some_records some = { .group = group,
                                 .run = run,
                                 .width = width,
                                 .end = run->ends[GROUP_PARTITIONS - 1],
                                 .room =
                                     memory_resize(NULL, GROUP_BLOCK * width) };
    enum vdbq_status status = some.room != NULL
                                  ? take_some(&some, take, context, error)
                                  : error_no_memory(error);

    memory_release(some.room);
    return status;
}

/* Merges records into the partition's table. */
static enum vdbq_status merge_records(void *context, const uint8_t *records,
                                      uint32_t count, struct error *error)
{
    struct group_partitions *partitions = context;
    struct group_store *store = partitions->store;
    uint32_t numbers[GROUP_BLOCK];
    enum vdbq_status status =
        group_store_room(partitions->group, store, count, error);
    if (status == VDBQ_OK)
        status =
            group_table_join(&store->table, records, count, 0, numbers, error);
    if (status == VDBQ_OK && !partitions->pairs)
        group_merge_records(partitions->group, &store->table, records, count,
                            numbers);
    return status;
}

/* The same of those that a run has of a partition. */
static enum vdbq_status merge_run(struct group_partitions *partitions,
                                  const struct group_run *run,
                                  unsigned partition, struct error *error)
{
    struct some_records some = { .group = partitions->group,
                                 .run = run,
                                 .width = partitions->store->table.width,
                                 .room = partitions->records };

    some.end = group_run_records(run, partition, &some.first);
    some.end += some.first;
    return take_some(&some, merge_records, partitions, error);
}

/* Merges a partition of a source: it is taken or, where it was too large,
 * becomes a source. */
static enum vdbq_status merge_partition(struct group_partitions *partitions,
                                        const struct group_source *source,
                                        unsigned partition, struct error *error)
{
    struct group_store *store = partitions->store;
    enum vdbq_status status = VDBQ_OK;
    store->fill = (struct group_fill){ .rows = store->table.rows };
    store->level = source->level + 1;
    group_table_clear(&store->table, false);
    for (size_t i = 0; i < source->runs.count && status == VDBQ_OK; i++)
        status = merge_run(partitions, vector_at(&source->runs, i), partition,
                           error);
    if (status != VDBQ_OK || store->table.count == 0)
        return status;
    if (store->runs.count == 0)
        return partitions->take(partitions->context, error);
    status = group_store_flush(partitions->group, store, error);
    return status == VDBQ_OK
               ? move_runs(store, add_source(partitions, store->level), error)
               : status;
}

/* Merges the source that was added last; partitions that are too large may add
 * others. */
static enum vdbq_status merge_source(struct group_partitions *partitions,
                                     struct error *error)
{
    struct vector *sources = &partitions->sources;
    struct group_source source =
        VECTOR_ITEMS(sources, struct group_source)[--sources->count];
    enum vdbq_status status = VDBQ_OK;
    for (unsigned p = 0; p < GROUP_PARTITIONS && status == VDBQ_OK; p++)
        status = merge_partition(partitions, &source, p, error);
    finish_source(&source);
    return status;
}

enum vdbq_status group_partitions_run(struct group_partitions *partitions,
                                      struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && partitions->sources.count > 0)
        status = merge_source(partitions, error);
    return status;
}
