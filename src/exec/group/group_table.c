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
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/group/group_pack.h"

enum {
    ROOM_MIN = 64,
    LINE_BYTES = 64, /* of a cache */
    SLOTS_MIN = 256,
    SLOTS_KEPT = 1 << 18, /* of a table that is cleared */
    MAP_MIN = 1 << 16,
    MAP_MAX = 1 << 26
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

    *table = (struct group_table){ .key_count = keys, .map_most = MAP_MAX };
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

/* A new group; there is room. */
static uint32_t add_group(struct group_table *table, const uint64_t *packed)
{
    uint8_t *record = group_record(table, table->count);
    memset(record, 0, table->width);
    memcpy(record, packed, 8 * table->words);
    return table->count++;
}

enum vdbq_status group_table_one(struct group_table *table, struct error *error)
{
    assert(table->key_count == 0 && table->count == 0);
    enum vdbq_status status = reserve(table, 1, error);
    if (status == VDBQ_OK)
        add_group(table, table->packed);
    return status;
}

/* ------------------------------------------------------- by a map -------- */

/* Whether this key of the packed keys is NULL. */
static bool is_null(const struct group_table *table, unsigned key,
                    const uint64_t *packed)
{
    assert(key < table->key_count);
    const pack_unit *units = (const pack_unit *)packed;
    return units[table->nulls + key / 32] >> (key % 32) & 1;
}

/* An integer key of packed keys, widened to 64 bits. */
static int64_t integer_of(const struct group_key *key, const uint64_t *packed)
{
    assert(key->type == TYPE_I64 || key->type == TYPE_I32);
    const pack_unit *units = (const pack_unit *)packed + key->unit;
    int64_t value;

    if (key->type != TYPE_I64)
        return (int32_t)units[0];
    memcpy(&value, units, sizeof value);
    return value;
}

/* The range of a key of 32 bits; its units are as those of add_places(). */
PARALLEL_CLONES
static void narrow_range(const pack_unit *keys, const pack_unit *nulls,
                         unsigned bit, unsigned step, unsigned count,
                         int64_t *low, int64_t *high)
{
    int32_t least = INT32_MAX, greatest = INT32_MIN;
    unsigned values = 0;
    for (unsigned i = 0; i < count; i++) {
        int32_t value = (int32_t)keys[i * step];
        bool null = nulls[i * step] >> bit & 1;
        int32_t less = null ? INT32_MAX : value;
        int32_t more = null ? INT32_MIN : value;
        least = less < least ? less : least;
        greatest = more > greatest ? more : greatest;
        values += !null;
    }
    if (values == 0)
        return;
    *low = least;
    *high = greatest;
}

/* The range of a key's values in the packed rows, NULLs left out. */
static void key_range(const struct group_table *table, unsigned key,
                      const uint64_t *packed, unsigned count, int64_t *low,
                      int64_t *high)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    if (table->words == 1 && table->key_count == 1) {
        pack_range(packed, count, low, high);
        return;
    }
    if (table->keys[key].type != TYPE_I64) {
        const pack_unit *units = (const pack_unit *)packed;
        narrow_range(units + table->keys[key].unit,
                     units + table->nulls + key / 32, key % 32,
                     table->words * 2, count, low, high);
        return;
    }
    for (unsigned i = 0; i < count; i++, packed += table->words) {
        int64_t value = integer_of(&table->keys[key], packed);
        if (is_null(table, key, packed))
            continue;
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

/* Takes the packed rows' values into the ranges of keys and, where they are
 * out of those of the map, gives it new ones; false: they hold. */
static bool widen(struct group_table *table, const uint64_t *packed,
                  unsigned count)
{
    bool wider = false;
    for (unsigned k = 0; k < table->key_count; k++) {
        struct group_key *key = &table->keys[k];
        int64_t low, high;
        key_range(table, k, packed, count, &low, &high);
        if (low > high)
            continue;
        key->least = key->seen && key->least < low ? key->least : low;
        key->greatest =
            key->seen && key->greatest > high ? key->greatest : high;
        if (key->seen && low >= key->low && high <= key->high)
            continue;
        key->falls = key->seen && low < key->low;
        wider = key->seen = true;
    }
    return wider || table->map == NULL;
}

/* Where packed keys lie in the map: at 0 what is NULL, then the range. */
static uint64_t place_of(const struct group_table *table,
                         const uint64_t *packed)
{
    uint64_t place = 0;
    for (unsigned k = 0; k < table->key_count; k++) {
        const struct group_key *key = &table->keys[k];
        if (!is_null(table, k, packed))
            place +=
                ((uint64_t)integer_of(key, packed) - (uint64_t)key->low + 1)
                * key->stride;
    }
    return place;
}

/* Sets the map's range of a key to the next power of two, with the room that
 * is left where values went last. False: it would be more than `most`. */
static bool set_range(struct group_key *key, uint64_t most, uint64_t *size)
{
    uint64_t span = (uint64_t)key->greatest - (uint64_t)key->least, room = 1;

    *size = 1;
    if (!key->seen)
        return true;
    if (span >= most)
        return false;
    while (room <= span)
        room *= 2;
    *size = room + 1;
    key->low = key->least;
    key->high = key->greatest;
    if (key->falls && key->high >= INT64_MIN + (int64_t)room)
        key->low = key->high - (int64_t)room + 1;
    else if (key->low <= INT64_MAX - (int64_t)room)
        key->high = key->low + (int64_t)room - 1;
    return true;
}

/* Sets the keys' ranges and strides; false: the map would be larger than
 * `most`. */
static bool set_strides(struct group_table *table, uint64_t most,
                        uint64_t *size)
{
    *size = 1;
    for (unsigned k = 0; k < table->key_count; k++) {
        uint64_t values;
        if (!set_range(&table->keys[k], most, &values))
            return false;
        table->keys[k].stride = *size;
        *size *= values;
        if (*size > most)
            return false;
    }
    return true;
}

/* Gives the map up; slots are made before the next look-up. */
static void use_hashing(struct group_table *table)
{
    assert(!table->hashed);
    memory_release(table->map);
    table->map = NULL;
    table->map_size = 0;
    table->hashed = true;
}

/* Makes the map anew for wider ranges, or gives it up for hashing. */
static enum vdbq_status make_map(struct group_table *table, uint64_t coming,
                                 struct error *error)
{
    uint64_t most = 4 * (table->rows + coming), size = 0;

    most = most < MAP_MIN ? MAP_MIN : most > MAP_MAX ? MAP_MAX : most;
    most = most < table->map_most ? most : table->map_most;
    if (!set_strides(table, most, &size)) {
        use_hashing(table);
        return VDBQ_OK;
    }
    memory_release(table->map);
    table->map = memory_zeroed(size, sizeof *table->map);
    table->map_size = size;
    if (table->map == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < table->count; i++) {
        if (stop_at(i))
            return error_cancelled(error);
        table->map[place_of(table, (const uint64_t *)group_record(table, i))] =
            i + 1;
    }
    return VDBQ_OK;
}

/* Places of one narrow key. */
PARALLEL_CLONES
static void narrow_places(const uint64_t *packed, unsigned count, int64_t low,
                          uint32_t *places)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t place = (uint32_t)packed[i] - (uint32_t)low + 1;
        places[i] = packed[i] >> 32 ? 0 : place;
    }
}

