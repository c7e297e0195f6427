/* SPDX-License-Identifier: MIT */
/*
 * Many groups on several cores. A thread whose table has grown too large for
 * its caches writes it out as a run (group_store.c). At the end each partition
 * is merged by one thread from the runs of all: partitions have no key in
 * common. After Leis et al., "Morsel-driven parallelism" (2014), section 4.4.
 */
#include <assert.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/group/group_scatter.h"

/* --------------------------------------------------------------- merge -- */

enum {
    /* partitions of which the groups are counted, where memory may be short */
    PARTITIONS_TRIED = GROUP_PARTITIONS / 16,
    ROOM_BYTES = HOSTILE(64, 1 << 23) /* that partitions share, at least */
};

/* Partitions that are merged, by several threads. */
struct merging {
    struct group *group;           /* has the runs */
    struct group_part *partitions; /* grow */
    bool scattered;                /* of rows that were, too: nobody has asked
                                      for the memory of their groups yet */
    struct group_part *pieces;     /* of partitions that have far more scattered
                                      rows than others: what each part has of
                                      one is grouped apart              */
    uint8_t heavy[GROUP_PARTITIONS]; /* ... these partitions            */
    unsigned heavy_count;
    atomic_uint next_piece; /* to be grouped          */
    atomic_uint next;       /* partition to be merged */
    unsigned end;           /* ... up to that one     */
};

/* Rows that parts have scattered. */
static uint64_t scattered_rows(const struct group *group)
{
    uint64_t rows = 0;
    for (unsigned i = 0; i < group->part_count; i++)
        if (group->parts[i].scatter != NULL)
            rows += group->parts[i].scatter->rows;
    return rows;
}

/* Merges records into a partition. */
static enum vdbq_status merge_some(const struct merging *merging,
                                   struct group_part *partition,
                                   const uint8_t *records, uint32_t count)
{
    struct group *group = merging->group;
    struct group_table *table = &partition->groups.table;
    enum vdbq_status status = VDBQ_OK;
    uint32_t numbers[GROUP_BLOCK];
    uint64_t since = 0;
    while (count > 0 && status == VDBQ_OK) {
        unsigned some = count < GROUP_BLOCK ? count : GROUP_BLOCK;
        if (merging->scattered)
            status = group_store_room(group, &partition->groups, some,
                                      &partition->error);
        if (status == VDBQ_OK)
            status = group_table_join(table, records, some, 0, numbers,
                                      &partition->error);
        if (status == VDBQ_OK)
            group_merge_records(group, table, records, some, numbers);
        if (status == VDBQ_OK && stop_after(&since, some))
            status = error_cancelled(&partition->error);
        records += some * table->width;
        count -= some;
    }
    return status;
}

/* Gives an empty table what is left of the thread's newest room, or new room: at
 * least for as many groups as the table before had. A table that grows beyond
 * it gets memory of its own. */
static enum vdbq_status lend_room(struct group_room **rooms,
                                  const struct group_table *last,
                                  struct group_part *partition)
{
    struct group_table *table = &partition->groups.table;
    size_t wanted = (last != NULL ? last->count / 4 * 5 : 1) * table->width;
    size_t bytes = wanted < ROOM_BYTES ? ROOM_BYTES : wanted;
    if (*rooms == NULL || (*rooms)->left < wanted + table->width) {
        struct group_room *room = memory_resize(NULL, sizeof *room + bytes);
        if (room == NULL)
            return error_no_memory(&partition->error);
        *room = (struct group_room){ .next = *rooms, .left = bytes };
        room->at = (uint8_t *)(room + 1);
        *rooms = room;
    }
    size_t most = (*rooms)->left / table->width;
    group_table_lend(table, (*rooms)->at,
                     most < UINT32_MAX ? (uint32_t)most : UINT32_MAX);
    return VDBQ_OK;
}

