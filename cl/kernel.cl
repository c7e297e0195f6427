/* SPDX-License-Identifier: MIT */
/*
 * What the kernels beside the machine have in common. Set by the host:
 * VDBQ_GROUP, work-items of a group (1 on a CPU, where nothing waits). Host C
 * that includes a kernel says itself what the words below mean there.
 */
#include "types.h"

#ifndef VDBQ_GROUP
#define VDBQ_GROUP 1
#endif

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#define GLOBAL __global
#define LOCAL __local
#define KERNEL_OF(items) \
    __kernel __attribute__((reqd_work_group_size(items, 1, 1)))
#define KERNEL KERNEL_OF(VDBQ_GROUP)

#if VDBQ_GROUP > 1
#define WAIT barrier(CLK_LOCAL_MEM_FENCE)
#else
#define WAIT
#endif
#endif

/* Makes sum_before(): adds up the values of the items before each, in `room`
 * for VDBQ_GROUP of them; `*all`: of all of them. */
#define SUM_BEFORE(T)                                                        \
    static T sum_before(LOCAL T *room, T value, T *all)                      \
    {                                                                        \
        u32 item = (u32)get_local_id(0);                                     \
        T sum = value;                                                       \
        room[item] = value;                                                  \
        WAIT;                                                                \
        for (u32 step = 1; step < VDBQ_GROUP; step *= 2) {                   \
            T other = item >= step ? room[item - step] : 0;                  \
            WAIT;                                                            \
            sum += other;                                                    \
            room[item] = sum;                                                \
            WAIT;                                                            \
        }                                                                    \
        *all = room[VDBQ_GROUP - 1];                                         \
        WAIT;                                                                \
        return sum - value;                                                  \
    }

/* The last of rows [low, high) that starts at `place` or before; `low` does.
 * Places rise from row to row. */
static inline u64 row_at(GLOBAL const u64 *places, u64 place, u64 low,
                         u64 high)
{
    if (low + 1 < high && places[low + 1] > place)
        return low;
    while (low + 1 < high) {
        u64 middle = low + (high - low) / 2;
        if (places[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}
