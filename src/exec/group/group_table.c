/* SPDX-License-Identifier: MIT */
/*
 * A table of groups: see group_table.h. A block of rows is looked up in
 * passes (pack, hash and fetch ahead, probe), so that the memory's latency is
 * paid once for many rows.
 */
#include "exec/group/group_table.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/group/group_map.h"
#include "exec/group/group_pack.h"

enum {
    ROOM_MIN = 64,
    LINE_BYTES = 64, /* of a cache */
    SLOTS_MIN = 256,
    SLOTS_KEPT = 1 << 18 /* of a table that is cleared */
};
#define GROUPS_MAX 0xfffffffeu

/* A record that nearly fills lines of the caches takes whole ones: each then
 * begins at the same place in a line, which costs less to fetch. */
static size_t record_bytes(size_t bytes)
{
    size_t lines = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    return lines - bytes <= 8 ? lines : bytes;
}

enum vdbq_status group_table_init(struct group_table *table, const int *types,
                                  unsigned keys, size_t extra,
                                  struct error *error)
{
    unsigned unit = 0;

    *table =
        (struct group_table){ .key_count = keys, .map_most = GROUP_MAP_MAX };
    table->keys = memory_zeroed(keys + 1, sizeof *table->keys);
    if (table->keys == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < keys; i++) {
        bool wide = types[i] == TYPE_I64 || types[i] == TYPE_F64;
        table->keys[i].type = types[i];
        table->keys[i].unit = unit;
        unit += wide ? 2 : 1;
        table->hashed |= types[i] == TYPE_F32 || types[i] == TYPE_F64;
    }
    table->nulls = unit;
    table->words = (unit + (keys + 31) / 32 + 1) / 2;
    table->width = record_bytes(8 * table->words + extra);
    table->packed =
        memory_resize(NULL, (size_t)GROUP_BLOCK * 8 * (table->words + 1));
    return table->packed != NULL ? VDBQ_OK : error_no_memory(error);
}

void group_table_finish(struct group_table *table)
{
    memory_release(table->keys);
    if (!table->lent)
        memory_release(table->records);
    memory_release(table->map);
    memory_release(table->slots);
    memory_release(table->packed);
    *table = (struct group_table){ 0 };
}

/* Room for `more` records more. */
static enum vdbq_status reserve(struct group_table *table, unsigned more,
                                struct error *error)
{
    uint64_t needed = (uint64_t)table->count + more;
    uint64_t room = table->room * UINT64_C(2);
    uint8_t *moved;

    if (needed <= table->room)
        return VDBQ_OK;
    if (needed > GROUPS_MAX)
        return error_set(error, VDBQ_LIMIT, "more than %u groups", GROUPS_MAX);
    room = room < needed ? needed : room;
    room = room < ROOM_MIN ? ROOM_MIN : room > GROUPS_MAX ? GROUPS_MAX : room;
    moved =
        memory_resize(table->lent ? NULL : table->records, room * table->width);
    if (moved == NULL)
        return error_no_memory(error);
    if (table->lent)
        memcpy(moved, table->records, table->count * table->width);
    table->lent = false;
    table->records = moved;
    table->room = (uint32_t)room;
    return VDBQ_OK;
}

enum vdbq_status group_table_one(struct group_table *table, struct error *error)
{
    assert(table->key_count == 0 && table->count == 0);
    enum vdbq_status status = reserve(table, 1, error);
    if (status == VDBQ_OK)
        group_add(table, table->packed);
    return status;
}

/* ------------------------------------------------------- by hashing ------ */

/* Puts a group into the first free slot behind its hash. */
static void put_slot(struct group_slot *slots, uint64_t mask, uint64_t hash,
                     uint32_t number)
{
    assert(number != UINT32_MAX && (mask & (mask + 1)) == 0);
    uint64_t at = hash & mask;
    while (slots[at].number != 0)
        at = (at + 1) & mask;
    slots[at] = (struct group_slot){ (uint32_t)(hash >> 32), number + 1 };
}

/* How many slots there are to be for `more` groups more: at most half of them
 * are taken. */
static uint64_t slots_for(const struct group_table *table, unsigned more)
{
    uint64_t needed = 2 * ((uint64_t)table->count + more);
    uint64_t size = table->slots != NULL ? table->slot_mask + 1 : SLOTS_MIN;
    while (size < needed)
        size *= 4;
    return size;
}

uint64_t group_table_bytes(const struct group_table *table, unsigned more)
{
    uint64_t before = table->slots != NULL ? table->slot_mask + 1 : 0;
    uint64_t slots = before;
    /* both, while groups are moved; the map may be given up at any time */
    if (!table->blind && !table->in_order && slots_for(table, more) > before)
        slots += slots_for(table, more);
    return ((uint64_t)table->count + more) * table->width
           + slots * sizeof *table->slots
           + table->map_size * sizeof *table->map;
}

