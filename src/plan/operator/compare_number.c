/* SPDX-License-Identifier: MIT */
/*
 * Numbers of which no type holds both are compared exactly all the same:
 * integers and floats beyond 2^53, and DECIMALs of many digits with numbers of
 * fewer digits behind the point. What one is compared with in the place of the
 * other is its bound among the numbers of the other's type (program/functions/bound.h).
 */
#include "plan/make/arithmetic.h"
#include "plan/make/call.h"
#include "plan/operator/compare.h"
#include "plan/operator/compare_inner.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/tree/binder.h"

/* ------------------------------------------------- integers and floats -- */

/* Whether each integer that there can be is a double, too. */
static bool is_exact(const struct expression *integer)
{
    static const int64_t limit = (int64_t)1 << 53;

    return integer->range.low >= -limit && integer->range.high <= limit;
}

/* An integer that is not to be rounded to a float. A literal is to be, beside a
 * FLOAT. */
static bool is_unlike_float(const struct expression *integer,
                            const struct expression *real)
{
    return is_integer(integer->type) && is_float(real->type)
           && !is_null_constant(integer) && !is_null_constant(real)
           && !is_exact(integer)
           && (real->type == VDBQ_DOUBLE || !integer->literal);
}

static struct any_number number_of(const struct expression *constant)
{
    return (struct any_number){ .is_real = is_float(constant->type),
                                .integer = constant->constant.integer,
                                .real = constant->constant.real };
}

struct expression *compare_constant_bound(struct binder *binder,
                                          const struct expression *constant,
                                          enum bound bound, bool real,
                                          bool *none)
{
    struct any_number number = number_of(constant);
    int64_t integer = 0;
    double value = 0;

    *none = real ? !bound_double(&number, bound, &value)
                 : !bound_integer(&number, bound, &integer);
    if (*none)
        return NULL;
    return real ? expression_real(binder, VDBQ_DOUBLE, value, constant->at)
                : expression_integer(binder, integer, constant->at);
}

/* A side and a constant of the other kind of number. */
static struct expression *compare_constant(struct binder *binder,
                                           enum ast_operator operator,
                                           struct expression * side,
                                           struct expression *constant,
                                           const struct ast_expression *tree)
{
    bool none;
    struct expression *bound =
        compare_constant_bound(binder, constant, compare_bound_of(operator),
                               is_float(side->type), &none);

    if (none)
        return compare_below(binder, operator, side, constant, tree);
    return bound ? expression_operation(binder, compare_with_bound(operator),
                                        VDBQ_INTEGER, side, bound, tree)
                 : NULL;
}

/* Whether a double is in the range of 64-bit integers. */
static struct expression *fits_integer(struct binder *binder,
                                       struct expression *real,
                                       const struct ast_expression *tree)
{
    static const double end = 9223372036854775808.0;
    struct expression *low =
        expression_real(binder, VDBQ_DOUBLE, -end, tree->at);
    struct expression *high =
        low ? expression_real(binder, VDBQ_DOUBLE, end, tree->at) : NULL;

    low = high ? expression_operation(binder, AST_GE, VDBQ_INTEGER, real, low,
                                      tree)
               : NULL;
    high = low ? expression_operation(binder, AST_LT, VDBQ_INTEGER, real, high,
                                      tree)
               : NULL;
    return high ? expression_operation(binder, AST_AND, VDBQ_INTEGER, low, high,
                                       tree)
                : NULL;
}

/* An integer that is, as a double, what the double is: unless that is the one
 * above all integers, they compare as such. No cast fails here. */
static struct expression *compare_near(struct binder *binder,
                                       enum ast_operator operator,
                                       struct expression * integer,
                                       struct expression *real,
                                       const struct ast_expression *tree)
{
    struct expression *fits = fits_integer(binder, real, tree);
    struct expression *zero =
        fits ? expression_real(binder, VDBQ_DOUBLE, 0, tree->at) : NULL;
    struct expression *small =
        zero ? expression_choice(binder, fits, real, zero, tree->at) : NULL;
    struct expression *whole =
        small ? coerce_cast(binder, small, VDBQ_BIGINT) : NULL;
    struct expression *exact =
        whole ? expression_operation(binder, operator, VDBQ_INTEGER, integer,
                                     whole, tree)
              : NULL;
    struct expression *below =
        exact ? expression_truth(binder, comparison_holds(operator, - 1),
                                 tree->at)
              : NULL;

    return below ? expression_choice(binder, fits, exact, below, tree->at)
                 : NULL;
}

