/* SPDX-License-Identifier: MIT */
/*
 * Variances and standard deviations, of sums that exist.
 *
 * Of n values x with the sum S and the sum Q of squares, n * Q - S * S is n
 * times the sum of squared distances from the mean. The difference cancels
 * where the mean is large beside the distances: so sums, squares and both
 * products are kept as two doubles each, of which the second one is what
 * rounding took from the first (SUM_REST, MUL_REST_F64).
 *
 * What is guaranteed:
 * - The same bits whatever the order of rows, threads, batches and devices:
 *   sums have none (cl/sum.h), and what follows is computed once a group.
 * - The difference is right to 2^-100 of n * Q, beside what sums of floats drop
 *   (n * 2^-64 of the greatest square). So where the standard deviation is above
 *   2^-24 of the mean, a variance is right to a few units in its last place; at
 *   2^-40, still to 6 digits.
 * - It is never below 0, and 0 where it is less than 2^-100 of the mean square:
 *   so it is for values that are all the same.
 * - Integers of 32 bits, and DECIMAL of up to 9 digits, are squared and added
 *   up exactly. Longer ones are taken as DOUBLE, DECIMAL without their point:
 *   exactly below 2^53. What is divided is rounded as DOUBLE at each step.
 * - NULL where a product has no DOUBLE, as of values beyond 10^140, or with an
 *   infinity among them.
 */
#ifndef VDBQ_PLAN_OPERATOR_VARIANCE_H
#define VDBQ_PLAN_OPERATOR_VARIANCE_H

#include "plan/tree/expression.h"

struct binder;

/* What is added up. */
struct variance_values {
    struct expression *value;
    struct expression *square;
    struct expression *rest; /* of the square; NULL: it has none           */
    unsigned scale;          /* of DECIMAL values, which are integers here */
};
/* Of an argument, a number; false: a failure. */
bool variance_values(struct binder *binder, struct expression *argument,
                     struct variance_values *values);

/* Sums of these, each a DOUBLE. */
struct variance_sums {
    struct expression *count; /* of values                          */
    struct expression *sum, *sum_rest;
    struct expression *squares, *squares_rest;
    struct expression *rests; /* of squares; NULL: they have none   */
};
/* VAR_SAMP and its siblings; NULL: a failure. */
struct expression *variance_of(struct binder *binder,
                               enum aggregate_function function,
                               const struct variance_sums *sums, unsigned scale,
                               struct position at);

#endif
