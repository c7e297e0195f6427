/* SPDX-License-Identifier: MIT */
/*
 * Tables of groups to which the machine adds rows (cl/sink/item.cl): one for each
 * core, which all launches of a scan use. The host takes them when none is under
 * way.
 */
#ifndef VDBQ_EXEC_LAUNCH_TABLES_H
#define VDBQ_EXEC_LAUNCH_TABLES_H

#include <assert.h>
#include <stdbool.h>

#include "base/hostile.h"
#include "cl/launch.h"
#include "cl/sum.h"
#include "device/device.h"

/* Rows from which on tables are taken before more come: those of the launches under
 * way are as many at most. */
enum { TABLES_ROWS_MAX = HOSTILE(1, SUM_DIGITS_MAX / 2) };

struct launch_tables {
    struct launch_key keys[LAUNCH_KEYS]; /* of the program's Key opcodes   */
    u32 copies;                          /* of a table; a power of two   */
    u32 copy_bytes;                      /* of one of them */
    u32 bytes;        /* of a table: its copies and the record of no row */
    uint64_t rows;    /* that were in those taken so far                 */
    uint64_t numbers; /* that rows of launches so far may have           */
    uint64_t waiting; /* ... of those that were not taken                */
    /* Takes `count` tables, which may be written to. */
    void (*take)(struct launch_tables *tables, u8 *const *table,
                 unsigned count);
};

/* Whether they are to be taken before more rows come. */
static inline bool launch_tables_full(const struct launch_tables *tables)
{
    return tables != NULL && tables->waiting >= TABLES_ROWS_MAX;
}

/* Where the first one is in their memory. */
u64 launch_tables_at(const struct device *device);
/* Makes their memory, for a device. */
enum vdbq_status launch_tables_make(const struct launch_tables *tables,
                                    struct device *device,
                                    struct device_memory **memory,
                                    struct device_times *times,
                                    struct error *error);
/* Has them taken, no launch being under way; they are empty then. */
enum vdbq_status launch_tables_take(struct launch_tables *tables,
                                    struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);

/* Of values the lowest bits that a work-group's table sums apart in 32 bits, where
 * so many rows come to each copy of it: LAUNCH_COPY_ROWS at most. */
static inline u32 launch_low_bits(u64 rows)
{
    u32 bits = 24;
    assert(rows <= LAUNCH_COPY_ROWS);
    while (bits > LAUNCH_LOW_BITS && rows > UINT64_C(1) << (32 - bits))
        bits--;
    return bits;
}

#endif
