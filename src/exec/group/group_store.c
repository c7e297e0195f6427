/* SPDX-License-Identifier: MIT */
/*
 * Stores of groups. A table that has grown too large, for a thread's caches or
 * for the memory there is, is written out as a run, the records in the order of
 * partitions of their keys' hashes, and starts anew.
 *
 * Where nearly all rows of a run were groups of their own, the next runs take
 * rows without looking for their groups: the merge finds them.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "exec/group/group_inner.h"
#include "exec/group/group_pack.h"

enum {
    RUNS_PER_LOOK = 8,    /* runs of which one at least looks for groups   */
    TAKE_PART = 8,        /* of what it has: more that a store takes       */
    MAP_PART = 8,         /* of the memory there is: what a map may take   */
    WRITE_BYTES = 5,      /* for a group, while its table is written       */
    PIECE_BYTES = 1 << 16 /* that are written at once, about              */
};

/* ------------------------------------------------------- init, finish -- */

enum vdbq_status group_store_init(const struct group *group,
                                  struct group_store *store, const int *types,
                                  unsigned keys, size_t extra,
                                  struct error *error)
{
    size_t row = extra > 0 ? group->row_bytes : 0;
    *store = (struct group_store){ .runs = VECTOR(struct group_run),
                                   .beside_bytes =
                                       row > WRITE_BYTES ? row : WRITE_BYTES };
    enum vdbq_status status =
        group_table_init(&store->table, types, keys, extra, error);
    store->table.map_most =
        account_room(group->memory) / MAP_PART / sizeof *store->table.map;
    return status;
}

void group_run_finish(struct group_run *run)
{
    memory_release(run->records);
    group_narrow_finish(&run->narrow);
    *run = (struct group_run){ 0 };
}

void group_store_forget_runs(struct group_store *store)
{
    for (size_t i = 0; i < store->runs.count; i++)
        group_run_finish(vector_at(&store->runs, i));
    vector_finish(&store->runs);
}

void group_store_finish(struct group *group, struct group_store *store)
{
    group_table_finish(&store->table);
    group_store_forget_runs(store);
    account_give(group->memory, store->held_bytes);
    *store = (struct group_store){ 0 };
}

/* ---------------------------------------------------------------- runs -- */

uint32_t group_run_records(const struct group_run *run, unsigned partition,
                           uint32_t *first)
{
    assert(partition < GROUP_PARTITIONS);
    *first = partition > 0 ? run->ends[partition - 1] : 0;
    return run->ends[partition] - *first;
}

/* A record's hash: of its keys, or of a pair's value and the keys of its
 * group, whose number (the first unit) differs from thread to thread. */
static uint64_t hash_of(const struct group_store *store, const uint64_t *packed)
{
    unsigned words = store->table.words;
    if (store->of == NULL)
        return pack_hash(packed, words);
    assert(store->level == 0 && (uint32_t)packed[0] < store->of->count);
    const uint8_t *group = group_record(store->of, (uint32_t)packed[0]);
    uint64_t hash = pack_hash((const uint64_t *)group, store->of->words);
    hash = hash_mix(hash, packed[0] >> 32);
    for (unsigned i = 1; i < words; i++)
        hash = hash_mix(hash, packed[i]);
    return hash_end(hash);
}

void group_store_partitions(const struct group_store *store, uint8_t *parts,
                            uint32_t *ends)
{
    const struct group_table *table = &store->table;
    uint32_t starts = 0;
    memset(ends, 0, GROUP_PARTITIONS * sizeof *ends);
    for (uint32_t i = 0; i < table->count && !stop_at(i); i++) {
        const uint64_t *packed = (const uint64_t *)group_record(table, i);
        parts[i] =
            (uint8_t)group_partition(hash_of(store, packed), store->level);
        ends[parts[i]]++;
    }
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        uint32_t count = ends[p];
        ends[p] = starts;
        starts += count;
    }
}

/* Copies the records into the run, which stays in memory. */
static enum vdbq_status copy_records(const struct group_store *store,
                                     const uint8_t *parts,
                                     struct group_run *run, struct error *error)
{
    const struct group_table *table = &store->table;
    size_t width = table->width;
    run->records = memory_resize(NULL, (size_t)table->count * width + 1);
    if (run->records == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < table->count && !stop_at(i); i++)
        memcpy(run->records + run->ends[parts[i]]++ * width,
               group_record(table, i), width);
    return stop_pause(error);
}

/* Records on their way to the file. */
struct writing {
    const struct group_table *table;
    const struct group_narrow *narrow; /* how they are written */
    const uint32_t *order;             /* of its records */
    uint32_t next;                     /* ... that are written next */
    uint32_t most;                     /* ... so many at once */
    uint8_t *piece;                    /* room for these, and the slack */
};

/* For spill_file_append_pieces(): the next records, side by side. */
static const void *next_piece(void *context, uint64_t *size)
{
    struct writing *writing = context;
    const struct group_table *table = writing->table;
    uint32_t count = table->count - writing->next;
    count = count < writing->most ? count : writing->most;
    for (uint32_t i = 0; i < count; i++)
        group_narrow_put(writing->narrow,
                         group_record(table, writing->order[writing->next + i]),
                         writing->piece + i * writing->narrow->width);
    writing->next += count;
    *size = count * writing->narrow->width;
    return count > 0 ? writing->piece : NULL;
}

