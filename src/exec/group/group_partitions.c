/* SPDX-License-Identifier: MIT */
/*
 * Merging runs by partitions: see group_partitions.h. What is left to be merged
 * is a stack of sources: first the runs of all threads, then those of each
 * partition that was too large.
 */
#include "exec/group/group_partitions.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/threads/stop.h"

/* Runs to be merged, whose partitions are of one level. */
struct group_source {
    struct vector runs; /* struct group_run */
    unsigned level;
};

/* ------------------------------------------------------- init, finish -- */

/* Room for a block of records, behind them narrow as they are in the file. */
static size_t room_bytes(size_t width)
{
    return 2 * GROUP_BLOCK * width + GROUP_NARROW_SLACK;
}

enum vdbq_status group_partitions_init(struct group_partitions *partitions,
                                       struct error *error)
{
    size_t width = partitions->stores[0]->table.width;
    partitions->sources = VECTOR(struct group_source);
    pthread_mutex_init(&partitions->lock, NULL);
    partitions->made = true;
    assert(partitions->threads > 0);
    for (unsigned i = 0; i < partitions->threads; i++) {
        partitions->records[i] = memory_resize(NULL, room_bytes(width));
        if (partitions->records[i] == NULL)
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

static void finish_source(struct group_source *source)
{
    for (size_t i = 0; i < source->runs.count; i++)
        group_run_finish(vector_at(&source->runs, i));
    vector_finish(&source->runs);
}

void group_partitions_finish(struct group_partitions *partitions)
{
    for (size_t i = 0; i < partitions->sources.count; i++)
        finish_source(vector_at(&partitions->sources, i));
    vector_finish(&partitions->sources);
    for (unsigned i = 0; i < partitions->threads; i++) {
        memory_release(partitions->records[i]);
        partitions->records[i] = NULL;
    }
    if (partitions->made)
        pthread_mutex_destroy(&partitions->lock);
    partitions->made = false;
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
    uint8_t *room; /* room_bytes(): for those of a run that is in a file */
};

/* Reads `count` records where they lie, or into the room. */
static enum vdbq_status read_records(const struct some_records *some,
                                     uint32_t count, const uint8_t **records,
                                     struct error *error)
{
    const struct group_narrow *narrow = &some->run->narrow;
    uint8_t *raw = some->room + GROUP_BLOCK * some->width;
    enum vdbq_status status;

    if (some->run->records != NULL) {
        *records = some->run->records + some->first * some->width;
        return VDBQ_OK;
    }
    assert(count <= GROUP_BLOCK && narrow->width <= some->width);
    *records = some->room;
    status =
        spill_file_read(&some->group->file, raw, count * narrow->width,
                        some->run->offset + some->first * narrow->width, error);
    if (status == VDBQ_OK)
        group_narrow_take(narrow, raw, count, some->room);
    return status;
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
                                     memory_resize(NULL, room_bytes(width)) };
    enum vdbq_status status = some.room != NULL
                                  ? take_some(&some, take, context, error)
                                  : error_no_memory(error);

    memory_release(some.room);
    return status;
}

/* A thread that merges. */
struct worker {
    struct group_partitions *partitions;
    unsigned thread; /* its number */
};

/* Merges records into the table of the thread's partition. */
static enum vdbq_status merge_records(void *context, const uint8_t *records,
                                      uint32_t count, struct error *error)
{
    const struct worker *worker = context;
    const struct group_partitions *partitions = worker->partitions;
    struct group_store *store = partitions->stores[worker->thread];
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
static enum vdbq_status merge_run(struct worker *worker,
                                  const struct group_run *run,
                                  unsigned partition, struct error *error)
{
    struct group_partitions *partitions = worker->partitions;
    struct some_records some = {
        .group = partitions->group,
        .run = run,
        .width = partitions->stores[worker->thread]->table.width,
        .room = partitions->records[worker->thread]
    };

    some.end = group_run_records(run, partition, &some.first);
    some.end += some.first;
    return take_some(&some, merge_records, worker, error);
}

/* Makes a source of the runs of a partition that was too large. */
static enum vdbq_status add_large(struct group_partitions *partitions,
                                  struct group_store *store,
                                  struct error *error)
{
    enum vdbq_status status =
        group_store_flush(partitions->group, store, error);
    if (status != VDBQ_OK)
        return status;
    pthread_mutex_lock(&partitions->lock);
    status = move_runs(store, add_source(partitions, store->level), error);
    pthread_mutex_unlock(&partitions->lock);
    return status;
}

/* Merges a partition of a source: it is taken or, where it was too large,
 * becomes a source. */
static enum vdbq_status merge_partition(struct worker *worker,
                                        const struct group_source *source,
                                        unsigned partition, struct error *error)
{
    struct group_partitions *partitions = worker->partitions;
    struct group_store *store = partitions->stores[worker->thread];
    enum vdbq_status status = VDBQ_OK;
    store->fill = (struct group_fill){ .rows = store->table.rows };
    store->level = source->level + 1;
    group_table_clear(&store->table, false);
    for (size_t i = 0; i < source->runs.count && status == VDBQ_OK; i++)
        status =
            merge_run(worker, vector_at(&source->runs, i), partition, error);
    if (status != VDBQ_OK || store->table.count == 0)
        return status;
    return store->runs.count == 0
               ? partitions->take(partitions->context, worker->thread, error)
               : add_large(partitions, store, error);
}

/* A source on its way, and what went wrong. */
struct merging {
    struct group_partitions *partitions;
    const struct group_source *source;
    atomic_uint next;   /* partition that no thread has taken yet */
    atomic_bool failed; /* a thread has */
    struct error errors[PARALLEL_THREADS_MAX]; /* of each thread */
};

/* One thread: merges partitions, as long as there are any. */
static void merge_share(void *context, unsigned share)
{
    struct merging *merging = context;
    struct worker worker = { merging->partitions, share };
    while (!atomic_load(&merging->failed)) {
        unsigned p = atomic_fetch_add(&merging->next, 1);
        if (p >= GROUP_PARTITIONS)
            return;
        if (merge_partition(&worker, merging->source, p,
                            &merging->errors[share])
            != VDBQ_OK)
            atomic_store(&merging->failed, true);
    }
}

/* Records of a source. */
static uint64_t count_records(const struct group_source *source)
{
    uint64_t records = 0;
    for (size_t i = 0; i < source->runs.count; i++)
        records += VECTOR_ITEMS(&source->runs, struct group_run)[i]
                       .ends[GROUP_PARTITIONS - 1];
    return records;
}

/* Merges the source that was added last; partitions that are too large may add
 * others. */
static enum vdbq_status merge_source(struct group_partitions *partitions,
                                     struct error *error)
{
    struct vector *sources = &partitions->sources;
    struct group_source source =
        VECTOR_ITEMS(sources, struct group_source)[--sources->count];
    struct merging *merging = memory_zeroed(1, sizeof *merging);
    enum vdbq_status status =
        merging != NULL ? VDBQ_OK : error_no_memory(error);
    if (status == VDBQ_OK) {
        merging->partitions = partitions;
        merging->source = &source;
        parallel_run(
            parallel_threads(partitions->threads, count_records(&source)),
            merge_share, merging);
        for (unsigned i = 0; i < partitions->threads && status == VDBQ_OK; i++)
            if (merging->errors[i].status != VDBQ_OK) {
                *error = merging->errors[i];
                status = error->status;
            }
    }
    memory_release(merging);
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