/* As doubles, and where these are equal as integers. That an equality holds
 * for the doubles, too, is said apart, for joins to find. */
static struct expression *compare_columns(struct binder *binder,
                                          enum ast_operator operator,
                                          struct expression * integer,
                                          struct expression *real,
                                          const struct ast_expression *tree)
{
    struct expression *as_double = coerce_cast(binder, integer, VDBQ_DOUBLE);
    struct expression *equal =
        as_double ? expression_operation(binder, AST_EQ, VDBQ_INTEGER,
                                         as_double, real, tree)
                  : NULL;
    struct expression *near =
        equal ? compare_near(binder, operator, integer, real, tree) : NULL;
    struct expression *far =
        near ? expression_operation(binder, operator, VDBQ_INTEGER, as_double,
                                    real, tree)
             : NULL;
    struct expression *e =
        far ? expression_choice(binder, equal, near, far, tree->at) : NULL;

    if (e == NULL || operator!= AST_EQ)
        return e;
    return expression_operation(binder, AST_AND, VDBQ_INTEGER, equal, e, tree);
}

static struct expression *compare_with_float(struct binder *binder,
                                             enum ast_operator operator,
                                             struct expression * integer,
                                             struct expression *real,
                                             const struct ast_expression *tree)
{
    real = coerce_cast(binder, real, VDBQ_DOUBLE);
    if (real == NULL)
        return NULL;
    if (real->kind == EXPRESSION_CONSTANT)
        return compare_constant(binder, operator, integer, real, tree);
    if (integer->kind == EXPRESSION_CONSTANT)
        return compare_constant(binder, compare_mirrored(operator), real,
                                integer, tree);
    return compare_columns(binder, operator, integer, real, tree);
}

/* ------------------------------------------------------------ decimals -- */

/* How many times as much a number's digits mean with fewer of them behind the
 * point. */
static int64_t factor_between(const struct expression *coarse,
                              const struct expression *fine)
{
    int64_t factor = 1;

    for (unsigned i = coarse->scale; i < fine->scale; i++)
        factor *= 10;
    return factor;
}

/* An integer or a DECIMAL that may be too large for as many digits behind the
 * point as the other has. */
static bool is_unlike_decimal(const struct expression *coarse,
                              const struct expression *fine)
{
    int64_t limit;

    if (fine->type != VDBQ_DECIMAL || coarse->scale >= fine->scale
        || (!is_integer(coarse->type) && coarse->type != VDBQ_DECIMAL)
        || is_null_constant(coarse) || is_null_constant(fine))
        return false;
    limit = INT64_MAX / factor_between(coarse, fine);
    return coarse->range.low < -limit || coarse->range.high > limit;
}

/* A DECIMAL's digits as an integer; NULL: a failure. */
static struct expression *digits_of(struct binder *binder, struct expression *e)
{
    return e->type == VDBQ_DECIMAL
               ? expression_number(binder, e, VDBQ_BIGINT, e->at)
               : e;
}

/* A number with fewer digits behind the point, and what of its digits these
 * are. */
struct parts {
    struct expression *digits; /* of the coarse number, as an integer     */
    struct expression *whole;  /* those of the fine one, as many ...      */
    struct expression *rest;   /* ... and what they leave, of its sign    */
};

static bool part_decimal(struct binder *binder, struct expression *coarse,
                         struct expression *fine,
                         const struct ast_expression *tree, struct parts *parts)
{
    struct expression *digits = digits_of(binder, fine);
    struct expression *factor =
        expression_integer(binder, factor_between(coarse, fine), tree->at);

    parts->digits = digits_of(binder, coarse);
    if (digits == NULL || factor == NULL || parts->digits == NULL)
        return false;
    parts->whole = expression_arithmetic(binder, AST_DIV, digits, factor, tree);
    parts->rest = expression_arithmetic(binder, AST_MOD, digits, factor, tree);
    return parts->whole != NULL && parts->rest != NULL;
}

/* Whether what is left is 0, or compares with it so. */
static struct expression *rest_is(struct binder *binder,
                                  enum ast_operator operator,
                                  const struct parts * parts,
                                  const struct ast_expression *tree)
{
    struct expression *zero = expression_integer(binder, 0, tree->at);

    return zero ? expression_operation(binder, operator, VDBQ_INTEGER,
                                       parts->rest, zero, tree)
                : NULL;
}

