/* SPDX-License-Identifier: MIT */
/*
 * Variances: variance.h says what is computed. Operands may be failures, NULL,
 * and so is what is made of them then.
 */
#include "plan/operator/variance.h"

#include <assert.h>

#include "base/type.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"

/* DECIMAL digits whose square has a BIGINT. */
enum { EXACT_DIGITS_MAX = 9 };

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

/* What rounding takes from a product. */
static struct expression *product_rest(const struct making *making,
                                       struct expression *left,
                                       struct expression *right)
{
    return left && right
               ? expression_math(making->binder, OP_MUL_REST_F64, VDBQ_DOUBLE,
                                 left, right, true, making->at)
               : NULL;
}

/* -------------------------------------------------------------- values -- */

/* The integer that a DECIMAL is kept as. */
static struct expression *without_point(const struct making *making,
                                        struct expression *e)
{
    return e->type == VDBQ_DECIMAL
               ? expression_renamed(making->binder, e, VDBQ_BIGINT, 0)
               : e;
}

static bool is_exact(const struct expression *e)
{
    return e->type == VDBQ_SMALLINT || e->type == VDBQ_INTEGER
           || e->type == VDBQ_BOOLEAN
           || (e->type == VDBQ_DECIMAL && e->precision > 0
               && e->precision <= EXACT_DIGITS_MAX);
}

bool variance_values(struct binder *binder, struct expression *argument,
                     struct variance_values *values)
{
    const struct making making = { binder, argument->at };
    struct expression *e = without_point(&making, argument);
    bool exact = is_exact(argument);

    *values = (struct variance_values){ 0 };
    if (e != NULL && !exact)
        e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    else if (e != NULL && e->type == VDBQ_BOOLEAN)
        e = expression_cast_plain(binder, e, VDBQ_INTEGER, e->at);
    values->value = e;
    values->square = operate(&making, AST_MUL, e, e);
    if (!exact && argument->type != VDBQ_FLOAT)
        values->rest = product_rest(&making, e, e);
    values->scale = argument->type == VDBQ_DECIMAL ? argument->scale : 0;
    return values->square != NULL
           && (exact || argument->type == VDBQ_FLOAT || values->rest != NULL);
}

/* ---------------------------------------------------------------- sums -- */

/* What is left of n * Q - S * S when both products are rounded. */
static struct expression *rest_of(const struct making *making,
                                  const struct variance_sums *sums)
{
    struct expression *squares = sums->squares_rest, *sum;

    if (sums->rests != NULL)
        squares = operate(making, AST_ADD, squares, sums->rests);
    squares = operate(making, AST_ADD,
                      product_rest(making, sums->count, sums->squares),
                      operate(making, AST_MUL, sums->count, squares));
    sum = operate(making, AST_MUL, sums->sum_rest,
                  operate(making, AST_ADD, sums->sum, sums->sum));
    sum = operate(making, AST_ADD, product_rest(making, sums->sum, sums->sum),
                  sum);
    return operate(making, AST_SUB, squares, sum);
}

/* n * Q - S * S, or 0 where that is too little to be more than roundings. */
static struct expression *spread_of(const struct making *making,
                                    const struct variance_sums *sums)
{
    struct expression *squares =
        operate(making, AST_MUL, sums->count, sums->squares);
    struct expression *spread =
        operate(making, AST_ADD,
                operate(making, AST_SUB, squares,
                        operate(making, AST_MUL, sums->sum, sums->sum)),
                rest_of(making, sums));
    struct expression *least =
        operate(making, AST_MUL, squares, real(making, 0x1p-100));
    struct expression *below = operate(making, AST_LT, spread, least);
    struct expression *zero = real(making, 0);

    return below && zero ? expression_choice(making->binder, below, zero,
                                             spread, making->at)
                         : NULL;
}

/* By what the spread is divided: 0, and so NULL, of too few values. */
static struct expression *divisor_of(const struct making *making,
                                     const struct variance_sums *sums,
                                     bool sample, unsigned scale)
{
    struct expression *others = sums->count, *divisor;
    double power = (double)decimal_power(scale);

    if (sample)
        others = operate(making, AST_SUB, sums->count, real(making, 1));
    divisor = operate(making, AST_MUL, sums->count, others);
    return scale == 0
               ? divisor
               : operate(making, AST_MUL, divisor, real(making, power * power));
}

struct expression *variance_of(struct binder *binder,
                               enum aggregate_function function,
                               const struct variance_sums *sums, unsigned scale,
                               struct position at)
{
    const struct making making = { binder, at };
    bool sample =
        function == AGGREGATE_VAR_SAMP || function == AGGREGATE_STDDEV_SAMP;
    struct expression *e = operate(&making, AST_DIV, spread_of(&making, sums),
                                   divisor_of(&making, sums, sample, scale));

    assert(aggregate_row(function)->keeps == AGGREGATE_KEEPS_OTHERS);
    if (e == NULL || function == AGGREGATE_VAR_SAMP
        || function == AGGREGATE_VAR_POP)
        return e;
    return expression_math(binder, OP_SQRT_F64, VDBQ_DOUBLE, e, NULL, true, at);
}
