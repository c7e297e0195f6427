/* SPDX-License-Identifier: MIT */
/*
 * Lists rows by their partitions, and adds them there: see spill_parts.h. Threads
 * count the rows of their shares first, which tells where those of each share go in
 * the list; then they take partitions one by one.
 */
#include "exec/rows/spill_parts.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/shared_error.h"
#include "base/threads/stop.h"

/* A row is worth more than one that is only looked at: it is copied, packed and
 * written. */
enum { WORTH = 4 };

/* -------------------------------------------------------- init, finish -- */

uint64_t spill_parts_room(const struct spill_parts *parts)
{
    return (uint64_t)SPILL_PARTS_ROWS_EACH * parts->threads;
}

enum vdbq_status spill_parts_init(struct spill_parts *parts,
                                  struct spill *spill, unsigned threads,
                                  struct error *error)
{
    size_t count = spill->partitions.count;
    assert(count > 0 && count <= SPILL_PARTS_MAX);
    threads = threads < PARALLEL_THREADS_MAX ? threads : PARALLEL_THREADS_MAX;
    threads = threads < count ? threads : (unsigned)count;
    *parts = (struct spill_parts){ .spill = spill, .threads = threads };
    uint64_t room = spill_parts_room(parts);
    parts->partitions = memory_resize(NULL, room * sizeof *parts->partitions);
    parts->list = memory_resize(NULL, room * sizeof *parts->list);
    parts->places = memory_zeroed(count * threads, sizeof *parts->places);
    parts->blocks = memory_zeroed(threads, sizeof *parts->blocks);
    bool made =
        parts->partitions && parts->list && parts->places && parts->blocks;
    for (unsigned i = 0; i < threads && made; i++) {
        parts->blocks[i] = spill_make_block(spill);
        made = parts->blocks[i] != NULL;
    }
    return made ? VDBQ_OK : error_no_memory(error);
}

void spill_parts_finish(struct spill_parts *parts)
{
    for (unsigned i = 0; parts->blocks != NULL && i < parts->threads; i++)
        memory_release(parts->blocks[i]);
    memory_release(parts->partitions);
    memory_release(parts->list);
    memory_release(parts->places);
    memory_release(parts->blocks);
    *parts = (struct spill_parts){ 0 };
}

/* ---------------------------------------------------------------- list -- */

/* Rows of a slice on their way to the partitions. */
struct parting {
    const struct spill_parts *parts;
    const struct spill_slice *slice;
    uint64_t first, rows; /* of the slice: these are at hand              */
    unsigned threads;     /* that share them                              */
    atomic_uint next;     /* partition that no thread has taken yet       */
    struct shared_error failure;
};

/* Where a thread's share of the rows begins. */
static uint64_t share_start(const struct parting *parting, unsigned share)
{
    assert(share <= parting->threads);
    return parting->rows * share / parting->threads;
}

/* A thread's places, one for each partition. */
static uint32_t *places_of(const struct parting *parting, unsigned share)
{
    assert(share < parting->threads);
    return parting->parts->places
           + share * parting->parts->spill->partitions.count;
}

/* One thread's rows: how many go to each partition. */
static void count_share(void *context, unsigned share)
{
    const struct parting *parting = context;
    const struct spill_slice *slice = parting->slice;
    uint16_t *partitions = parting->parts->partitions;
    uint32_t *counts = places_of(parting, share);
    uint64_t first = share_start(parting, share);
    uint64_t end = share_start(parting, share + 1);
    slice->find(slice->context, parting->first + first, end - first,
                partitions + first);
    for (uint64_t i = first; i < end; i++)
        counts[partitions[i]]++;
}

/* Turns counts into places. */
static void make_places(const struct parting *parting)
{
    uint32_t sum = 0;
    for (unsigned p = 0; p < parting->parts->spill->partitions.count; p++)
        for (unsigned i = 0; i < parting->threads; i++) {
            uint32_t *place = places_of(parting, i) + p;
            uint32_t count = *place;
            *place = sum;
            sum += count;
        }
    assert(sum == parting->rows);
}

/* One thread's rows: lists them, in their order. Its places are then those of the
 * thread behind it. */
static void list_share(void *context, unsigned share)
{
    const struct parting *parting = context;
    const uint16_t *partitions = parting->parts->partitions;
    uint32_t *places = places_of(parting, share), *list = parting->parts->list;
    uint64_t end = share_start(parting, share + 1);
    for (uint64_t i = share_start(parting, share); i < end; i++)
        list[places[partitions[i]]++] = (uint32_t)(parting->first + i);
}

/* ----------------------------------------------------------------- add -- */

/* Where the listed rows of a partition end. */
static uint32_t end_of(const struct parting *parting, unsigned partition)
{
    return places_of(parting, parting->threads - 1)[partition];
}

/* Adds the listed rows of a partition. */
static enum vdbq_status add_partition(const struct parting *parting,
                                      unsigned partition, uint8_t **block,
                                      struct error *error)
{
    const struct spill_parts *parts = parting->parts;
    uint32_t first = partition > 0 ? end_of(parting, partition - 1) : 0;
    return spill_add_beside(
        parts->spill, partition,
        &(struct spill_rows){ .from = parting->slice->from,
                              .rows = parts->list + first,
                              .numbers = parting->slice->numbers,
                              .number = parting->slice->number,
                              .count = end_of(parting, partition) - first },
        block, error);
}

/* One thread: adds to partitions, as long as there are any. */
static void add_share(void *context, unsigned share)
{
    struct parting *parting = context;
    struct error error = { 0 };
    while (!shared_error_is_told(&parting->failure)) {
        unsigned partition = atomic_fetch_add(&parting->next, 1);
        if (partition >= parting->parts->spill->partitions.count)
            return;
        if (add_partition(parting, partition, &parting->parts->blocks[share],
                          &error)
            != VDBQ_OK)
            shared_error_tell(&parting->failure, &error);
    }
}

/* Makes room in the partitions that have listed rows. */
static enum vdbq_status make_room(const struct parting *parting,
                                  struct error *error)
{
    struct spill *spill = parting->parts->spill;
    enum vdbq_status status = VDBQ_OK;
    uint32_t before = 0;
    for (unsigned p = 0; p < spill->partitions.count && status == VDBQ_OK;
         p++) {
        if (end_of(parting, p) > before)
            status = spill_make_room(spill, p, error);
        before = end_of(parting, p);
    }
    return status;
}

/* Adds the rows at hand. */
static enum vdbq_status add_rows(struct parting *parting, struct error *error)
{
    const struct spill_parts *parts = parting->parts;
    memset(parts->places, 0,
           parts->spill->partitions.count * parting->threads
               * sizeof *parts->places);
    parallel_run(parting->threads, count_share, parting);
    make_places(parting);
    parallel_run(parting->threads, list_share, parting);
    enum vdbq_status status = make_room(parting, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(parting->threads, add_share, parting);
    return shared_error_status(&parting->failure);
}

enum vdbq_status spill_parts_add(const struct spill_parts *parts,
                                 const struct spill_slice *slice,
                                 struct error *error)
{
    uint64_t rows = slice->from->rows, room = spill_parts_room(parts);
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0, some; at < rows && status == VDBQ_OK; at += some) {
        some = rows - at < room ? rows - at : room;
        struct parting parting = { .parts = parts,
                                   .slice = slice,
                                   .first = at,
                                   .rows = some,
                                   .threads = parallel_threads(parts->threads,
                                                               some * WORTH),
                                   .failure.error = error };
        status = add_rows(&parting, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}
