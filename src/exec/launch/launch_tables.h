/* SPDX-License-Identifier: MIT */
/*
 * Tables of groups to which the machine adds rows (cl/sink/item.cl): each item
 * of a launch has one, and the host takes them when the launch has run.
 */
#ifndef VDBQ_EXEC_LAUNCH_TABLES_H
#define VDBQ_EXEC_LAUNCH_TABLES_H

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

#endif
