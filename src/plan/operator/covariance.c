/* SPDX-License-Identifier: MIT */
/*
 * Covariances: covariance.h says what is computed. Operands may be failures, NULL,
 * and so is what is made of them then.
 */
#include "plan/operator/covariance.h"

#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"

struct making {
    struct binder *binder;
    struct position at;
};

static struct expression *operate(const struct making *making,
                                  enum ast_operator operator,
                                  struct expression * left,
                                  struct expression *right)
{
    const struct ast_expression place = { .at = making->at };

    return left && right ? expression_operator(making->binder, operator, left,
                                               right, &place)
                         : NULL;
}

static struct expression *real(const struct making *making, double value)
{
    return expression_real(making->binder, VDBQ_DOUBLE, value, making->at);
}

static struct expression *choose(const struct making *making,
                                 struct expression *condition,
                                 struct expression *left,
                                 struct expression *right)
{
    return condition && left && right ? expression_choice(
               making->binder, condition, left, right, making->at)
                                      : NULL;
}

static struct expression *root(const struct making *making,
                               struct expression *e)
{
    return e ? expression_math(making->binder, OP_SQRT_F64, VDBQ_DOUBLE, e,
                               NULL, true, making->at)
             : NULL;
}

struct expression *covariance_rest(struct binder *binder,
                                   struct expression *left,
                                   struct expression *right, struct position at)
{
    return left && right ? expression_math(binder, OP_MUL_REST_F64, VDBQ_DOUBLE,
                                           left, right, true, at)
                         : NULL;
}

static struct expression *product_rest(const struct making *making,
                                       struct expression *left,
                                       struct expression *right)
{
    return covariance_rest(making->binder, left, right, making->at);
}

/* -------------------------------------------------------------- spreads -- */

/* What is left of a * b when the product of the rounded sums is rounded. */
static struct expression *rest_of_sums(const struct making *making,
                                       const struct exact_sum *a,
                                       const struct exact_sum *b)
{
    struct expression *cross =
        operate(making, AST_ADD, operate(making, AST_MUL, a->sum, b->rest),
                operate(making, AST_MUL, a->rest, b->sum));

    return operate(making, AST_ADD, product_rest(making, a->sum, b->sum),
                   cross);
}

/* n * sum(a * b) - sum(a) * sum(b) */
static struct expression *
spread(const struct making *making, struct expression *count,
       const struct exact_sum *products, struct expression *rests,
       const struct exact_sum *a, const struct exact_sum *b)
{
    struct expression *rest = operate(making, AST_ADD, products->rest, rests);
    struct expression *whole;

    rest = operate(making, AST_ADD, product_rest(making, count, products->sum),
                   operate(making, AST_MUL, count, rest));
    rest = operate(making, AST_SUB, rest, rest_of_sums(making, a, b));
    whole =
        operate(making, AST_SUB, operate(making, AST_MUL, count, products->sum),
                operate(making, AST_MUL, a->sum, b->sum));
    return operate(making, AST_ADD, whole, rest);
}

/* ... of one value, which is not below 0; 0 where it is no more than roundings. */
static struct expression *own_spread(const struct making *making,
                                     struct expression *count,
                                     const struct exact_sum *squares,
                                     struct expression *rests,
                                     const struct exact_sum *value)
{
    struct expression *e = spread(making, count, squares, rests, value, value);
    struct expression *least =
        operate(making, AST_MUL, operate(making, AST_MUL, count, squares->sum),
                real(making, 0x1p-100));

    return choose(making, operate(making, AST_LT, e, least), real(making, 0),
                  e);
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
        others = operate(making, AST_SUB, others, real(making, 1));
    return operate(making, AST_DIV, spread_xy(making, sums),
                   operate(making, AST_MUL, sums->count, others));
}

/* Rounding does not lead beyond 1 and -1. */
static struct expression *correlation(const struct making *making,
                                      const struct covariance_sums *sums)
{
    struct expression *both =
        operate(making, AST_MUL, root(making, spread_x(making, sums)),
                root(making, spread_y(making, sums)));
    struct expression *e =
        operate(making, AST_DIV, spread_xy(making, sums), both);

    e = choose(making, operate(making, AST_GT, e, real(making, 1)),
               real(making, 1), e);
    return choose(making, operate(making, AST_LT, e, real(making, -1)),
                  real(making, -1), e);
}

static struct expression *slope(const struct making *making,
                                const struct covariance_sums *sums)
{
    return operate(making, AST_DIV, spread_xy(making, sums),
                   spread_x(making, sums));
}

static struct expression *intercept(const struct making *making,
                                    const struct covariance_sums *sums)
{
    struct expression *height =
        operate(making, AST_MUL, slope(making, sums), sums->x.sum);

    return operate(making, AST_DIV,
                   operate(making, AST_SUB, sums->y.sum, height), sums->count);
}

/* 1 where all heights are the same, and the widths are not. */
static struct expression *fit(const struct making *making,
                              const struct covariance_sums *sums)
{
    struct expression *e = correlation(making, sums);
    struct expression *flat =
        operate(making, AST_EQ, spread_y(making, sums), real(making, 0));
    struct expression *wide =
        operate(making, AST_GT, spread_x(making, sums), real(making, 0));

    e = operate(making, AST_MUL, e, e);
    return choose(making, operate(making, AST_AND, flat, wide), real(making, 1),
                  e);
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
    default:
        return covariance(&making, sums, function == AGGREGATE_COVAR_SAMP);
    }
}
