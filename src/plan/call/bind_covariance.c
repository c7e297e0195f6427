/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of two values: which sums they are made of (operator/covariance.h).
 * Rows where one of both is NULL do not count.
 */
#include "plan/call/call.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/covariance.h"
#include "plan/operator/making.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* An argument as a DOUBLE. */
static struct expression *value_of(struct binder *binder,
                                   const struct call *call, unsigned i)
{
    struct expression *e = call->arguments[i];

    if (!is_number(e->type) && !is_null_constant(e))
        return refuse_argument(binder, call, e);
    return expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
}

/* False: a failure. */
static bool add_up(struct binder *binder, const struct call *call,
                   struct expression *e, struct exact_sum *sum)
{
    sum->sum = bind_aggregate_part(binder, call, AGGREGATE_TOTAL, e);
    sum->rest = bind_aggregate_part(binder, call, AGGREGATE_SUM_REST, e);
    return sum->sum != NULL && sum->rest != NULL;
}

/* Products of values, and what rounding takes from them. */
static bool add_products(struct binder *binder, const struct call *call,
                         struct expression *left, struct expression *right,
                         struct exact_sum *sum, struct expression **rests)
{
    struct position at = call->tree->at;
    const struct ast_expression place = { .at = at };
    struct expression *e =
        expression_operator(binder, AST_MUL, left, right, &place);

    *rests = bind_aggregate_part(
        binder, call, AGGREGATE_TOTAL,
        making_product_rest(&(struct making){ binder, at }, left, right));
    return e != NULL && *rests != NULL && add_up(binder, call, e, sum);
}

/* The functions named REGR have the height, y, first; of others it means nothing. */
struct expression *bind_covariance(struct binder *binder,
                                   const struct call *call,
                                   enum aggregate_function function)
{
    struct position at = call->tree->at;
    struct expression *y = value_of(binder, call, 0);
    struct expression *x = y ? value_of(binder, call, 1) : NULL;
    struct covariance_sums sums = { 0 };
    struct call points = *call;

    if (x == NULL || !bind_filter_nulls(binder, &points, x)
        || !bind_filter_nulls(binder, &points, y))
        return NULL;
    sums.count = bind_aggregate_part(binder, &points, AGGREGATE_COUNT, x);
    if (sums.count != NULL)
        sums.count = expression_cast_plain(binder, sums.count, VDBQ_DOUBLE, at);
    return sums.count != NULL && add_up(binder, &points, x, &sums.x)
                   && add_up(binder, &points, y, &sums.y)
                   && add_products(binder, &points, x, x, &sums.xx,
                                   &sums.xx_rest)
                   && add_products(binder, &points, x, y, &sums.xy,
                                   &sums.xy_rest)
                   && add_products(binder, &points, y, y, &sums.yy,
                                   &sums.yy_rest)
               ? covariance_of(binder, function, &sums, at)
               : NULL;
}
