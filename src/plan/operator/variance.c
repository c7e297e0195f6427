/* SPDX-License-Identifier: MIT */
/*
 * Variances: variance.h says what is computed.
 */
#include "plan/operator/variance.h"

#include <assert.h>

#include "base/type.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/making.h"

/* DECIMAL digits whose square has a BIGINT. */
enum { EXACT_DIGITS_MAX = 9 };

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
    values->square = making_operator(&making, AST_MUL, e, e);
    if (!exact && argument->type != VDBQ_FLOAT)
        values->rest = making_product_rest(&making, e, e);
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
        squares = making_operator(making, AST_ADD, squares, sums->rests);
    squares =
        making_operator(making, AST_ADD,
                        making_product_rest(making, sums->count, sums->squares),
                        making_operator(making, AST_MUL, sums->count, squares));
    sum =
        making_operator(making, AST_MUL, sums->sum_rest,
                        making_operator(making, AST_ADD, sums->sum, sums->sum));
    sum =
        making_operator(making, AST_ADD,
                        making_product_rest(making, sums->sum, sums->sum), sum);
    return making_operator(making, AST_SUB, squares, sum);
}

/* n * Q - S * S, or 0 where that is too little to be more than roundings. */
static struct expression *spread_of(const struct making *making,
                                    const struct variance_sums *sums)
{
    struct expression *squares =
        making_operator(making, AST_MUL, sums->count, sums->squares);
    struct expression *spread = making_operator(
        making, AST_ADD,
        making_operator(making, AST_SUB, squares,
                        making_operator(making, AST_MUL, sums->sum, sums->sum)),
        rest_of(making, sums));
    struct expression *least = making_operator(making, AST_MUL, squares,
                                               making_real(making, 0x1p-100));
    struct expression *below = making_operator(making, AST_LT, spread, least);
    struct expression *zero = making_real(making, 0);

    return making_choice(making, below, zero, spread);
}

/* By what the spread is divided: 0, and so NULL, of too few values. */
static struct expression *divisor_of(const struct making *making,
                                     const struct variance_sums *sums,
                                     bool sample, unsigned scale)
{
    struct expression *others = sums->count, *divisor;
    double power = (double)decimal_power(scale);

    if (sample)
        others = making_operator(making, AST_SUB, sums->count,
                                 making_real(making, 1));
    divisor = making_operator(making, AST_MUL, sums->count, others);
    return scale == 0 ? divisor
                      : making_operator(making, AST_MUL, divisor,
                                        making_real(making, power * power));
}

struct expression *variance_of(struct binder *binder,
                               enum aggregate_function function,
                               const struct variance_sums *sums, unsigned scale,
                               struct position at)
{
    const struct making making = { binder, at };
    bool sample =
        function == AGGREGATE_VAR_SAMP || function == AGGREGATE_STDDEV_SAMP;
    struct expression *e =
        making_operator(&making, AST_DIV, spread_of(&making, sums),
                        divisor_of(&making, sums, sample, scale));

    assert(aggregate_row(function)->keeps == AGGREGATE_KEEPS_OTHERS);
    if (e == NULL || function == AGGREGATE_VAR_SAMP
        || function == AGGREGATE_VAR_POP)
        return e;
    return making_root(&making, e);
}
