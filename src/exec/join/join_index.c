/* SPDX-License-Identifier: MIT */
/*
 * Makes the index: see join_index.h. Rows are first brought into partitions, in
 * their order. A partition is so small that its share of the index stays in a
 * processor's cache; threads take the partitions one by one. Unique keys, which
 * most joins have on one side, are tried first; the first row that equals
 * another one ends that, and rows of a key are counted and listed.
 */
#include "exec/join/join_index.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/join/join_direct.h"

enum {
    PARTITION_ROWS = 1 << 14, /* about how many a partition has            */
    PARTITION_BITS_MAX = 9,
    DENSE_TAGS = 4, /* tags that a dense index may have for each row  */
    DENSE_TAGS_MIN = 1 << 10
};

/* A row on its way into the index. */
struct entry {
    uint32_t tag; /* later on, the number of its group in the partition */
    uint32_t row; /* of the right side */
};

struct building {
    struct join_index *index;               /* that is built */
    const struct join_index_params *params; /* of the caller */
    /* partitions of the tags, and threads that fill them */
    unsigned partition_count, threads;
    unsigned tag_shift; /* dense: partition of a tag       */
    uint64_t *places;   /* of each partition, of each thread: where its next
                               row goes                                    */
    uint64_t *partition_starts; /* of the entries; one more than partitions */
    struct entry *entries;      /* of all partitions, one behind another */
    atomic_uint next_partition; /* that no thread has taken yet */
    atomic_bool repeated; /* keys are not unique                         */
    bool lists;           /* so rows of a key are listed                 */
};

/* ------------------------------------------------------------- parting -- */

/* The partition of a tag. */
static inline unsigned part_of(const struct building *building, uint32_t tag)
{
    return building->index->dense
               ? tag >> building->tag_shift
               : join_tag_partition(hash_number(tag),
                                    building->index->partition_bits);
}

/* One thread's rows: how many go into each partition. */
static void count_share(void *context, unsigned share)
{
    struct building *building = context;
    uint64_t rows = building->params->rows;
    uint64_t end = rows * (share + 1) / building->threads;
    uint64_t *counts = building->places + share;
    uint64_t since = 0;
    uint32_t tags[JOIN_BLOCK];
    for (uint64_t at = rows * share / building->threads; at < end;) {
        unsigned count =
            join_tags_indexed(building->params->keys, at, end, tags);
        for (unsigned i = 0; i < count; i++)
            if (tags[i] != JOIN_NO_TAG)
                counts[part_of(building, tags[i]) * building->threads]++;
        at += count;
        if (stop_after(&since, count))
            return;
    }
}

/* One thread's rows: puts each into its partition, in order. */
static void part_share(void *context, unsigned share)
{
    struct building *building = context;
    uint64_t rows = building->params->rows;
    uint64_t end = rows * (share + 1) / building->threads;
    uint64_t *places = building->places + share, since = 0;
    uint32_t tags[JOIN_BLOCK];
    for (uint64_t at = rows * share / building->threads; at < end;) {
        unsigned count =
            join_tags_indexed(building->params->keys, at, end, tags);
        for (unsigned i = 0; i < count; i++) {
            if (tags[i] == JOIN_NO_TAG)
                continue;
            uint64_t *place =
                &places[part_of(building, tags[i]) * building->threads];
            building->entries[(*place)++] =
                (struct entry){ tags[i], (uint32_t)(at + i) };
        }
        at += count;
        if (stop_after(&since, count))
            return;
    }
}

/* Turns counts into places. */
static void make_places(struct building *building)
{
    uint64_t sum = 0;
    for (unsigned partition = 0; partition < building->partition_count;
         partition++) {
        building->partition_starts[partition] = sum;
        for (unsigned i = 0; i < building->threads; i++) {
            uint64_t *place =
                &building->places[partition * building->threads + i];
            uint64_t count = *place;
            *place = sum;
            sum += count;
        }
    }
    building->partition_starts[building->partition_count] = sum;
    assert(sum <= building->params->rows);
}

