/* SPDX-License-Identifier: MIT */
/*
 * Grouping on a device: result rows of the machine are taken into the records
 * of a table (cl/group.h), by atomic operations whose order does not matter:
 * integers are added, with their carries, and the greater of two codes stays.
 *
 * Set by the host: VDBQ_LOCAL where a work-group adds to a table of its own in
 * local memory first.
 *
 * Rows are taken in three steps. vdbq_group_find makes the slots of codes, and
 * notes which `top` a group's sums of floats need and which row is its first.
 * vdbq_group_raise gives the sums that `top`, and room (group_find.cl). vdbq_group_add
 * does the rest (group_add.cl). Groups go out as records, or become columns that
 * stay (group_out.cl).
 */
#include "group.h"
#include "hash.h"
#include "kernel.cl"
#include "order.h"
#include "sum.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

/* In this order: each makes use of those before. */
#include "group_tile.cl"
#include "group_find.cl"
#include "group_add.cl"
#include "group_out.cl"

/* The slot of a code that has one already, in another table. */
static u32 new_slot(CONTROL control, volatile GLOBAL u64 *codes,
                    GLOBAL const u64 *code)
{
    u64 part[GROUP_PARTS_MAX];
    for (u32 w = 0; w < control->parts; w++)
        part[w] = code[w];
    return parts_slot(control, codes, part);
}

/* Puts the groups of a table into a larger one; the codes' `old` slots. */
KERNEL void vdbq_group_grow(CONTROL control,
                            GLOBAL const u8 *restrict old_records,
                            GLOBAL const u64 *restrict old_codes,
                            GLOBAL u8 *records, volatile GLOBAL u64 *codes,
                            volatile GLOBAL struct group_state *state,
                            u64 old_slots)
{
    for (u64 i = get_global_id(0); i < old_slots + 2;
         i += get_global_size(0)) {
        u32 slot = (u32)(control->slots + i - old_slots);
        GLOBAL const u64 *old_code = old_codes + i * control->parts;
        if (i < old_slots && *old_code == GROUP_EMPTY)
            continue;
        if (i < old_slots)
            slot = new_slot(control, codes, old_code);
        if (slot == NO_SLOT) {
            state->full = 1;
            continue;
        }
        for (u32 k = 0; k < control->width / 8; k++)
            ((GLOBAL u64 *)record_at(control, records, slot))[k] =
                ((GLOBAL const u64 *)(old_records + i * control->width))[k];
    }
}
