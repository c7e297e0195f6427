/* SPDX-License-Identifier: MIT */
/*
 * Covariances: covariance.h says what is computed.
 */
#include "plan/operator/covariance.h"

#include "plan/make/convert.h"
#include "plan/operator/making.h"

/* -------------------------------------------------------------- spreads -- */

/* What is left of a * b when the product of the rounded sums is rounded. */
static struct expression *rest_of_sums(const struct making *making,
                                       const struct exact_sum *a,
                                       const struct exact_sum *b)
{
    struct expression *cross = making_operator(
        making, AST_ADD, making_operator(making, AST_MUL, a->sum, b->rest),
        making_operator(making, AST_MUL, a->rest, b->sum));

    return making_operator(making, AST_ADD,
                           making_product_rest(making, a->sum, b->sum), cross);
}

/* n * sum(a * b) - sum(a) * sum(b) */
static struct expression *
spread(const struct making *making, struct expression *count,
       const struct exact_sum *products, struct expression *rests,
       const struct exact_sum *a, const struct exact_sum *b)
{
    struct expression *rest =
        making_operator(making, AST_ADD, products->rest, rests);
    struct expression *whole;

    rest = making_operator(making, AST_ADD,
                           making_product_rest(making, count, products->sum),
                           making_operator(making, AST_MUL, count, rest));
    rest = making_operator(making, AST_SUB, rest, rest_of_sums(making, a, b));
    whole = making_operator(
        making, AST_SUB, making_operator(making, AST_MUL, count, products->sum),
        making_operator(making, AST_MUL, a->sum, b->sum));
    return making_operator(making, AST_ADD, whole, rest);
}

/* ... of one value, which is not below 0; 0 where it is no more than roundings. */
static struct expression *own_spread(const struct making *making,
                                     struct expression *count,
                                     const struct exact_sum *squares,
                                     struct expression *rests,
                                     const struct exact_sum *value)
{
    struct expression *e = spread(making, count, squares, rests, value, value);
    struct expression *least = making_operator(
        making, AST_MUL, making_operator(making, AST_MUL, count, squares->sum),
        making_real(making, 0x1p-100));

    return making_choice(making, making_operator(making, AST_LT, e, least),
                         making_real(making, 0), e);
}

static struct expression *spread_xy(const struct making *making,
                                    const struct covariance_sums *sums)
{
    return spread(making, sums->count, &sums->xy, sums->xy_rest, &sums->x,
                  &sums->y);
}

static struct expression *spread_x(const struct making *making,
                                   const struct covariance_sums *sums)
{
    return own_spread(making, sums->count, &sums->xx, sums->xx_rest, &sums->x);
}

static struct expression *spread_y(const struct making *making,
                                   const struct covariance_sums *sums)
{
    return own_spread(making, sums->count, &sums->yy, sums->yy_rest, &sums->y);
}

/* ------------------------------------------------------------- results -- */

static struct expression *covariance(const struct making *making,
                                     const struct covariance_sums *sums,
                                     bool sample)
{
    struct expression *others = sums->count;

    if (sample)
        others =
            making_operator(making, AST_SUB, others, making_real(making, 1));
    return making_operator(
        making, AST_DIV, spread_xy(making, sums),
        making_operator(making, AST_MUL, sums->count, others));
}

/* Rounding does not lead beyond 1 and -1. */
static struct expression *correlation(const struct making *making,
                                      const struct covariance_sums *sums)
{
    struct expression *both = making_operator(
        making, AST_MUL, making_root(making, spread_x(making, sums)),
        making_root(making, spread_y(making, sums)));
    struct expression *e =
        making_operator(making, AST_DIV, spread_xy(making, sums), both);

    e = making_choice(
        making, making_operator(making, AST_GT, e, making_real(making, 1)),
        making_real(making, 1), e);
    return making_choice(
        making, making_operator(making, AST_LT, e, making_real(making, -1)),
        making_real(making, -1), e);
}

static struct expression *slope(const struct making *making,
                                const struct covariance_sums *sums)
{
    return making_operator(making, AST_DIV, spread_xy(making, sums),
                           spread_x(making, sums));
}

static struct expression *intercept(const struct making *making,
                                    const struct covariance_sums *sums)
{
    struct expression *height =
        making_operator(making, AST_MUL, slope(making, sums), sums->x.sum);

    return making_operator(
        making, AST_DIV, making_operator(making, AST_SUB, sums->y.sum, height),
        sums->count);
}

/* 1 where all heights are the same, and the widths are not. */
static struct expression *fit(const struct making *making,
                              const struct covariance_sums *sums)
{
    struct expression *e = correlation(making, sums);
    struct expression *flat = making_operator(
        making, AST_EQ, spread_y(making, sums), making_real(making, 0));
    struct expression *wide = making_operator(
        making, AST_GT, spread_x(making, sums), making_real(making, 0));

    e = making_operator(making, AST_MUL, e, e);
    return making_choice(making, making_operator(making, AST_AND, flat, wide),
                         making_real(making, 1), e);
}

/* A spread through the number of points: the sum of products of distances. */
static struct expression *product_sum(const struct making *making,
                                      const struct covariance_sums *sums,
                                      struct expression *spread)
{
    return making_operator(making, AST_DIV, spread, sums->count);
}

struct expression *covariance_of(struct binder *binder,
                                 enum aggregate_function function,
                                 const struct covariance_sums *sums,
                                 struct position at)
{
    const struct making making = { binder, at };

    switch (function) {
    case AGGREGATE_CORR:
        return correlation(&making, sums);
    case AGGREGATE_REGR_SLOPE:
        return slope(&making, sums);
    case AGGREGATE_REGR_INTERCEPT:
        return intercept(&making, sums);
    case AGGREGATE_REGR_R2:
        return fit(&making, sums);
    case AGGREGATE_REGR_COUNT:
        return expression_cast_plain(binder, sums->count, VDBQ_BIGINT, at);
    case AGGREGATE_REGR_AVGX:
        return making_operator(&making, AST_DIV, sums->x.sum, sums->count);
    case AGGREGATE_REGR_AVGY:
        return making_operator(&making, AST_DIV, sums->y.sum, sums->count);
    case AGGREGATE_REGR_SXX:
        return product_sum(&making, sums, spread_x(&making, sums));
    case AGGREGATE_REGR_SYY:
        return product_sum(&making, sums, spread_y(&making, sums));
    case AGGREGATE_REGR_SXY:
        return product_sum(&making, sums, spread_xy(&making, sums));
    default:
        return covariance(&making, sums, function == AGGREGATE_COVAR_SAMP);
    }
}