/* Writes the records to the group's file. */
static enum vdbq_status
write_records(struct group *group, const struct group_store *store,
              const uint8_t *parts, struct group_run *run, struct error *error)
{
    const struct group_table *table = &store->table;
    uint32_t *order = memory_resize(NULL, table->count * sizeof *order);
    struct writing writing = { .table = table,
                               .narrow = &run->narrow,
                               .order = order,
                               .most =
                                   (uint32_t)(PIECE_BYTES / table->width) + 1 };
    enum vdbq_status status = VDBQ_OK;
    writing.piece =
        memory_resize(NULL, writing.most * table->width + GROUP_NARROW_SLACK);
    if (order == NULL || writing.piece == NULL
        || !group_narrow_init(&run->narrow, table))
        status = error_no_memory(error);
    for (uint32_t i = 0; status == VDBQ_OK && i < table->count; i++)
        order[run->ends[parts[i]]++] = i;
    if (status == VDBQ_OK)
        status = spill_file_append_pieces(
            &group->file,
            &(struct spill_pieces){ .piece = next_piece, .context = &writing },
            &run->offset, error);
    memory_release(order);
    memory_release(writing.piece);
    return status;
}

/* Whether a run stays in memory, beside the room for what it is merged to. */
static bool keeps_run(struct group *group, struct group_store *store)
{
    uint64_t bytes = 2 * store->table.count * (uint64_t)store->table.width;
    if (!store->shared || store->level > 0
        || !account_take(group->memory, bytes))
        return false;
    store->held_bytes += bytes;
    return true;
}

/* Makes a run of the table's records. */
static enum vdbq_status fill_run(struct group *group, struct group_store *store,
                                 struct group_run *run, struct error *error)
{
    uint8_t *parts = memory_resize(NULL, store->table.count);
    enum vdbq_status status = VDBQ_OK;
    if (parts == NULL)
        return error_no_memory(error);
    group_store_partitions(store, parts, run->ends);
    status = stop_pause(error);
    if (status == VDBQ_OK)
        status = keeps_run(group, store)
                     ? copy_records(store, parts, run, error)
                     : write_records(group, store, parts, run, error);
    memory_release(parts);
    return status;
}

enum vdbq_status group_store_flush(struct group *group,
                                   struct group_store *store,
                                   struct error *error)
{
    struct group_table *table = &store->table;
    struct group_run made = { 0 };
    if (table->count == 0)
        return VDBQ_OK;
    enum vdbq_status status = fill_run(group, store, &made, error);
    if (status == VDBQ_OK && !vector_append(&store->runs, &made, 1))
        status = error_no_memory(error);
    if (status != VDBQ_OK) {
        group_run_finish(&made);
        return status;
    }
    bool sparse = store->fill.sparse;
    if (!table->blind)
        sparse = table->count > (table->rows - store->fill.rows) / 16 * 15;
    store->fill = (struct group_fill){ .rows = table->rows,
                                       .groups_most = GROUP_LOCAL,
                                       .sparse = sparse };
    group_table_clear(table, sparse && store->runs.count % RUNS_PER_LOOK != 0);
    return VDBQ_OK;
}

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

/* ---------------------------------------------------------------- room -- */

/* Whether the second half of the groups took many more rows than the first:
 * most groups are there then, and the table should stay. */
static bool is_saturating(const struct group_store *store)
{
    const struct group_fill *fill = &store->fill;
    uint64_t first = fill->rows_half - fill->rows;
    uint64_t second = store->table.rows - fill->rows_half;
    uint32_t groups = store->table.count - fill->groups_half;
    return second * fill->groups_half > first * groups / 8 * 9;
}

/* Whether the table is too large for the caches, and does not pay. */
static bool is_full(struct group_store *store, unsigned count)
{
    struct group_fill *fill = &store->fill;
    const struct group_table *table = &store->table;
    if (fill->groups_most == 0)
        fill->groups_most = GROUP_LOCAL;
    if (fill->groups_half == 0 && table->count >= fill->groups_most / 2) {
        fill->groups_half = table->count;
        fill->rows_half = table->rows;
    }
    if (table->count + count <= fill->groups_most)
        return false;
    if (table->blind || fill->groups_most >= GROUP_LOCAL_MAX
        || !is_saturating(store))
        return true;
    fill->groups_half = table->count;
    fill->rows_half = table->rows;
    fill->groups_most *= 2;
    return false;
}

/* Takes memory for so many groups more; false: there is no more. */
static bool take_room(const struct group *group, struct group_store *store,
                      unsigned count)
{
    uint64_t groups = (uint64_t)store->table.count + count;
    uint64_t wanted =
        group_table_bytes(&store->table, count) + groups * store->beside_bytes;
    uint64_t more = wanted - store->held_bytes;
    if (wanted <= store->held_bytes)
        return true;
    if (store->stays || wanted <= account_least(group->memory)) {
        account_take_anyway(group->memory, more);
    } else if (account_take(group->memory, more + wanted / TAKE_PART)) {
        more += wanted / TAKE_PART;
    } else if (!account_take(group->memory, more)) {
        return false;
    }
    store->held_bytes += more;
    return true;
}

enum vdbq_status group_store_room(struct group *group,
                                  struct group_store *store, unsigned count,
                                  struct error *error)
{
    bool writes =
        !store->stays && store->level < GROUP_LEVELS && store->table.count > 0;
    if (writes && (store->shared || store->runs.count > 0)
        && !store->table.in_order && is_full(store, count))
        return group_store_flush(group, store, error);
    if (take_room(group, store, count) || !writes)
        return VDBQ_OK;
    return group_store_flush(group, store, error);
}