/* Brings all rows into partitions. */
static enum vdbq_status part_rows(struct building *building,
                                  struct error *error)
{
    building->places =
        memory_zeroed((size_t)building->partition_count * building->threads,
                      sizeof *building->places);
    building->partition_starts = memory_zeroed(
        building->partition_count + 1, sizeof *building->partition_starts);
    building->entries =
        memory_spread(NULL, building->params->rows * sizeof(struct entry));
    if (!building->places || !building->partition_starts || !building->entries)
        return error_no_memory(error);
    parallel_run(building->threads, count_share, building);
    if (stop_asked())
        return error_cancelled(error); /* not all were counted */
    make_places(building);
    parallel_run(building->threads, part_share, building);
    return stop_pause(error);
}

/* --------------------------------------------------------------- dense -- */

/* The tags of a partition; the last one has the tag that no row has, too. */
static uint64_t partition_tags_first(const struct building *building,
                                     unsigned partition)
{
    uint64_t tags = building->params->keys->tags + 1;
    uint64_t first = (uint64_t)partition << building->tag_shift;
    return partition < building->partition_count && first < tags ? first : tags;
}

/* One row a tag: a second one says that keys repeat. */
static void dense_unique(struct building *building, unsigned partition)
{
    uint32_t *rows = building->index->starts;
    bool repeated = false;
    for (uint64_t i = partition_tags_first(building, partition),
                  end = partition_tags_first(building, partition + 1);
         i < end; i++)
        rows[i] = ROW_SET_NO_ROW;
    for (uint64_t i = building->partition_starts[partition];
         i < building->partition_starts[partition + 1]; i++) {
        const struct entry *entry = &building->entries[i];
        repeated |= rows[entry->tag] != ROW_SET_NO_ROW;
        rows[entry->tag] = entry->row;
    }
    if (repeated && !building->index->once)
        atomic_store(&building->repeated, true);
}

/* Several rows a tag: they are listed in order. */
static void dense_list(struct building *building, unsigned partition)
{
    uint32_t *starts = building->index->starts;
    uint64_t low = partition_tags_first(building, partition);
    uint64_t high = partition_tags_first(building, partition + 1);
    uint64_t first = building->partition_starts[partition];
    uint64_t end = building->partition_starts[partition + 1];
    uint32_t sum = (uint32_t)end;
    memset(starts + low, 0, (high - low) * sizeof *starts);
    for (uint64_t i = first; i < end; i++)
        starts[building->entries[i].tag]++;
    for (uint64_t tag = high; tag-- > low;) { /* the ends, less their rows */
        sum -= starts[tag];
        starts[tag] = sum + starts[tag];
    }
    for (uint64_t i = end; i-- > first;) {
        const struct entry *entry = &building->entries[i];
        building->index->list[--starts[entry->tag]] = entry->row;
    }
}

/* ---------------------------------------------------------------- slots -- */

/* Where the search for a hash begins. */
static inline uint32_t slot_of(uint64_t hash, uint32_t mask)
{
    assert((mask & (mask + 1)) == 0);
    return (uint32_t)hash & mask;
}

/* The slot of a tag: the first free one, or one that has the tag and whose
 * row, or first row of the group, equals that of the entry. `rows` has first
 * rows by places; NULL: places are rows. */
static struct join_slot *seek(const struct join_index *index,
                              const struct join_index_partition *partition,
                              const struct entry *entry, const uint32_t *rows)
{
    const struct join_keys *keys = index->keys;
    uint32_t at = slot_of(hash_number(entry->tag), partition->mask);
    for (;; at = (at + 1) & partition->mask) {
        struct join_slot *slot = &index->slots[partition->first + at];
        if (slot->place == ROW_SET_NO_ROW)
            return slot;
        if (slot->tag != entry->tag)
            continue;
        uint32_t row = rows != NULL ? rows[slot->place] : slot->place;
        if (keys->exact || join_keys_same(keys, row, keys->indexed, entry->row))
            return slot;
    }
}

/* Marks all slots of a partition as free, and lets its tags through to them. */
static void clear_slots(const struct building *building, unsigned number)
{
    struct join_index *index = building->index;
    const struct join_index_partition *partition = &index->partitions[number];
    memset(&index->slots[partition->first], 0xff, /* ROW_SET_NO_ROW */
           ((uint64_t)partition->mask + 1) * sizeof *index->slots);
    for (uint64_t i = building->partition_starts[number];
         i < building->partition_starts[number + 1]; i++)
        join_sieve_add(&index->sieve, building->entries[i].tag);
}

