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

#endif