/* The room that a table's records do not take is for others. */
static void keep_room(struct group_room *room, const struct group_table *table)
{
    size_t bytes = table->lent ? table->count * table->width : 0;
    assert(bytes <= room->left);
    room->at += bytes;
    room->left -= bytes;
}

/* Makes a partition's empty table; `last`: the table of the one that the thread
 * merged before, or NULL. */
static enum vdbq_status begin_partition(const struct merging *merging,
                                        unsigned p, struct group_room **rooms,
                                        struct group_table *last)
{
    const struct group *group = merging->group;
    struct group_part *partition = &merging->partitions[p];
    struct group_table *table = &partition->groups.table;
    enum vdbq_status status =
        group_store_init(group, &partition->groups, group->types, group->keys,
                         group->bytes, &partition->error);
    partition->groups.stays = true;
    if (status == VDBQ_OK)
        status = lend_room(rooms, last, partition);
    if (status == VDBQ_OK && last != NULL)
        group_table_pass(last, table);
    return status;
}

/* Merges what a part's runs have of a partition. */
static enum vdbq_status merge_runs(const struct merging *merging, unsigned p,
                                   const struct vector *runs)
{
    struct group_part *partition = &merging->partitions[p];
    size_t width = partition->groups.table.width;
    enum vdbq_status status = VDBQ_OK;
    for (size_t k = 0; k < runs->count && status == VDBQ_OK; k++) {
        const struct group_run *run = vector_at(runs, k);
        uint32_t first, count = group_run_records(run, p, &first);
        status =
            merge_some(merging, partition, run->records + first * width, count);
        if (status == VDBQ_OK)
            status = stop_pause(&partition->error);
    }
    return status;
}

/* Merges what the parts have grouped of a partition that is heavy. */
static void merge_pieces(const struct merging *merging,
                         struct group_part *pieces,
                         struct group_part *partition)
{
    for (unsigned i = 0; i < merging->group->part_count; i++) {
        const struct group_table *table = &pieces[i].groups.table;
        if (pieces[i].status != VDBQ_OK && partition->status == VDBQ_OK) {
            partition->status = pieces[i].status;
            partition->error = pieces[i].error;
        }
        if (partition->status == VDBQ_OK)
            partition->status =
                merge_some(merging, partition, table->records, table->count);
        group_store_finish(merging->group, &pieces[i].groups);
    }
}

/* The pieces of a partition; NULL: it is not heavy. */
static struct group_part *pieces_of(const struct merging *merging, unsigned p)
{
    for (unsigned i = 0; i < merging->heavy_count; i++)
        if (merging->heavy[i] == p)
            return &merging->pieces[i * merging->group->part_count];
    return NULL;
}

/* Merges what all parts have of a partition: in runs, and scattered. */
static void merge_partition(const struct merging *merging, unsigned p)
{
    struct group *group = merging->group;
    struct group_part *partition = &merging->partitions[p];
    struct group_part *pieces = pieces_of(merging, p);
    for (unsigned i = 0; i < group->part_count; i++)
        if (partition->status == VDBQ_OK)
            partition->status =
                merge_runs(merging, p, &group->parts[i].groups.runs);
    if (pieces != NULL)
        merge_pieces(merging, pieces, partition);
    partition->added = GROUP_ADDED_MAX; /* the merge has added, too */
    for (unsigned i = 0; pieces == NULL && i < group->part_count; i++)
        if (partition->status == VDBQ_OK && group->parts[i].scatter != NULL)
            group_scatter_take(group, group->parts[i].scatter, p, partition);
}

/* Groups what a part has scattered to a partition. */
static void make_piece(struct group *group, const struct group_scatter *scatter,
                       unsigned p, struct group_part *piece)
{
    piece->status = group_store_init(group, &piece->groups, group->types,
                                     group->keys, group->bytes, &piece->error);
    if (piece->status != VDBQ_OK || scatter == NULL)
        return;
    piece->groups.stays = true;
    group_table_clear(&piece->groups.table, false);
    group_scatter_take(group, scatter, p, piece);
}