size_t group_table_bytes_each(const struct group_table *table)
{
    return 2 * table->width + 10 * sizeof *table->slots;
}

/* Makes slots for `more` groups more. */
static enum vdbq_status reserve_slots(struct group_table *table, unsigned more,
                                      struct error *error)
{
    uint64_t size = slots_for(table, more);
    struct group_slot *slots;

    if (table->slots != NULL && size == table->slot_mask + 1)
        return VDBQ_OK;
    slots = memory_zeroed(size, sizeof *slots);
    if (slots == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < table->count && !stop_at(i); i++) {
        const uint64_t *packed = (const uint64_t *)group_record(table, i);
        put_slot(slots, size - 1, pack_hash(packed, table->words), i);
    }
    memory_release(table->slots);
    table->slots = slots;
    table->slot_mask = size - 1;
    return stop_pause(error);
}

/* Whether the group has these keys, bit by bit. */
static bool is_group(const struct group_table *table, uint32_t number,
                     const uint64_t *packed)
{
    const uint64_t *record = (const uint64_t *)group_record(table, number);
    if (record[0] != packed[0])
        return false;
    if (table->words <= 2)
        return record[table->words - 1] == packed[table->words - 1];
    return memcmp(record, packed, 8 * table->words) == 0;
}

/* Walks the slots from the hash on; a free one becomes the new group's. */
static uint32_t probe(struct group_table *table, const uint64_t *packed,
                      uint64_t hash)
{
    uint64_t at = hash & table->slot_mask;
    uint32_t tag = (uint32_t)(hash >> 32);

    for (;; at = (at + 1) & table->slot_mask) {
        struct group_slot *slot = &table->slots[at];
        if (slot->number == 0) {
            *slot = (struct group_slot){ tag, group_add(table, packed) + 1 };
            return slot->number - 1;
        }
        if (slot->tag == tag && is_group(table, slot->number - 1, packed))
            return slot->number - 1;
    }
}

/* Asks for slots and records early, for they are far away in a large table. */
static void find_by_hash(struct group_table *table, const uint64_t *packed,
                         unsigned count, uint32_t *numbers)
{
    assert(table->slots != NULL
           && table->count + count <= table->slot_mask + 1);
    uint64_t *hashes = table->packed + (size_t)GROUP_BLOCK * table->words;
    bool far = table->count > 4 * GROUP_BLOCK;

    for (unsigned i = 0; i < count; i++) {
        hashes[i] = pack_hash(packed + (size_t)i * table->words, table->words);
        if (far)
            __builtin_prefetch(&table->slots[hashes[i] & table->slot_mask]);
    }
    for (unsigned i = 0; far && i < count; i++) {
        uint32_t number = table->slots[hashes[i] & table->slot_mask].number;
        if (number != 0)
            __builtin_prefetch(group_record(table, number - 1));
    }
    for (unsigned i = 0; i < count; i++)
        numbers[i] = probe(table, packed + (size_t)i * table->words, hashes[i]);
}

/* ------------------------------------------------------------ finding ---- */

/* A group for each row. */
static void make_each(struct group_table *table, const uint64_t *packed,
                      unsigned count, uint32_t *numbers)
{
    for (unsigned i = 0; i < count; i++)
        numbers[i] = group_add(table, packed + (size_t)i * table->words);
}

/* Whether a row is of the last group. */
static bool is_last_group(const struct group_table *table,
                          const uint64_t *packed)
{
    return table->count > 0 && is_group(table, table->count - 1, packed);
}

/* Rows of one group are neighbours. */
static void find_in_order(struct group_table *table, const uint64_t *packed,
                          unsigned count, uint32_t *numbers)
{
    for (unsigned i = 0; i < count; i++, packed += table->words)
        numbers[i] = is_last_group(table, packed) ? table->count - 1
                                                  : group_add(table, packed);
}

/* Looks up packed keys by map while their range is small, else by hash. */
static enum vdbq_status find(struct group_table *table, const uint64_t *packed,
                             unsigned count, uint64_t coming, uint32_t *numbers,
                             struct error *error)
{
    enum vdbq_status status = reserve(table, count, error);

    if (status == VDBQ_OK && !table->hashed
        && group_map_widen(table, packed, count))
        status = group_map_make(table, coming + count, error);
    if (status == VDBQ_OK && table->hashed && !table->blind && !table->in_order)
        status = reserve_slots(table, count, error);
    if (status != VDBQ_OK)
        return status;
    if (table->in_order)
        find_in_order(table, packed, count, numbers);
    else if (table->blind)
        make_each(table, packed, count, numbers);
    else if (table->hashed)
        find_by_hash(table, packed, count, numbers);
    else
        group_map_find(table, packed, count, numbers);
    assert(table->count <= table->room);
    table->rows += count;
    return VDBQ_OK;
}

