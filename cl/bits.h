/* SPDX-License-Identifier: MIT */
/*
 * The bits of floats, floats of bits, how many bits are set, and how many there
 * are up to the highest one that is, in C11 and in OpenCL C alike.
 */
#ifndef VDBQ_CL_BITS_H
#define VDBQ_CL_BITS_H

#include "types.h"

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
static inline u32 bits_of_f32(f32 value) { return as_uint(value); }
static inline u64 bits_of_f64(f64 value) { return as_ulong(value); }
static inline f32 f32_of_bits(u32 bits) { return as_float(bits); }
static inline f64 f64_of_bits(u64 bits) { return as_double(bits); }
static inline u32 bits_count(u32 bits) { return popcount(bits); }
static inline u32 bits_length(u32 bits) { return 32 - clz(bits); }
#else
#include <string.h>

static inline u32 bits_of_f32(f32 value)
{
    u32 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline u64 bits_of_f64(f64 value)
{
    u64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline f32 f32_of_bits(u32 bits)
{
    f32 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline f64 f64_of_bits(u64 bits)
{
    f64 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline u32 bits_count(u32 bits)
{
    return (u32)__builtin_popcount(bits);
}

static inline u32 bits_length(u32 bits)
{
    return bits == 0 ? 0 : 32 - (u32)__builtin_clz(bits);
}
#endif

#endif
