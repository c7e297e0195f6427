/* SPDX-License-Identifier: MIT */
/*
 * What a device must do as the host does, bit for bit: the things in which
 * drivers are known to differ, whatever they claim. Host and kernel answer
 * from one list of questions, about two words a row:
 *
 *   a, b   the words as doubles
 *   p, q   their lower halves as floats
 *   m, n   the words as integers
 *
 * A line of the list: name; what a device lacks that answers otherwise; the
 * option with which kernels do without it, or "" where none does; the answer,
 * in the words of cl/probe.cl.
 */
#ifndef VDBQ_CL_PROBE_H
#define VDBQ_CL_PROBE_H

/* Rows of a tile, over which an item walks for each question, as the machine
 * does: a compiler may make vectors of that, and those may be rounded in other
 * ways than numbers are. */
#define PROBE_TILE 64
#define PROBE_ROWS 4096

#define VDBQ_PROBES(X)                                                       \
    X(DIVIDE_F32, "correctly rounded division of floats",                    \
      " -DVDBQ_WIDE_DIVIDE", bits_f32(quotient_F32(p, q)))                   \
    X(ADD_F32, "correctly rounded sums of floats", "", bits_f32(p + q))      \
    X(MULTIPLY_F32, "correctly rounded products of floats", "",              \
      bits_f32(p * q))                                                       \
    X(FUSED_F32, "products of floats that are rounded before a sum", "",     \
      bits_f32(p * q + p))                                                   \
    X(COMPARE_F32, "comparisons of all floats", "",                          \
      LESS_OR_EQUAL(p, q))                                                   \
    X(DIVIDE_F64, "correctly rounded division of doubles", "",               \
      bits_f64(quotient_F64(a, b)))                                          \
    X(ADD_F64, "correctly rounded sums of doubles", "", bits_f64(a + b))     \
    X(MULTIPLY_F64, "correctly rounded products of doubles", "",             \
      bits_f64(a * b))                                                       \
    X(FUSED_F64, "products of doubles that are rounded before a sum", "",    \
      bits_f64(a * b + a))                                                   \
    X(COMPARE_F64, "comparisons of all doubles", "",                         \
      LESS_OR_EQUAL(a, b))                                                   \
    X(ROOT_F64, "correctly rounded square roots of doubles", "",             \
      bits_f64(sqrt(a)))                                                     \
    X(WHOLE_F64, "doubles rounded to whole ones", "", WHOLE(a, b))           \
    X(WIDEN, "exact doubles of all floats", "", bits_f64((f64)p))            \
    X(NARROW, "floats nearest to doubles", "", bits_f32((f32)a))             \
    X(F32_OF_I64, "floats nearest to integers", "", bits_f32((f32)m))        \
    X(F64_OF_I64, "doubles nearest to integers", "", bits_f64((f64)m))       \
    X(I64_OF_F64, "integers cut from doubles", "",                           \
      fabs(a) < 9e18 ? (u64)(i64)a : 0)                                      \
    X(DIVIDE_I64, "division of 64-bit integers", "",                         \
      (u64)(m / SAFE(n)) ^ (u64)(m % SAFE(n)))                               \
    X(SHIFT_I64, "shifts and products of 64-bit integers", "",               \
      ((u64)m * (u64)n >> (n & 63)) ^ (u64)(m >> (n & 63)))

enum probe {
#define PROBE_NAME(name, lacks, option, answer) PROBE_##name,
    VDBQ_PROBES(PROBE_NAME)
#undef PROBE_NAME
    PROBES
};

/* What items of groups do together: places that each may claim, and numbers
 * of 64 bits that all add to. */
#define PROBE_ITEMS  16384
#define PROBE_CLAIMS 1024
enum { TOGETHER_SUM, TOGETHER_MOST, TOGETHER_CLAIMED, TOGETHER_CLAIMS };

#endif
