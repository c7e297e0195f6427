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

#endif