/* One row a key; `once` keeps the first row of each. */
static void slots_unique(struct building *building, unsigned number)
{
    struct join_index *index = building->index;
    const struct join_index_partition *partition = &index->partitions[number];
    clear_slots(building, number);
    for (uint64_t i = building->partition_starts[number];
         i < building->partition_starts[number + 1] && !stop_at(i); i++) {
        const struct entry *entry = &building->entries[i];
        struct join_slot *slot = seek(index, partition, entry, NULL);
        bool repeated = slot->place != ROW_SET_NO_ROW;
        if (repeated && !index->once) {
            atomic_store(&building->repeated, true);
            return;
        }
        if (!repeated)
            *slot = (struct join_slot){ entry->tag, entry->row };
    }
}

/* Numbers the groups of a partition, in the order of their first rows, which go
 * into `list` until that gets all rows, and counts their rows. */
static uint32_t number_groups(struct building *building, unsigned number)
{
    struct join_index *index = building->index;
    uint64_t first = building->partition_starts[number];
    uint32_t groups = 0;
    for (uint64_t i = first;
         i < building->partition_starts[number + 1] && !stop_at(i); i++) {
        struct entry *entry = &building->entries[i];
        struct join_slot *slot =
            seek(index, &index->partitions[number], entry, index->list);
        if (slot->place == ROW_SET_NO_ROW) {
            *slot =
                (struct join_slot){ entry->tag, (uint32_t)(first + groups) };
            index->list[first + groups] = entry->row;
            index->starts[first + groups++] = 0;
        }
        index->starts[slot->place]++;
        entry->tag = slot->place;
    }
    return groups;
}

/* Several rows a key: counts them, then lists them in order. */
static void slots_list(struct building *building, unsigned number)
{
    struct join_index *index = building->index;
    uint64_t first = building->partition_starts[number];
    uint64_t end = building->partition_starts[number + 1];
    uint32_t *starts = index->starts + first;
    uint32_t sum = (uint32_t)first;
    clear_slots(building, number);
    uint32_t groups = number_groups(building, number);
    if (stop_asked())
        return; /* some entries have no number of a group */
    for (uint32_t i = 0; i < groups; i++)
        starts[i] = sum += starts[i];
    if (groups < end - first) /* else it is the next partition's first start */
        starts[groups] = (uint32_t)end;
    for (uint64_t i = end; i-- > first;) {
        const struct entry *entry = &building->entries[i];
        index->list[--index->starts[entry->tag]] = entry->row;
    }
}

/* ---------------------------------------------------------------- build -- */

/* Each thread takes the next partition until all are built. */
static void build_share(void *context, unsigned share)
{
    struct building *building = context;
    bool dense = building->index->dense;
    (void)share;
    for (;;) {
        unsigned partition = atomic_fetch_add(&building->next_partition, 1);
        if (partition >= building->partition_count || stop_asked()
            || (!building->lists && atomic_load(&building->repeated)))
            return;
        if (building->lists)
            (dense ? dense_list : slots_list)(building, partition);
        else
            (dense ? dense_unique : slots_unique)(building, partition);
    }
}

/* Fills all partitions, with a row a key or with lists. */
static void build_parts(struct building *building, bool lists)
{
    assert(building->partition_starts != NULL);
    building->lists = lists;
    atomic_store(&building->next_partition, 0);
    parallel_run(building->threads, build_share, building);
}

/* The slots of all partitions: half or more are free. */
static enum vdbq_status make_slots(struct building *building,
                                   struct error *error)
{
    struct join_index *index = building->index;
    uint64_t sum = 0;
    index->partitions =
        memory_zeroed(building->partition_count, sizeof *index->partitions);
    if (index->partitions == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < building->partition_count; i++) {
        uint64_t rows =
            building->partition_starts[i + 1] - building->partition_starts[i];
        uint64_t slots = 4;
        while (slots < rows + rows / 2 && slots < UINT32_MAX)
            slots *= 2;
        assert(building->partition_starts[i]
               <= building->partition_starts[i + 1]);
        index->partitions[i] =
            (struct join_index_partition){ .first = sum,
                                           .mask = (uint32_t)(slots - 1) };
        sum += slots;
    }
    index->slots = memory_spread(NULL, sum * sizeof *index->slots);
    return index->slots != NULL
               ? join_sieve_init(&index->sieve, building->params->rows, error)
               : error_no_memory(error);
}

