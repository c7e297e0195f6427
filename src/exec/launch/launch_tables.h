/* SPDX-License-Identifier: MIT */
/*
 * Tables of groups to which the machine adds rows (cl/sink/item.cl): each item
 * of a launch has one, and the host takes them when the launch has run.
 */
#ifndef VDBQ_EXEC_LAUNCH_TABLES_H
#define VDBQ_EXEC_LAUNCH_TABLES_H

#include <assert.h>

#include "cl/launch.h"

struct launch_tables {
    struct launch_key keys[LAUNCH_KEYS]; /* of the program's Key opcodes */
    u32 copies;                          /* of a table; a power of two   */
    u32 copy_bytes;                      /* of one of them */
    u32 bytes;     /* of a table: its copies and the record of no row */
    uint64_t rows; /* that were added so far */
    /* Takes the tables of a launch, whose rows have so many numbers. Launches
     * come in the order of their rows. */
    void (*take)(struct launch_tables *tables, const u8 *items, unsigned count,
                 uint64_t numbers);
};

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
