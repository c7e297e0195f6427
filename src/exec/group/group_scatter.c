/* SPDX-License-Identifier: MIT */
/*
 * Scattering rows to partitions: see group_scatter.h. A block of rows is sorted
 * by partitions first, by counting; then each column is copied in that order, so
 * that values of a partition are written one behind the other.
 */
#include "exec/group/group_scatter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/sort/sort.h"

enum {
    BLOCK_ROWS = HOSTILE(5, 1 << 13), /* that are sorted at a time            */
    CHUNK_ROWS = HOSTILE(8, 1 << 8),  /* of a partition's first chunk; the next
                                         ones have twice as many ...          */
    CHUNK_ROWS_MAX = HOSTILE(16, 1 << 12), /* ... up to these                 */
    HEAD_BYTES = 64,                       /* of a chunk, and of a slab       */
    SLAB_BYTES = HOSTILE(1 << 10, 1 << 21), /* of the first slab; the next ones
                                               have twice as many ...         */
    SLAB_BYTES_MAX = HOSTILE(1 << 11, 1 << 25), /* ... up to these            */
    ROOM_PART = 4 /* of the memory there is: what all may scatter            */
};

struct scatter_slab {
    struct scatter_slab *next;
    size_t bytes; /* all of it */
};

/* Rows of a block on their way to the partitions. */
struct block {
    const struct batches_run *run;
    struct group_scatter *scatter;
    unsigned count;
    uint8_t partitions[BLOCK_ROWS];  /* of the rows                       */
    uint16_t order[BLOCK_ROWS];      /* rows by partitions                */
    uint16_t ends[GROUP_PARTITIONS]; /* in it, behind those of each       */
};

/* --------------------------------------------------------------- plan -- */

/* The columns that keys, arguments and filters are in; NULL: no memory. */
static bool *find_used(struct group *group)
{
    unsigned most = group->keys;
    for (unsigned i = 0; i < group->aggregate_count; i++) {
        const struct step_aggregate *step = &group->aggregates[i].step;
        int last = step->column > step->filter ? step->column : step->filter;
        most = last >= (int)most ? (unsigned)last + 1 : most;
    }
    bool *used = arena_alloc(&group->arena, most + 1);
    group->columns = most;
    for (unsigned i = 0; used != NULL && i < group->keys; i++)
        used[i] = true;
    for (unsigned i = 0; used != NULL && i < group->aggregate_count; i++) {
        const struct step_aggregate *step = &group->aggregates[i].step;
        if (step->column >= 0)
            used[step->column] = true;
        if (step->filter >= 0)
            used[step->filter] = true;
    }
    return used;
}

enum vdbq_status group_scatter_plan(struct group *group, struct error *error)
{
    const bool *used = find_used(group);
    size_t at = sizeof(uint32_t); /* behind the offset */
    group->kept =
        arena_alloc(&group->arena, (group->columns + 1) * sizeof *group->kept);
    if (used == NULL || group->kept == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < group->columns; i++) {
        int type = sort_type(group->params.columns[i].type);
        if (!used[i])
            continue;
        struct group_kept *kept = &group->kept[group->kept_count++];
        *kept = (struct group_kept){
            .column = i,
            .width = type == TYPE_I64 || type == TYPE_F64 ? 8 : 4,
            .nullable =
                group->params.nullable == NULL || group->params.nullable[i],
            .at = at
        };
        at += kept->width + kept->nullable;
    }
    group->kept_bytes = at;
    return VDBQ_OK;
}

/* ------------------------------------------------------- begin, finish -- */

bool group_scatter_pays(const struct group *group,
                        const struct group_part *part)
{
    const struct group_store *store = &part->groups;
    uint64_t rows = store->table.rows - store->fill.rows;
    return group->runs && part->scatter == NULL && !part->scatters_no_more
           && !store->table.in_order
           && store->table.count + GROUP_BLOCK >= GROUP_LOCAL
           && store->table.count > rows / 3;
}

enum vdbq_status group_scatter_begin(const struct group *group,
                                     struct group_part *part,
                                     struct error *error)
{
    part->scatter = memory_zeroed(1, sizeof *part->scatter);
    if (part->scatter == NULL)
        return error_no_memory(error);
    part->scattered = true;
    part->scatter->most_bytes =
        account_room(group->memory) / ROOM_PART / group->params.threads;
    return VDBQ_OK;
}

void group_scatter_finish(struct group *group, struct group_part *part)
{
    struct group_scatter *scatter = part->scatter;
    struct scatter_slab *next;
    if (scatter == NULL)
        return;
    for (struct scatter_slab *slab = scatter->slabs; slab != NULL;
         slab = next) {
        next = slab->next;
        memory_release(slab);
    }
    account_give(group->memory, scatter->held_bytes);
    memory_release(scatter);
    part->scatter = NULL;
}

/* -------------------------------------------------------------- chunks -- */

