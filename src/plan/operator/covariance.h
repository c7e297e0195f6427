/* SPDX-License-Identifier: MIT */
/*
 * Covariances, correlations and straight lines, of sums that exist.
 *
 * Of n points (x, y) n * sum(x * y) - sum(x) * sum(y) is n * n times their
 * covariance. It is computed as variances are, and as exactly (variance.h): sums and
 * products are two doubles each. All values are taken as DOUBLE.
 *
 * A spread of x, or of y, that is less than 2^-100 of its mean square is 0: then
 * there is no correlation, and of x no line.
 */
#ifndef VDBQ_PLAN_OPERATOR_COVARIANCE_H
#define VDBQ_PLAN_OPERATOR_COVARIANCE_H

#include "plan/tree/expression.h"

struct binder;

/* What is added up of a product, or of one value: a DOUBLE; and what rounding took
 * from that. */
struct exact_sum {
    struct expression *sum, *rest;
};

struct covariance_sums {
    struct expression *count; /* of points, a DOUBLE                       */
    struct exact_sum x, y;
    struct exact_sum xx, xy, yy;                    /* of products ...        */
    struct expression *xx_rest, *xy_rest, *yy_rest; /* of what rounding took
                                                       from each of them   */
};

/* COVAR_POP and its siblings; NULL: a failure. */
struct expression *covariance_of(struct binder *binder,
                                 enum aggregate_function function,
                                 const struct covariance_sums *sums,
                                 struct position at);

#endif