/* One thread's share: pieces, as long as there are any. */
static void piece_share(void *context, unsigned share)
{
    struct merging *merging = context;
    struct group *group = merging->group;
    (void)share;
    for (;;) {
        unsigned i = atomic_fetch_add(&merging->next_piece, 1);
        if (i >= merging->heavy_count * group->part_count)
            return;
        make_piece(group, group->parts[i % group->part_count].scatter,
                   merging->heavy[i / group->part_count], &merging->pieces[i]);
    }
}

/* Groups the partitions in pieces that would keep one thread busy when the
 * others have nothing left to do: half of the rows may be of one group. */
static enum vdbq_status split_heavy(struct merging *merging,
                                    struct error *error)
{
    struct group *group = merging->group;
    uint64_t most = scattered_rows(group) / group->params.threads / 2;
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        uint64_t rows = 0;
        for (unsigned i = 0; i < group->part_count; i++)
            if (group->parts[i].scatter != NULL)
                rows += group_scatter_count(group->parts[i].scatter, p);
        if (rows > most)
            merging->heavy[merging->heavy_count++] = (uint8_t)p;
    }
    if (merging->heavy_count == 0)
        return VDBQ_OK;
    merging->pieces = arena_alloc(&group->arena, (size_t)merging->heavy_count
                                                     * group->part_count
                                                     * sizeof *merging->pieces);
    if (merging->pieces == NULL)
        return error_no_memory(error);
    parallel_run(group->params.threads, piece_share, merging);
    return VDBQ_OK;
}

/* One thread's share: partitions, as long as there are any. */
static void merge_share(void *context, unsigned share)
{
    struct merging *merging = context;
    struct group_room **rooms = &merging->group->rooms[share];
    struct group_table *last = NULL;
    for (;;) {
        unsigned p = atomic_fetch_add(&merging->next, 1);
        if (p >= merging->end)
            return;
        struct group_part *partition = &merging->partitions[p];
        partition->status = begin_partition(merging, p, rooms, last);
        if (partition->status != VDBQ_OK)
            return;
        last = &partition->groups.table;
        merge_partition(merging, p);
        keep_room(*rooms, last);
    }
}

/* Puts partitions in the place of the threads' parts. */
static enum vdbq_status use_partitions(struct group *group,
                                       struct group_part *partitions,
                                       struct error *error)
{
    for (unsigned i = 0; i < group->part_count; i++) {
        group_store_finish(group, &group->parts[i].groups);
        group_scatter_finish(group, &group->parts[i]);
    }
    group->parts = partitions;
    group->part_count = GROUP_PARTITIONS;
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++)
        if (partitions[p].status != VDBQ_OK) {
            *error = partitions[p].error;
            return error->status;
        }
    return VDBQ_OK;
}

bool group_has_runs(const struct group *group)
{
    uint64_t groups = 0;
    for (unsigned i = 0; i < group->part_count; i++) {
        if (group->parts[i].groups.runs.count > 0 || group->parts[i].scattered)
            return true;
        groups += group->parts[i].groups.table.count;
    }
    return group->part_count > 1 && group->keys > 0 && !group->distinct
           && groups > GROUP_MERGED_MAX;
}

/* One thread: takes what a part has scattered into its groups. */
static void drain_part(void *context, unsigned share)
{
    struct group *group = context;
    group_scatter_drain(group, &group->parts[share]);
}

/* One thread: writes out what a part still has. */
static void flush_part(void *context, unsigned share)
{
    struct group *group = context;
    struct group_part *part = &group->parts[share];
    part->groups.shared = true;
    part->status = group_store_flush(group, &part->groups, &part->error);
}

/* Whether one of the parts has failed, and why. */
static bool parts_failed(const struct group *group, struct error *error)
{
    for (unsigned i = 0; i < group->part_count; i++)
        if (group->parts[i].status != VDBQ_OK) {
            *error = group->parts[i].error;
            return true;
        }
    return false;
}