/* Adds the places of a key of 32 bits to those of the others. `keys` and
 * `nulls` are the units of the first row's, `step` the units of a row. */
PARALLEL_CLONES
static void add_places(const struct group_key *key, const pack_unit *keys,
                       const pack_unit *nulls, unsigned bit, unsigned step,
                       unsigned count, uint32_t *places)
{
    uint32_t low = (uint32_t)key->low - 1, stride = (uint32_t)key->stride;
    for (unsigned i = 0; i < count; i++) {
        uint32_t place = (keys[i * step] - low) * stride;
        places[i] += nulls[i * step] >> bit & 1 ? 0 : place;
    }
}

/* Whether all keys are of 32 bits. */
static bool are_narrow(const struct group_table *table)
{
    bool narrow = true;
    for (unsigned k = 0; k < table->key_count; k++)
        narrow &= table->keys[k].type != TYPE_I64;
    return narrow;
}

/* Adds up the places of all keys: the map's index of each row. */
static void find_places(const struct group_table *table, const uint64_t *packed,
                        unsigned count, uint32_t *places)
{
    const pack_unit *units = (const pack_unit *)packed;
    if (!are_narrow(table)) {
        for (unsigned i = 0; i < count; i++)
            places[i] =
                (uint32_t)place_of(table, packed + (size_t)i * table->words);
        return;
    }
    memset(places, 0, count * sizeof *places);
    for (unsigned k = 0; k < table->key_count; k++)
        add_places(&table->keys[k], units + table->keys[k].unit,
                   units + table->nulls + k / 32, k % 32, table->words * 2,
                   count, places);
}

