/* SPDX-License-Identifier: MIT */
/*
 * A table of groups: finds the number of the group that a row is of, by the
 * row's keys, and numbers new groups as they come. Each group has a record:
 * its keys, packed, then what the table's owner keeps there, zeroed at first.
 *
 * Keys are packed into units of 32 bits: 4 or 8 bytes a key, then a bit for
 * each that is NULL. Floats are packed so that equal ones have equal bits:
 * -0.0 becomes 0.0 and every NaN the same one.
 *
 * Where all keys are integers of a small range, a map from their values to
 * groups finds them; elsewhere hashing does, in open addressing.
 */
#ifndef VDBQ_EXEC_GROUP_TABLE_H
#define VDBQ_EXEC_GROUP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "api/vdbq.h"
#include "base/error.h"

enum { GROUP_BLOCK = 1024 }; /* rows that are looked up at a time */

struct group_key {
    int type;                /* TYPE_...                                   */
    unsigned unit;           /* of the packed keys, where its value begins */
    bool seen;               /* some value that is not NULL                */
    bool falls;              /* the map's range went down the last time    */
    int64_t least, greatest; /* ... of all that were seen         */
    int64_t low, high;       /* the map's values, which may be more     */
    uint64_t stride;         /* of its values in the map                 */
};
struct group_slot {
    uint32_t tag;    /* upper bits of the hash         */
    uint32_t number; /* of the group + 1; 0: none      */
};

struct group_table {
    struct group_key *keys;   /* owned */
    unsigned key_count;       /* of `keys` */
    unsigned words;           /* of 64 bits, that packed keys take  */
    unsigned nulls;           /* the unit where bits for NULL begin */
    size_t width;             /* of a record in bytes               */
    uint8_t *records;         /* of `count` groups; owned, or lent  */
    bool lent;                /* ... until there is no more room    */
    uint32_t count, room;     /* groups, and those there is room for */
    uint64_t rows;            /* that were looked up                */
    bool blind;               /* each row makes a group: nobody looks */
    bool in_order;            /* rows come by groups: nobody looks  */
    bool settled;             /* the last rows made no group      */
    bool hashed;              /* found by `slots`, else by `map` */
    uint32_t *map;            /* by keys' values: number + 1, or 0  */
    uint64_t map_size;        /* entries of the map */
    uint64_t map_most;        /* ... at most; its owner may set it */
    struct group_slot *slots; /* owned; NULL while there is a map */
    uint64_t slot_mask;       /* one less than there are         */
    uint64_t *packed;         /* keys of a block of rows         */
};

/* Makes an empty table for keys of those types; records have `extra` bytes
 * (a multiple of 8) behind the keys. group_table_finish() is due whatever it
 * returns, and accepts a zeroed struct. */
enum vdbq_status group_table_init(struct group_table *table, const int *types,
                                  unsigned keys, size_t extra,
                                  struct error *error);
void group_table_finish(struct group_table *table);

/* Finds or makes the groups of rows [start, start + count) of the keys'
 * columns, GROUP_BLOCK rows at most. `coming`: how many rows will follow at
 * least. Fails with LIMIT where there are too many groups. */
enum vdbq_status group_table_find(struct group_table *table,
                                  const struct vdbq_vector *columns,
                                  uint64_t start, unsigned count,
                                  uint64_t coming, uint32_t *numbers,
                                  struct error *error);
/* The same of the keys of another table's records. */
enum vdbq_status group_table_join(struct group_table *table,
                                  const uint8_t *records, unsigned count,
                                  uint64_t coming, uint32_t *numbers,
                                  struct error *error);

/* The hashes of rows' keys, by which they are found. */
void group_table_hash(const struct group_table *table,
                      const struct vdbq_vector *columns, uint64_t start,
                      unsigned count, uint64_t *hashes);

/* Rows of an empty table come by groups, each group's side by side, until it is
 * cleared or `in_order` is unset: then they are found by hashing. */
void group_table_in_order(struct group_table *table);

/* Bytes that it takes once there are so many groups more. */
uint64_t group_table_bytes(const struct group_table *table, unsigned more);

/* Bytes of a group, with its slots, at most. */
size_t group_table_bytes_each(const struct group_table *table);

/* Lends an empty table room for so many records, until it is finished or takes
 * memory of its own for more; the keys are found by hashing. */
void group_table_lend(struct group_table *table, uint8_t *records,
                      uint32_t room);
/* Forgets all groups; from now on they are found by hashing or, if `blind`,
 * made anew for each row. */
void group_table_clear(struct group_table *table, bool blind);

/* Hands what finds groups, and is in the caches, from a table that is done to an
 * empty one of the same keys that finds them by hashing. */
void group_table_pass(struct group_table *from, struct group_table *to);

/* Makes the only group of a table without keys. */
enum vdbq_status group_table_one(struct group_table *table,
                                 struct error *error);

/* A group's record; what the owner keeps there. They move when groups are
 * made. */
static inline uint8_t *group_record(const struct group_table *table,
                                    uint32_t number)
{
    return table->records + number * table->width;
}
static inline uint8_t *group_extra(const struct group_table *table,
                                   uint32_t number)
{
    return group_record(table, number) + 8 * table->words;
}

/* Writes a key of these records of groups. Whether any is NULL. */
bool group_table_key(const struct group_table *table, unsigned key,
                     const uint8_t *const *records, unsigned count,
                     void *values, uint8_t *nulls);

#endif
