/* SPDX-License-Identifier: MIT */
/*
 * Rows are copied, column by column, from where a launch wrote them to where they
 * are kept; and, where somebody asks, it is found out what lies in a column: one
 * read does for both.
 */
#include "../order.h"
#include "../kernel.cl"
#include "keep.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

/* The greatest of the values of a work-group's items. */
static u64 greatest_of(LOCAL u64 *room, u64 value)
{
    u32 item = (u32)get_local_id(0);
    u64 greatest;
    room[item] = value;
    WAIT;
    for (u32 apart = VDBQ_GROUP / 2; apart > 0; apart /= 2) {
        if (item < apart && room[item + apart] > room[item])
            room[item] = room[item + apart];
        WAIT;
    }
    greatest = room[0];
    WAIT;
    return greatest;
}

/* Adds what the items of a work-group found to a column's bounds. */
static void add_bounds(LOCAL u64 *room, GLOBAL volatile u64 *bounds, u64 least,
                       u64 greatest)
{
    least = greatest_of(room, least);
    greatest = greatest_of(room, greatest);
    if (get_local_id(0) != 0)
        return;
    if (bounds[0] < least)
        atom_max(bounds, least);
    if (bounds[1] < greatest)
        atom_max(bounds + 1, greatest);
}

/* The values of column c, of one width, of this item's rows. */
#define COPY(T)                                                              \
    for (u64 i = get_global_id(0); i < keep.count; i += get_global_size(0)) { \
        T value = ((GLOBAL const T *)(from + keep.column[c].from))           \
            [keep.first + i];                                                \
        u64 code = order_code((i64)value);                                   \
        least = ~code > least ? ~code : least;                               \
        greatest = code > greatest ? code : greatest;                        \
        if (keep.column[c].to != KEEP_NOWHERE)                               \
            ((GLOBAL T *)(to + keep.column[c].to))[keep.place + i] = value;  \
    }

KERNEL void vdbq_keep(GLOBAL const u8 *restrict from, GLOBAL u8 *restrict to,
                      struct keep keep)
{
    LOCAL u64 room[VDBQ_GROUP];
    for (u32 c = 0; c < keep.columns; c++) {
        u64 least = 0, greatest = 0;
        if (keep.column[c].width == 8)
            COPY(i64)
        else if (keep.column[c].width == 4)
            COPY(i32)
        else
            COPY(u8)
        if (keep.column[c].bounds > 0)
            add_bounds(room,
                       (GLOBAL volatile u64 *)(to + keep.bounds) +
                           2 * (keep.column[c].bounds - 1),
                       least, greatest);
    }
}