/* Keys of few values: the map says each group's number at once. */
static void find_in_map(struct group_table *table, const uint64_t *packed,
                        unsigned count, uint32_t *numbers)
{
    if (table->words == 1 && table->key_count == 1)
        narrow_places(packed, count, table->keys[0].low, numbers);
    else
        find_places(table, packed, count, numbers);
    if (table->map_size > MAP_MIN)
        for (unsigned i = 0; i < count; i++)
            __builtin_prefetch(&table->map[numbers[i]]);
    for (unsigned i = 0; i < count; i++) {
        uint32_t *number = &table->map[numbers[i]];
        assert(numbers[i] < table->map_size);
        if (*number == 0)
            *number = add_group(table, packed + (size_t)i * table->words) + 1;
        numbers[i] = *number - 1;
    }
}

/* Makes known_<name>(): adds the places of a key's values to those of the
 * other keys; false: one is out of the map. */
#define KNOWN(name, value_type, place_type)                                    \
    PARALLEL_CLONES                                                            \
    static bool known_##name(const struct group_key *key,                      \
                             const value_type *values, const uint8_t *nulls,   \
                             unsigned count, uint32_t *places)                 \
    {                                                                          \
        place_type low = (place_type)key->low, out = 0;                        \
        place_type last = (place_type)key->high - low;                         \
        uint32_t stride = (uint32_t)key->stride;                               \
        if (nulls == NULL)                                                     \
            for (unsigned i = 0; i < count; i++) {                             \
                place_type place = (place_type)values[i] - low;                \
                out |= place > last;                                           \
                places[i] += ((uint32_t)place + 1) * stride;                   \
            }                                                                  \
        else                                                                   \
            for (unsigned i = 0; i < count; i++) {                             \
                place_type place = (place_type)values[i] - low;                \
                out |= nulls[i] == 0 && place > last;                          \
                places[i] +=                                                   \
                    nulls[i] == 0 ? ((uint32_t)place + 1) * stride : 0;        \
            }                                                                  \
        return out == 0;                                                       \
    }

KNOWN(i32, int32_t, uint32_t)
KNOWN(i64, int64_t, uint64_t)

/* Finds rows that are all of groups in the map, by their columns as they are;
 * false: some are not. */
static bool find_known(const struct group_table *table,
                       const struct vdbq_vector *columns, uint64_t start,
                       unsigned count, uint32_t *numbers)
{
    bool known = true;
    memset(numbers, 0, count * sizeof *numbers);
    for (unsigned k = 0; k < table->key_count && known; k++) {
        const struct group_key *key = &table->keys[k];
        const void *values = columns[k].values;
        const uint8_t *nulls = columns[k].nulls;
        nulls = nulls != NULL ? nulls + start : NULL;
        known = key->seen
                && (key->type == TYPE_I64
                        ? known_i64(key, (const int64_t *)values + start, nulls,
                                    count, numbers)
                        : known_i32(key, (const int32_t *)values + start, nulls,
                                    count, numbers));
    }
    for (unsigned i = 0; i < count && known; i++) {
        assert(numbers[i] < table->map_size);
        numbers[i] = table->map[numbers[i]] - 1;
        known = numbers[i] != UINT32_MAX;
    }
    return known;
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
            *slot = (struct group_slot){ tag, add_group(table, packed) + 1 };
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
        numbers[i] = add_group(table, packed + (size_t)i * table->words);
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
                                                  : add_group(table, packed);
}

/* Looks up packed keys by map while their range is small, else by hash. */
static enum vdbq_status find(struct group_table *table, const uint64_t *packed,
                             unsigned count, uint64_t coming, uint32_t *numbers,
                             struct error *error)
{
    enum vdbq_status status = reserve(table, count, error);

    if (status == VDBQ_OK && !table->hashed && widen(table, packed, count))
        status = make_map(table, coming + count, error);
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
        find_in_map(table, packed, count, numbers);
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
        && find_known(table, columns, start, count, numbers)) {
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
        use_hashing(table);
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
        use_hashing(table);
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
        nulls[i] = is_null(table, key, (const uint64_t *)record);
        any |= nulls[i];
    }
    return any != 0;
}
