/* SPDX-License-Identifier: MIT */
/*
 * The answers to the questions of cl/probe.h, and, on a device, the kernels
 * that give them.
 */
#include "divide.cl"
#include "probe.h"

#ifndef __OPENCL_C_VERSION__
#include <math.h>
#else
#include "kernel.cl"
#endif

union word_f32 {
    u32 bits;
    f32 value;
};
union word_f64 {
    u64 bits;
    f64 value;
};

/* The bits of a real; the same for all that are not a number. */
static u64 bits_f32(f32 value)
{
    union word_f32 word;
    word.value = value;
    return value == value ? word.bits : 0x7fc00000;
}

static u64 bits_f64(f64 value)
{
    union word_f64 word;
    word.value = value;
    return value == value ? word.bits : 0x7ff8000000000000;
}

static f32 f32_of(u64 bits)
{
    union word_f32 word;
    word.bits = (u32)bits;
    return word.value;
}

static f64 f64_of(u64 bits)
{
    union word_f64 word;
    word.bits = bits;
    return word.value;
}

#define LESS_OR_EQUAL(x, y) \
    ((u64)((x) < (y)) | (u64)((x) == (y)) << 1 | (u64)((x) == 0) << 2)
#define WHOLE(x, y) \
    (bits_f64(floor(x)) ^ bits_f64(ceil(y)) ^ bits_f64(trunc(x)))
/* No machine divides by 0, nor by -1. */
#define SAFE(x) ((x) + ((x) == 0) + ((x) == -1) * 2)

/* The answers, each a function of two words. */
#define PROBE_ANSWER(name, lacks, option, answer)                            \
    static u64 answer_##name(u64 x, u64 y)                                   \
    {                                                                        \
        const f32 p = f32_of(x), q = f32_of(y);                              \
        const f64 a = f64_of(x), b = f64_of(y);                              \
        const i64 m = (i64)x, n = (i64)y;                                    \
        (void)p, (void)q, (void)a, (void)b, (void)m, (void)n;                \
        return answer;                                                       \
    }
VDBQ_PROBES(PROBE_ANSWER)
#undef PROBE_ANSWER

/* An item's number among those that all add up. */
static u64 item_number(u64 item)
{
    return item * 0x100000001 + 1;
}

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#if VDBQ_GROUP == 1
#define VECTORS _Pragma("clang loop vectorize(enable) vectorize_width(8)")
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define VECTORS
#endif

/* Answers all questions about all rows: of the first words of rows come those
 * of the first question, ... */
KERNEL void vdbq_probe(GLOBAL const u64 *restrict words,
                       GLOBAL u64 *restrict answers)
{
    for (u32 row = (u32)get_global_id(0) * PROBE_TILE; row < PROBE_ROWS;
         row += (u32)get_global_size(0) * PROBE_TILE) {
        GLOBAL const u64 *x = words + row, *y = x + PROBE_ROWS;
        GLOBAL u64 *to = answers + row;
#define PROBE_TILE_ANSWER(name, lacks, option, answer)                       \
    VECTORS for (u32 t = 0; t < PROBE_TILE; t++)                             \
        to[t] = answer_##name(x[t], y[t]);                                   \
    to += PROBE_ROWS;
        VDBQ_PROBES(PROBE_TILE_ANSWER)
    }
}

/* Each item hands its number to another of its group through local memory,
 * the group adds them up there, and all groups in `together`, which starts as
 * zeros and ends in the claims. */
KERNEL void vdbq_probe_together(volatile GLOBAL u64 *together)
{
    volatile GLOBAL u64 *claims = together + TOGETHER_CLAIMS;
    LOCAL u64 room[VDBQ_GROUP], sum;
    u32 own = (u32)get_local_id(0);

    for (u32 first = (u32)get_group_id(0) * VDBQ_GROUP; first < PROBE_ITEMS;
         first += (u32)get_global_size(0)) {
        room[own] = item_number(first + own);
        if (own == 0)
            sum = 0;
        WAIT;
        u64 number = room[VDBQ_GROUP - 1 - own];
        atom_add(&sum, number);
        atom_max(together + TOGETHER_MOST, number);
        if (atom_cmpxchg(&claims[number % PROBE_CLAIMS], 0, number) == 0)
            atom_inc(together + TOGETHER_CLAIMED);
        WAIT;
        if (own == 0)
            atom_add(together + TOGETHER_SUM, sum);
        WAIT;
    }
}
#endif
