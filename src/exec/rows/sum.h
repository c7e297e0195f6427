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
/* What that leaves of the sum, as the nearest double; 0 where it is no number.
 * Together they are the sum to 2^-106 of it. */
double sum_rest(const struct sum *sum);

#endif
