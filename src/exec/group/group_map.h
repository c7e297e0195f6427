/* SPDX-License-Identifier: MIT */
/*
 * A map from the values of keys to the numbers of groups, part of a table of groups
 * (group_table.h) whose keys are integers of a small range: it finds a group
 * without hashing. The range of each key grows with what is seen; a map that
 * would be too large is dropped, and hashing finds the groups from then on.
 */
#ifndef VDBQ_EXEC_GROUP_MAP_H
#define VDBQ_EXEC_GROUP_MAP_H

#include <string.h>

#include "exec/group/group_pack.h"
#include "exec/group/group_table.h"

enum { GROUP_MAP_MAX = 1 << 26 }; /* entries of any map */

/* Takes packed keys into the ranges of those that were seen; true: the map has
 * to be made anew for them. */
bool group_map_widen(struct group_table *table, const uint64_t *packed,
                     unsigned count);
/* Makes the map anew for all that was seen, or drops it where it would be too
 * large. `coming`: rows that follow. Fails without memory and when cancelled. */
enum vdbq_status group_map_make(struct group_table *table, uint64_t coming,
                                struct error *error);
/* Finds or makes the groups of packed keys in the map's ranges; there is room
 * for `count` groups more. */
void group_map_find(struct group_table *table, const uint64_t *packed,
                    unsigned count, uint32_t *numbers);
/* Finds the groups of rows by their columns as they are; false: some rows are of
 * none that is there. */
bool group_map_known(const struct group_table *table,
                     const struct vdbq_vector *columns, uint64_t start,
                     unsigned count, uint32_t *numbers);
/* Gives the map up; slots are made before the next look-up. */
void group_map_drop(struct group_table *table);

/* Whether this key of packed keys is NULL. */
static inline bool group_is_null(const struct group_table *table, unsigned key,
                                 const uint64_t *packed)
{
    const pack_unit *units = (const pack_unit *)packed;
    return units[table->nulls + key / 32] >> (key % 32) & 1;
}

/* A new group; there is room. */
static inline uint32_t group_add(struct group_table *table,
                                 const uint64_t *packed)
{
    uint8_t *record = group_record(table, table->count);
    memset(record, 0, table->width);
    memcpy(record, packed, 8 * table->words);
    return table->count++;
}

#endif