enum vdbq_status group_end_runs(struct group *group, struct error *error)
{
    if (!group_is_spilled(group))
        parallel_run(group->part_count, flush_part, group);
    if (!parts_failed(group, error) && group_is_spilled(group))
        parallel_run(group->part_count, drain_part, group);
    return parts_failed(group, error) ? error->status : VDBQ_OK;
}

void group_rooms_finish(struct group *group)
{
    for (unsigned i = 0; i < PARALLEL_THREADS_MAX; i++)
        while (group->rooms[i] != NULL) {
            struct group_room *next = group->rooms[i]->next;
            memory_release(group->rooms[i]);
            group->rooms[i] = next;
        }
}

/* ----------------------------------------------------------------- all -- */

/* Merges partitions up to `end`. */
static void merge_until(struct merging *merging, unsigned end)
{
    merging->end = end;
    parallel_run(merging->group->params.threads, merge_share, merging);
    atomic_store(&merging->next, end);
}

/* Whether there is memory for so many groups. */
static bool has_room(const struct group *group, uint64_t groups)
{
    const struct group_store *store = &group->parts[0].groups;
    size_t bytes = group_table_bytes_each(&store->table) + store->beside_bytes;
    return groups <= account_room(group->memory) / bytes;
}

/* The groups that there will be, by those of the partitions that are merged. */
static uint64_t guess_groups(const struct merging *merging)
{
    uint64_t groups = 0;
    for (unsigned p = 0; p < merging->end; p++)
        groups += merging->partitions[p].groups.table.count;
    return groups * GROUP_PARTITIONS / merging->end / 4 * 5;
}

/* Frees what is merged. */
static void forget_partitions(const struct merging *merging)
{
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        group_store_finish(merging->group, &merging->partitions[p].groups);
        merging->partitions[p] = (struct group_part){ 0 };
    }
    group_rooms_finish(merging->group);
}

/* Frees pieces that no partition has taken. */
static void forget_pieces(const struct merging *merging)
{
    unsigned count = merging->heavy_count * merging->group->part_count;
    for (unsigned i = 0; merging->pieces != NULL && i < count; i++)
        group_store_finish(merging->group, &merging->pieces[i].groups);
}

/* Scattered rows may be in more groups than there is memory for: some partitions
 * tell. If so, threads take their rows into their own groups, which are written
 * out. */
static enum vdbq_status try_some(struct merging *merging, struct error *error)
{
    struct group *group = merging->group;
    merge_until(merging, PARTITIONS_TRIED);
    if (has_room(group, guess_groups(merging)))
        return VDBQ_OK;
    forget_partitions(merging);
    atomic_store(&merging->next, 0);
    merging->scattered = false;
    parallel_run(group->part_count, drain_part, group);
    return parts_failed(group, error) ? error->status
                                      : group_end_runs(group, error);
}

enum vdbq_status group_merge_runs(struct group *group, struct error *error)
{
    assert(!group->distinct && group->keys > 0 && !group_is_spilled(group));
    struct merging merging = { .group = group };
    uint64_t rows = scattered_rows(group);
    enum vdbq_status status = VDBQ_OK;
    merging.scattered = rows > 0;
    merging.partitions = arena_alloc(
        &group->arena, GROUP_PARTITIONS * sizeof *merging.partitions);
    if (merging.partitions == NULL)
        return error_no_memory(error);
    if (rows > 0 && !has_room(group, rows))
        status = try_some(&merging, error);
    if (status != VDBQ_OK || group_is_spilled(group))
        return status;
    if (merging.scattered)
        status = split_heavy(&merging, error);
    if (status == VDBQ_OK)
        merge_until(&merging, GROUP_PARTITIONS);
    forget_pieces(&merging);
    if (status == VDBQ_OK)
        return use_partitions(group, merging.partitions, error);
    forget_partitions(&merging);
    return status;
}