/* Bytes of the next slab, which has room for so many. */
static size_t slab_bytes(const struct group_scatter *scatter, size_t bytes)
{
    size_t slab =
        scatter->slabs != NULL ? 2 * scatter->slabs->bytes : (size_t)SLAB_BYTES;
    slab = slab < SLAB_BYTES_MAX ? slab : (size_t)SLAB_BYTES_MAX;
    return slab > bytes + HEAD_BYTES ? slab : bytes + HEAD_BYTES;
}

/* False: there is no memory. */
static bool add_slab(const struct group *group, struct group_scatter *scatter,
                     size_t bytes)
{
    size_t size = slab_bytes(scatter, bytes);
    if (scatter->held_bytes + size > scatter->most_bytes
        || !account_take(group->memory, size))
        return false;
    scatter->held_bytes += size;
    struct scatter_slab *slab = memory_resize(NULL, size);
    if (slab == NULL)
        return false;
    *slab = (struct scatter_slab){ scatter->slabs, size };
    scatter->slabs = slab;
    scatter->slab_left = size - HEAD_BYTES;
    return true;
}

/* Memory of the newest slab, or of a new one; NULL: there is none. */
static void *take_bytes(const struct group *group,
                        struct group_scatter *scatter, size_t bytes)
{
    if (bytes > scatter->slab_left && !add_slab(group, scatter, bytes))
        return NULL;
    uint8_t *taken =
        (uint8_t *)scatter->slabs + scatter->slabs->bytes - scatter->slab_left;
    scatter->slab_left -= bytes;
    return taken;
}

/* Gives a partition a chunk with room for so many rows. */
static bool add_chunk(const struct group *group, struct group_scatter *scatter,
                      unsigned partition, unsigned count, uint64_t number)
{
    struct scatter_chunk *last = scatter->last[partition];
    uint32_t room = last != NULL ? 2 * last->room : CHUNK_ROWS;
    room = room < CHUNK_ROWS_MAX ? room : CHUNK_ROWS_MAX;
    while (room < count)
        room *= 2;
    size_t bytes = HEAD_BYTES + (room * group->kept_bytes + 7) / 8 * 8;
    struct scatter_chunk *chunk = take_bytes(group, scatter, bytes);
    if (chunk == NULL)
        return false;
    *chunk = (struct scatter_chunk){ .number = number, .room = room };
    if (last != NULL)
        last->next = chunk;
    else
        scatter->first[partition] = chunk;
    scatter->last[partition] = chunk;
    return true;
}

/* Sees to it that the rows of a block have room in their partitions' last
 * chunks. */
static bool make_room(const struct group *group, const struct block *block,
                      uint64_t number)
{
    unsigned begin = 0;
    for (unsigned p = 0; p < GROUP_PARTITIONS; begin = block->ends[p++]) {
        const struct scatter_chunk *last = block->scatter->last[p];
        unsigned count = block->ends[p] - begin;
        bool fits = last != NULL && last->room - last->rows >= count
                    && number + BLOCK_ROWS - last->number <= UINT32_MAX;
        if (count > 0 && !fits
            && !add_chunk(group, block->scatter, p, count, number))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------- blocks -- */

/* Finds the partitions of the rows, and sorts them. */
static void sort_rows(const struct group_part *part, struct block *block)
{
    uint64_t hashes[GROUP_BLOCK];
    unsigned counts[GROUP_PARTITIONS] = { 0 }, before = 0;
    for (unsigned at = 0; at < block->count; at += GROUP_BLOCK) {
        unsigned left = block->count - at;
        unsigned count = left < GROUP_BLOCK ? left : GROUP_BLOCK;
        group_table_hash(&part->groups.table, block->run->columns,
                         block->run->start + at, count, hashes);
        for (unsigned i = 0; i < count; i++) {
            unsigned p = group_partition(hashes[i], 0);
            block->partitions[at + i] = (uint8_t)p;
            counts[p]++;
        }
    }
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        block->ends[p] = (uint16_t)before;
        before += counts[p];
    }
    for (unsigned i = 0; i < block->count; i++)
        block->order[block->ends[block->partitions[i]]++] = (uint16_t)i;
}

/* Where a chunk's next value goes of what has `width` bytes a row, `at` behind
 * the first of them. */
static void *next_value(const struct scatter_chunk *chunk, size_t at,
                        size_t width)
{
    return (uint8_t *)chunk + HEAD_BYTES + chunk->room * at
           + chunk->rows * width;
}

/* Makes scatter_<name>(): copies a column's values to the partitions' last
 * chunks. */
#define SCATTER(name, type)                                                    \
    static void scatter_##name(const struct block *block, const type *values,  \
                               size_t at)                                      \
    {                                                                          \
        unsigned i = 0;                                                        \
        for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {                      \
            unsigned end = block->ends[p];                                     \
            if (i == end)                                                      \
                continue;                                                      \
            type *to =                                                         \
                next_value(block->scatter->last[p], at, sizeof *values);       \
            for (; i < end; i++)                                               \
                *to++ = values[block->order[i]];                               \
        }                                                                      \
    }