/* Packs the keys of rows. */
static void pack(const struct group_table *table,
                 const struct vdbq_vector *columns, uint64_t start,
                 unsigned count)
{
    pack_unit *units = (pack_unit *)table->packed;
    memset(units, 0, (size_t)count * table->words * 8);
    for (unsigned k = 0; k < table->key_count; k++) {
        const struct group_key *key = &table->keys[k];
        const struct pack_place place = { key->type, table->words * 2,
                                          key->unit, table->nulls + k / 32,
                                          k % 32 };
        pack_column(&columns[k], start, count, &place, units);
    }
}

void group_table_hash(const struct group_table *table,
                      const struct vdbq_vector *columns, uint64_t start,
                      unsigned count, uint64_t *hashes)
{
    assert(count <= GROUP_BLOCK);
    pack(table, columns, start, count);
    for (unsigned i = 0; i < count; i++)
        hashes[i] =
            pack_hash(table->packed + (size_t)i * table->words, table->words);
}

enum vdbq_status group_table_find(struct group_table *table,
                                  const struct vdbq_vector *columns,
                                  uint64_t start, unsigned count,
                                  uint64_t coming, uint32_t *numbers,
                                  struct error *error)
{
    assert(count <= GROUP_BLOCK);
    uint32_t made = table->count;

    if (table->settled && table->map != NULL
        && group_map_known(table, columns, start, count, numbers)) {
        table->rows += count;
        return VDBQ_OK;
    }
    pack(table, columns, start, count);
    enum vdbq_status status =
        find(table, table->packed, count, coming, numbers, error);
    table->settled = status == VDBQ_OK && table->count == made;
    return status;
}

enum vdbq_status group_table_join(struct group_table *table,
                                  const uint8_t *records, unsigned count,
                                  uint64_t coming, uint32_t *numbers,
                                  struct error *error)
{
    assert(count <= GROUP_BLOCK);
    for (unsigned i = 0; i < count; i++)
        memcpy(table->packed + (size_t)i * table->words,
               records + i * table->width, 8 * table->words);
    return find(table, table->packed, count, coming, numbers, error);
}

void group_table_lend(struct group_table *table, uint8_t *records,
                      uint32_t room)
{
    assert(table->count == 0 && table->records == NULL);
    group_table_clear(table, false);
    table->records = records;
    table->room = room;
    table->lent = true;
}

void group_table_clear(struct group_table *table, bool blind)
{
    if (!table->hashed)
        group_map_drop(table);
    if (table->slots != NULL && table->slot_mask >= SLOTS_KEPT) {
        memory_release(table->slots);
        table->slots = NULL;
        table->slot_mask = 0;
    }
    if (table->slots != NULL && !table->blind)
        memset(table->slots, 0, (table->slot_mask + 1) * sizeof *table->slots);
    table->count = 0;
    table->blind = blind;
    table->in_order = false;
}

void group_table_in_order(struct group_table *table)
{
    assert(table->count == 0 && table->slots == NULL);
    if (!table->hashed)
        group_map_drop(table);
    table->in_order = true;
}

void group_table_pass(struct group_table *from, struct group_table *to)
{
    assert(from->hashed && to->hashed && from->words == to->words);
    assert(to->count == 0 && to->slots == NULL && from->packed != NULL);
    memory_release(to->packed);
    to->packed = from->packed;
    to->slots = from->slots;
    to->slot_mask = from->slot_mask;
    from->packed = NULL;
    from->slots = NULL;
    if (to->slots != NULL)
        memset(to->slots, 0, (to->slot_mask + 1) * sizeof *to->slots);
}

bool group_table_key(const struct group_table *table, unsigned key,
                     const uint8_t *const *records, unsigned count,
                     void *values, uint8_t *nulls)
{
    assert(key < table->key_count);
    unsigned unit = table->keys[key].unit, any = 0;
    unsigned width =
        table->keys[key].type == TYPE_I64 || table->keys[key].type == TYPE_F64
            ? 8
            : 4;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *record = records[i];
        if (width == 8)
            memcpy((uint8_t *)values + (size_t)i * 8, record + 4 * unit, 8);
        else
            memcpy((uint8_t *)values + (size_t)i * 4, record + 4 * unit, 4);
        nulls[i] = group_is_null(table, key, (const uint64_t *)record);
        any |= nulls[i];
    }
    return any != 0;
}
