/* SPDX-License-Identifier: MIT */
/*
 * Sums of floats that do not depend on the order of additions, and so not on
 * threads, batches or devices.
 *
 * A sum is kept in three limbs, integers in units of 2^g, 2^(g - 32) and
 * 2^(g - 64), where g is on a grid of 32 and so high that every value so far
 * is below 2^(g + 31). A value is split into digits: it is rounded to the
 * first unit, what remains to the second, what then remains to the third, and
 * the last remainder is dropped. Where a value needs a higher g, the lowest
 * limbs are dropped as a whole: a value has the same digit in a unit whatever
 * g is, so that the limbs depend only on what was added. After Demmel and
 * Nguyen, "Fast reproducible floating-point summation" (2013).
 *
 * The error of a sum of n values is at most n * 2^-64 times the greatest of
 * their magnitudes, and one rounding to double. (Of additions one after the
 * other: n * 2^-53 times the sum of the magnitudes.) Limbs hold the sum of
 * SUM_VALUES_MAX values.
 */
#ifndef VDBQ_EXEC_SUM_H
#define VDBQ_EXEC_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cl/bits.h"

#define SUM_VALUES_MAX 0xfffffffeu

enum sum_special { SUM_INFINITE = 1, SUM_MINUS_INFINITE = 2, SUM_NAN = 4 };

/* A sum. A zeroed one is that of nothing. */
struct sum {
    int64_t limbs[3]; /* the highest first                                */
    uint32_t top;     /* g = 32 * top - 1023                              */
    uint32_t special; /* of enum sum_special: values that were no numbers */
};

/* The failure of more than SUM_VALUES_MAX values: LIMIT. */
enum vdbq_status sum_too_many(struct error *error);

/* Adds many values. */
void sum_add_all(struct sum *sum, const double *values, size_t count);
/* Makes g as high as a value of those bits needs, or notes that it is no
 * number. */
void sum_raise(struct sum *sum, uint64_t bits);
void sum_merge(struct sum *sum, const struct sum *other);
/* The nearest double; infinite where it is too great for one or infinities
 * were added, NaN where these were of both signs or a NaN was. */
double sum_value(const struct sum *sum);

/* 1.5 * 2^52 units: a value that is added to it is rounded to units, and the
 * lowest bits of the result are their number. */
#define SUM_ROUND_0 0x1.8p52
#define SUM_ROUND_1 0x1.8p20
#define SUM_ROUND_2 0x1.8p-12

/* 2^-g. */
static inline double sum_scale(uint32_t top)
{
    return f64_of_bits((uint64_t)(2046 - 32 * top) << 52);
}

static inline void sum_add(struct sum *sum, double value)
{
    uint64_t bits = bits_of_f64(value), exponent = bits >> 52 & 0x7ff;
    double left, rounded;

    if (exponent > 30 + 32 * sum->top) {
        sum_raise(sum, bits);
        if (exponent == 0x7ff)
            return;
    }
    left = value * sum_scale(sum->top);
    rounded = left + SUM_ROUND_0;
    sum->limbs[0] += (int64_t)(bits_of_f64(rounded) - bits_of_f64(SUM_ROUND_0));
    left -= rounded - SUM_ROUND_0;
    rounded = left + SUM_ROUND_1;
    sum->limbs[1] += (int64_t)(bits_of_f64(rounded) - bits_of_f64(SUM_ROUND_1));
    left -= rounded - SUM_ROUND_1;
    rounded = left + SUM_ROUND_2;
    sum->limbs[2] += (int64_t)(bits_of_f64(rounded) - bits_of_f64(SUM_ROUND_2));
}

#endif