SCATTER(u8, uint8_t)
SCATTER(u32, uint32_t)
SCATTER(u64, uint64_t)

/* Writes the numbers of the rows, from `number` on. */
static void scatter_numbers(const struct block *block, uint64_t number)
{
    unsigned i = 0;
    for (unsigned p = 0; p < GROUP_PARTITIONS; p++) {
        unsigned end = block->ends[p];
        if (i == end)
            continue;
        const struct scatter_chunk *last = block->scatter->last[p];
        uint32_t offset = (uint32_t)(number - last->number);
        uint32_t *to = next_value(last, 0, sizeof *to);
        for (; i < end; i++)
            *to++ = offset + block->order[i];
    }
}

/* Writes a column of the rows. */
static void scatter_column(const struct block *block,
                           const struct group_kept *kept)
{
    static const uint8_t no_nulls[BLOCK_ROWS];
    const struct vdbq_vector *column = &block->run->columns[kept->column];
    uint64_t start = block->run->start;
    if (kept->width == 8)
        scatter_u64(block, (const uint64_t *)column->values + start, kept->at);
    else
        scatter_u32(block, (const uint32_t *)column->values + start, kept->at);
    if (kept->nullable)
        scatter_u8(block,
                   column->nulls != NULL ? column->nulls + start : no_nulls,
                   kept->at + kept->width);
}

/* The rows are in their chunks. */
static void count_rows(const struct block *block)
{
    unsigned begin = 0;
    for (unsigned p = 0; p < GROUP_PARTITIONS; begin = block->ends[p++])
        if (block->ends[p] > begin)
            block->scatter->last[p]->rows += block->ends[p] - begin;
    block->scatter->rows += block->count;
}

uint64_t group_scatter_rows(struct group *group, struct group_part *part,
                            const struct batches_run *run)
{
    struct block block;
    uint64_t number = group->rows + run->number;
    block.run = run;
    block.scatter = part->scatter;
    block.count = run->rows < BLOCK_ROWS ? (unsigned)run->rows : BLOCK_ROWS;
    sort_rows(part, &block);
    if (!make_room(group, &block, number)) {
        bool again = block.scatter->rows >= GROUP_LOCAL;
        group_scatter_drain(group, part);
        part->scatters_no_more = !again;
        return 0;
    }
    scatter_numbers(&block, number);
    for (unsigned i = 0; i < group->kept_count; i++)
        scatter_column(&block, &group->kept[i]);
    count_rows(&block);
    return block.count;
}

/* -------------------------------------------------------------- taking -- */

uint64_t group_scatter_count(const struct group_scatter *scatter,
                             unsigned partition)
{
    uint64_t rows = 0;
    const struct scatter_chunk *chunk = scatter->first[partition];
    for (; chunk != NULL; chunk = chunk->next)
        rows += chunk->rows;
    return rows;
}

/* Shows a chunk's columns as those of the input. */
static void show_columns(const struct group *group,
                         const struct scatter_chunk *chunk,
                         struct vdbq_vector *columns)
{
    const uint8_t *values = (const uint8_t *)chunk + HEAD_BYTES;
    for (unsigned i = 0; i < group->kept_count; i++) {
        const struct group_kept *kept = &group->kept[i];
        const uint8_t *nulls = values + chunk->room * (kept->at + kept->width);
        columns[kept->column] =
            (struct vdbq_vector){ .type =
                                      group->params.columns[kept->column].type,
                                  .values = values + chunk->room * kept->at,
                                  .nulls = kept->nullable ? nulls : NULL };
    }
}

void group_scatter_take(struct group *group,
                        const struct group_scatter *scatter, unsigned partition,
                        struct group_part *part)
{
    const struct scatter_chunk *chunk = scatter->first[partition];
    struct vdbq_vector *columns =
        memory_zeroed(group->columns + 1, sizeof *columns);
    if (columns == NULL)
        part->status = error_no_memory(&part->error);
    for (; chunk != NULL && part->status == VDBQ_OK; chunk = chunk->next) {
        struct group_rows rows = {
            .columns = columns,
            .offsets = (const uint32_t *)((const uint8_t *)chunk + HEAD_BYTES),
            .number = chunk->number,
            .count = chunk->rows
        };
        show_columns(group, chunk, columns);
        group_add_rows(group, part, &rows);
    }
    memory_release(columns);
}

void group_scatter_drain(struct group *group, struct group_part *part)
{
    for (unsigned p = 0; p < GROUP_PARTITIONS && part->scatter != NULL; p++)
        group_scatter_take(group, part->scatter, p, part);
    group_scatter_finish(group, part);
}
