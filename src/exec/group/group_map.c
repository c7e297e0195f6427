/* SPDX-License-Identifier: MIT */
/*
 * A map from the values of keys to groups: see group_map.h.
 */
#include "exec/group/group_map.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/group/group_pack.h"

enum { MAP_MIN = 1 << 16 }; /* entries that a map may have for any rows */

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
        if (group_is_null(table, key, packed))
            continue;
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

/* A key whose values are out of the map's range is given a new one. */
bool group_map_widen(struct group_table *table, const uint64_t *packed,
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
        if (!group_is_null(table, k, packed))
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

void group_map_drop(struct group_table *table)
{
    assert(!table->hashed);
    memory_release(table->map);
    table->map = NULL;
    table->map_size = 0;
    table->hashed = true;
}

enum vdbq_status group_map_make(struct group_table *table, uint64_t coming,
                                struct error *error)
{
    uint64_t most = 4 * (table->rows + coming), size = 0;

    most = most < MAP_MIN         ? MAP_MIN
           : most > GROUP_MAP_MAX ? GROUP_MAP_MAX
                                  : most;
    most = most < table->map_most ? most : table->map_most;
    if (!set_strides(table, most, &size)) {
        group_map_drop(table);
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

void group_map_find(struct group_table *table, const uint64_t *packed,
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
            *number = group_add(table, packed + (size_t)i * table->words) + 1;
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

bool group_map_known(const struct group_table *table,
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