/* Makes room for where lists start. */
static enum vdbq_status make_starts(struct join_index *index, uint64_t count,
                                    struct error *error)
{
    memory_release(index->starts);
    index->starts = memory_spread(NULL, count * sizeof *index->starts);
    return index->starts != NULL ? VDBQ_OK : error_no_memory(error);
}

/* Lists the rows of each key, after it was seen that they are several. */
static enum vdbq_status build_lists(struct building *building,
                                    struct error *error)
{
    struct join_index *index = building->index;
    uint64_t rows = building->partition_starts[building->partition_count];
    enum vdbq_status status = VDBQ_OK;
    index->unique = false;
    index->list = memory_spread(NULL, rows * sizeof *index->list);
    if (index->list == NULL)
        return error_no_memory(error);
    if (!index->dense)
        status = make_starts(index, rows + 1, error);
    if (status != VDBQ_OK)
        return status;
    build_parts(building, true);
    index->starts[index->dense ? index->keys->tags + 1 : rows] = (uint32_t)rows;
    return stop_pause(error);
}

/* Drops what is of no use where keys are not unique. */
static void drop_direct(struct join_index *index)
{
    memory_release(index->starts);
    memory_release(index->bits);
    index->starts = NULL;
    index->bits = NULL;
}

/* Tries the index with one row a key first; keys that repeat need lists. */
static enum vdbq_status build(struct building *building, struct error *error)
{
    struct join_index *index = building->index;
    const struct join_index_params *params = building->params;
    bool direct = join_direct_pays(index, building->threads), unique = false;
    enum vdbq_status status = VDBQ_OK;
    if (direct)
        status = join_direct(index, params->which, params->rows,
                             building->threads, &unique, error);
    if (status != VDBQ_OK || unique)
        return status;
    drop_direct(index);
    status = part_rows(building, error);
    if (status != VDBQ_OK)
        return status;
    status = index->dense ? make_starts(index, index->keys->tags + 2, error)
                          : make_slots(building, error);
    if (status != VDBQ_OK)
        return status;
    if (!direct)
        build_parts(building, false);
    return direct || atomic_load(&building->repeated)
               ? build_lists(building, error)
               : stop_pause(error);
}

/* How rows are parted. */
static void choose_parts(struct building *building)
{
    struct join_index *index = building->index;
    const struct join_index_params *params = building->params;
    unsigned bits = 0;
    while (bits < PARTITION_BITS_MAX && params->rows >> bits > PARTITION_ROWS)
        bits++;
    index->partition_bits = bits;
    building->partition_count = 1u << bits;
    while (index->dense && params->keys->tags >> building->tag_shift >> bits)
        building->tag_shift++;
}

enum vdbq_status join_index_init(struct join_index *index,
                                 const struct join_index_params *params,
                                 struct error *error)
{
    const struct join_keys *keys = params->keys;
    assert(params->rows <= ROW_SET_ROWS_MAX && keys->count > 0);
    if (params->counted != NULL) {
        assert(!params->which && keys->exact);
        *index = (struct join_index){ .keys = keys,
                                      .unique = params->counted->bits != NULL,
                                      .counted = params->counted };
        return VDBQ_OK;
    }
    struct building building = {
        .index = index,
        .params = params,
        .threads = parallel_threads(params->threads, params->rows),
    };
    *index = (struct join_index){
        .keys = keys,
        .dense = keys->exact
                 && keys->tags <= params->rows * DENSE_TAGS + DENSE_TAGS_MIN,
        .once = params->once,
        .unique = true,
    };
    choose_parts(&building);
    enum vdbq_status status = build(&building, error);
    memory_release(building.places);
    memory_release(building.partition_starts);
    memory_release(building.entries);
    return status;
}

void join_index_finish(struct join_index *index)
{
    drop_direct(index);
    memory_release(index->list);
    memory_release(index->slots);
    memory_release(index->partitions);
    join_sieve_finish(&index->sieve);
    *index = (struct join_index){ 0 };
}
