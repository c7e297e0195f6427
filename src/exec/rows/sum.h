/* SPDX-License-Identifier: MIT */
/*
 * Sums of floats on the host: cl/sum.h says what they are, and has what the
 * devices' kernels do alike.
 */
#ifndef VDBQ_EXEC_SUM_H
#define VDBQ_EXEC_SUM_H

#include <stddef.h>

#include "cl/sum.h"

/* Adds many values, and carries. */
void sum_add_all(struct sum *sum, const double *values, size_t count);
/* Both may have SUM_DIGITS_MAX digits that were not carried. */
void sum_merge(struct sum *sum, const struct sum *other);
/* The nearest double; infinite where it is too great for one or infinities
 * were added, NaN where these were of both signs or a NaN was. */
double sum_value(const struct sum *sum);

/* Adds a value; the caller carries, after SUM_DIGITS_MAX of them at most. */
static inline void sum_add(struct sum *sum, double value)
{
    uint64_t bits = bits_of_f64(value), exponent = bits >> 52 & 0x7ff,
             digits[3];

    if (exponent > 30 + 32 * (uint64_t)sum->top) {
        if (exponent == 0x7ff) {
            sum->special |= (uint16_t)sum_special(bits);
            return;
        }
        sum_raise(sum, sum_top(bits));
    }
    sum_digits(value * sum_scale(sum->top), digits);
    for (unsigned k = 0; k < 3; k++)
        sum->limbs[k] += (int64_t)digits[k];
}

#endif
