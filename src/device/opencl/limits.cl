/* SPDX-License-Identifier: MIT */
/*
 * Reads memory as fast as a device can, and nothing else: the limit that the
 * rates of queries are compared with. Any number of work-items is correct.
 */
#ifndef VDBQ_READ
#define VDBQ_READ ulong2 /* what an item reads at once; 16 bytes or more */
#endif

/* An item reads `reads` times, from `first` times its number on, `step` apart.
 * What it adds up is written where it is `unlikely`, so that no compiler may
 * leave it out. */
kernel void vdbq_read_all(global const VDBQ_READ *values, ulong first,
                          ulong step, ulong reads, ulong unlikely,
                          global ulong *found)
{
    global const VDBQ_READ *at = values + get_global_id(0) * first;
    VDBQ_READ sum = 0;
    ulong i;

#pragma unroll 8
    for (i = 0; i < reads; i++)
        sum += at[i * step];
    if (sum.s0 + sum.s1 == unlikely)
        *found = get_global_id(0);
}
