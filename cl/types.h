/* SPDX-License-Identifier: MIT */
/*
 * The number types that host and device share, and the small differences
 * between C11 and OpenCL C 1.2 that the shared files need bridged.
 */
#ifndef VDBQ_CL_TYPES_H
#define VDBQ_CL_TYPES_H

#ifdef __OPENCL_C_VERSION__
typedef char i8;
typedef uchar u8;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
#define VDBQ_ASSERT_LAYOUT(what, condition)
#else
#include <stddef.h>
#include <stdint.h>
typedef int8_t i8;
typedef uint8_t u8;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
#define VDBQ_ASSERT_LAYOUT(what, condition) \
    _Static_assert(condition, "layout of " #what)
#endif
typedef float f32;
typedef double f64;

/* Types of registers and columns. TYPE_WORD is of stored columns alone: codes
 * of a dictionary; a register holds the text's number, as I32. */
enum {
    TYPE_NONE = 0,
    TYPE_I32 = 1,
    TYPE_I64 = 2,
    TYPE_F32 = 3,
    TYPE_F64 = 4,
    TYPE_WORD = 5
};
#define TYPE_IS_WIDE(type) ((type) == TYPE_I64 || (type) == TYPE_F64)

/* A hint, on a CPU, that the bytes at a place are read soon; POCL's prefetch()
 * does nothing. */
#if defined(__has_builtin) && !defined(VDBQ_NO_FETCH) && \
    (!defined(VDBQ_GROUP) || VDBQ_GROUP == 1)
#if __has_builtin(__builtin_prefetch)
#define FETCH(at) __builtin_prefetch((const void *)(size_t)(at))
#endif
#endif
#ifndef FETCH
#define FETCH(at) (void)(at)
#endif

/* Likewise on a GPU, of what the same work-item reads in its next step; OpenCL's
 * prefetch() does nothing on NVIDIA's either. */
#if defined(__NV_CL_C_VERSION) && !defined(VDBQ_NO_FETCH)
#define FETCH_AHEAD(at) __asm volatile("prefetch.global.L1 [%0];" : : "l"(at))
#else
#define FETCH_AHEAD(at) (void)(at)
#endif

/* On NVIDIA's devices neighbouring work-items run in step, by warps, and ask one another
 * without memory or a barrier: all of a warp at once. `WARP` is 1 elsewhere. */
#if defined(__NV_CL_C_VERSION)
#define WARP 32

/* A bit for each item of the warp, the first in bit 0: whether its value is not 0. */
static inline u32 warp_where(u32 value)
{
    u32 bits;
    __asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; "
                   "vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                   : "=r"(bits)
                   : "r"(value));
    return bits;
}

/* The value of the item so many before this one; its own where there is none. */
static inline u32 warp_before(u32 value, u32 by)
{
    u32 other;
    __asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
                   : "=r"(other)
                   : "r"(value), "r"(by));
    return other;
}

/* The sum of the warp's values, for each of its items. */
static inline u32 warp_sum(u32 value)
{
    for (u32 by = 1; by < WARP; by *= 2) {
        u32 other;
        __asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                       : "=r"(other)
                       : "r"(value), "r"(by));
        value += other;
    }
    return value;
}

#else
#define WARP 1
#endif

#endif