/* =, <> and IS: there may be no whole number to compare with. */
static struct expression *
compare_whole(struct binder *binder, enum ast_operator operator,
              struct expression * coarse, struct expression *fine,
              const struct parts *parts, const struct ast_expression *tree)
{
    struct expression *is_whole = rest_is(binder, AST_EQ, parts, tree);
    struct expression *equal =
        is_whole ? expression_operation(binder, operator, VDBQ_INTEGER,
                                        parts->digits, parts->whole, tree)
                 : NULL;
    struct expression *other =
        equal ? compare_below(binder, operator, coarse, fine, tree) : NULL;

    return other ? expression_choice(binder, is_whole, equal, other, tree->at)
                 : NULL;
}

/* The whole number is rounded up where the bound is the least not below, or
 * is the next one. */
static struct expression *
compare_with_decimal(struct binder *binder, enum ast_operator operator,
                     struct expression * coarse, struct expression *fine,
                     const struct ast_expression *tree)
{
    enum bound bound = compare_bound_of(operator);
    struct parts parts;
    struct expression *more;

    if (!part_decimal(binder, coarse, fine, tree, &parts))
        return NULL;
    if (bound == BOUND_EXACT)
        return compare_whole(binder, operator, coarse, fine, &parts, tree);
    more =
        rest_is(binder, bound == BOUND_LEAST ? AST_GT : AST_GE, &parts, tree);
    more = more
               ? expression_arithmetic(binder, AST_ADD, parts.whole, more, tree)
               : NULL;
    return more ? expression_operation(binder, compare_with_bound(operator),
                                       VDBQ_INTEGER, parts.digits, more, tree)
                : NULL;
}

/* The text, or NULL where a value is. */
static struct expression *null_with(struct binder *binder,
                                    struct expression *text,
                                    struct expression *value,
                                    const struct ast_expression *tree)
{
    struct expression *known = compare_known(binder, NULL, value, tree);
    struct expression *null =
        known ? expression_null(binder, VDBQ_TEXT, tree->at) : NULL;

    return null ? expression_choice(binder, known, text, null, tree->at) : NULL;
}

/* Texts of the whole numbers; one that is none where something is left. */
static bool decimal_keys(struct binder *binder, struct expression **coarse,
                         struct expression **fine)
{
    struct ast_expression place = { .at = (*fine)->at };
    struct parts parts;
    struct expression *is_whole, *whole, *none;

    if (!part_decimal(binder, *coarse, *fine, &place, &parts))
        return false;
    *coarse = coerce_cast(binder, parts.digits, VDBQ_TEXT);
    is_whole = *coarse ? rest_is(binder, AST_EQ, &parts, &place) : NULL;
    whole = is_whole ? coerce_cast(binder, parts.whole, VDBQ_TEXT) : NULL;
    none = whole
               ? expression_text(binder, (struct vdbq_text){ "", 0 }, place.at)
               : NULL;
    none = none ? expression_choice(binder, is_whole, whole, none, place.at)
                : NULL;
    *fine = none ? null_with(binder, none, parts.whole, &place) : NULL;
    return *fine != NULL;
}

/* ----------------------------------------------------------------- all -- */

bool compare_is_mixed(const struct expression *left,
                      const struct expression *right)
{
    return is_unlike_float(left, right) || is_unlike_float(right, left)
           || is_unlike_decimal(left, right) || is_unlike_decimal(right, left);
}

struct expression *compare_mixed(struct binder *binder,
                                 enum ast_operator operator,
                                 struct expression * left,
                                 struct expression *right,
                                 const struct ast_expression *tree)
{
    if (is_unlike_float(left, right))
        return compare_with_float(binder, operator, left, right, tree);
    if (is_unlike_decimal(left, right))
        return compare_with_decimal(binder, operator, left, right, tree);
    return compare_mixed(binder, compare_mirrored(operator), right, left, tree);
}

struct expression *compare_number_key(struct binder *binder,
                                      struct expression *e)
{
    if (is_integer(e->type))
        return coerce_cast(binder, e, VDBQ_TEXT);
    if (e->type != VDBQ_TEXT)
        e = coerce_cast(binder, e, VDBQ_DOUBLE);
    return e ? expression_call(
               binder, e->type == VDBQ_TEXT ? "number_text" : "number_text_of",
               &e, 1, e->at)
             : NULL;
}

bool mixed_keys(struct binder *binder, struct expression **left,
                struct expression **right)
{
    if (is_unlike_decimal(*left, *right))
        return decimal_keys(binder, left, right);
    if (is_unlike_decimal(*right, *left))
        return decimal_keys(binder, right, left);
    *left = compare_number_key(binder, *left);
    *right = *left ? compare_number_key(binder, *right) : NULL;
    return *right != NULL;
}
