/* SPDX-License-Identifier: MIT */
/*
 * Looks rows up in an index of keys, a block at once: what a row needs is
 * fetched while others are looked at.
 */
#include "exec/join/join_index.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"

enum { PROBES = 64 }; /* that are on their way at once */

/* --------------------------------------------------------------- dense -- */

PARALLEL_CLONES
static void dense_rows(const uint32_t *rows, uint32_t tags,
                       const uint32_t *wanted, unsigned count, uint32_t *starts,
                       uint32_t *counts)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t tag = wanted[i] < tags ? wanted[i] : tags;
        uint32_t row = rows[tag];
        starts[i] = row;
        counts[i] = row != ROW_SET_NO_ROW;
    }
}

PARALLEL_CLONES
static void dense_bits(const uint64_t *bits, uint32_t tags,
                       const uint32_t *wanted, unsigned count, uint32_t *starts,
                       uint32_t *counts)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t tag = wanted[i] < tags ? wanted[i] : tags;
        counts[i] = bits[tag / 64] >> tag % 64 & 1;
        starts[i] = counts[i] - 1; /* ROW_SET_NO_ROW, or row 0 for any */
    }
}

PARALLEL_CLONES
static void dense_groups(const uint32_t *places, uint32_t tags,
                         const uint32_t *wanted, unsigned count,
                         uint32_t *starts, uint32_t *counts)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t tag = wanted[i] < tags ? wanted[i] : tags;
        starts[i] = places[tag];
        counts[i] = places[tag + 1] - places[tag];
    }
}

/* ---------------------------------------------------------------- slots -- */

/* What is sought: row `row` of the asking side, its tag and first slot. */
struct probe {
    uint64_t row;                  /* that asks */
    const struct join_slot *slots; /* of its partition */
    uint32_t mask, at, tag;        /* of the partition's slots */
};

/* Where the search for a row begins; the caller may prefetch it. */
static inline struct probe begin(const struct join_index *index, uint64_t row,
                                 uint32_t tag)
{
    assert(index->slots != NULL && index->partitions != NULL);
    uint64_t hash = hash_number(tag);
    const struct join_index_partition *partition =
        &index->partitions[join_tag_partition(hash, index->partition_bits)];
    return (struct probe){ .row = row,
                           .slots = index->slots + partition->first,
                           .mask = partition->mask,
                           .at = (uint32_t)hash & partition->mask,
                           .tag = tag };
}

/* Whether the row of a slot equals the row that is sought. */
static bool same(const struct join_index *index, uint32_t place, uint64_t row)
{
    assert(index->list == NULL || index->starts != NULL);
    const struct join_keys *keys = index->keys;
    uint32_t indexed =
        index->list != NULL ? index->list[index->starts[place]] : place;
    return join_keys_same(keys, indexed, keys->asking, row);
}

/* The place in its slot, or none. */
static inline uint32_t end(const struct join_index *index,
                           const struct probe *probe)
{
    uint32_t at = probe->at;
    for (;; at = (at + 1) & probe->mask) {
        const struct join_slot *slot = &probe->slots[at];
        if (slot->place == ROW_SET_NO_ROW)
            return ROW_SET_NO_ROW;
        if (slot->tag == probe->tag
            && (index->keys->exact || same(index, slot->place, probe->row)))
            return slot->place;
    }
}

/* The places of some rows in slots; `rows` has their numbers from `first` on. */
static void find_some(const struct join_index *index, uint64_t first,
                      const uint32_t *tags, const uint16_t *rows,
                      unsigned count, uint32_t *places)
{
    struct probe probes[PROBES];
    assert(count <= PROBES);
    for (unsigned i = 0; i < count; i++) {
        probes[i] = begin(index, first + rows[i], tags[rows[i]]);
        __builtin_prefetch(&probes[i].slots[probes[i].at]);
    }
    for (unsigned i = 0; i < count; i++)
        if (probes[i].tag != JOIN_NO_TAG)
            places[rows[i]] = end(index, &probes[i]);
}

/* The places of rows in slots, of those that pass the sieve. */
static void find_slots(const struct join_index *index, uint64_t first,
                       const uint32_t *tags, unsigned count, uint32_t *places)
{
    uint16_t rows[JOIN_BLOCK];
    unsigned kept = join_sieve_keep(&index->sieve, tags, count, rows);
    memset(places, 0xff, count * sizeof *places); /* ROW_SET_NO_ROW */
    for (unsigned from = 0; from < kept; from += PROBES)
        find_some(index, first, tags, rows + from,
                  kept - from < PROBES ? kept - from : PROBES, places);
}

/* From places in `starts` to the rows of groups. */
static void find_groups(const struct join_index *index, unsigned count,
                        uint32_t *starts, uint32_t *counts)
{
    assert(index->starts != NULL);
    for (unsigned i = 0; i < count; i++) {
        uint32_t place = starts[i];
        counts[i] = 0;
        if (place == ROW_SET_NO_ROW)
            continue;
        starts[i] = index->starts[place];
        counts[i] = index->starts[place + 1] - starts[i];
    }
}

void join_index_find(const struct join_index *index, uint64_t first,
                     unsigned rows, uint32_t *starts, uint32_t *counts)
{
    assert(rows <= JOIN_BLOCK);
    uint32_t tags[JOIN_BLOCK];
    join_tags_asking(index->keys, first, rows, tags);
    if (index->counted != NULL) {
        key_counts_find(index->counted, tags, rows, starts, counts);
        return;
    }
    if (index->bits != NULL) {
        dense_bits(index->bits, (uint32_t)index->keys->tags, tags, rows, starts,
                   counts);
        return;
    }
    if (index->dense) {
        (index->unique ? dense_rows : dense_groups)(index->starts,
                                                    (uint32_t)index->keys->tags,
                                                    tags, rows, starts, counts);
        return;
    }
    find_slots(index, first, tags, rows, starts);
    if (index->unique)
        for (unsigned i = 0; i < rows; i++)
            counts[i] = starts[i] != ROW_SET_NO_ROW;
    else
        find_groups(index, rows, starts, counts);
}
