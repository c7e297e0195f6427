/* SPDX-License-Identifier: MIT */
/*
 * Moments as numbers: what is counted since 1970-01-01, in several units, and a
 * TIMESTAMP of its parts. All is arithmetic of whole numbers.
 */
#include "plan/call/scalar.h"
#include "plan/make/arithmetic.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/operator/making.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

enum { MILLISECOND = 1000, SECOND = 1000000, NANOSECONDS = 1000 };
static const int64_t minute = INT64_C(60000000), hour = INT64_C(3600000000);

static struct expression *times(struct binder *binder, struct expression *e,
                                int64_t by)
{
    e = e ? expression_cast_plain(binder, e, VDBQ_BIGINT, e->at) : NULL;
    return e ? expression_calculate(binder, AST_MUL, e, by, e->at) : NULL;
}

/* Seconds with a fraction, of whatever number, as microseconds. */
static struct expression *
of_seconds(struct binder *binder, const struct call *call, struct expression *e)
{
    const struct making making = { binder, call->tree->at };
    struct expression *digits;

    if (is_integer(e->type))
        return times(binder, e, SECOND);
    if (!is_number(e->type) && !is_null_constant(e))
        return refuse_argument(binder, call, e);
    e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    e = making_operator(&making, AST_MUL, e, making_real(&making, SECOND));
    digits = e ? expression_integer(binder, 0, making.at) : NULL;
    digits =
        digits ? expression_cast_plain(binder, digits, VDBQ_INTEGER, making.at)
               : NULL;
    e = digits ? expression_math(binder, OP_ROUND_F64, VDBQ_DOUBLE, e, digits,
                                 false, making.at)
               : NULL;
    return e ? expression_cast_plain(binder, e, VDBQ_BIGINT, making.at) : NULL;
}

struct expression *scalar_to_timestamp(struct binder *binder,
                                       const struct call *call)
{
    return expression_time_of_count(
        binder, of_seconds(binder, call, call->arguments[0]));
}

/* ----------------------------------------------------------------- counts -- */

/* Division that rounds halves away from 0. */
static struct expression *rounded(struct binder *binder, struct expression *e,
                                  int64_t by, struct position at)
{
    struct expression *below, *more, *less;

    if (e == NULL)
        return NULL;
    below = expression_calculate(binder, AST_LT, e, 0, at);
    more = expression_calculate(binder, AST_ADD, e, by / 2, at);
    less = expression_calculate(binder, AST_SUB, e, by / 2, at);
    e = below && more && less ? expression_choice(binder, below, less, more, at)
                              : NULL;
    return e ? expression_calculate(binder, AST_DIV, e, by, at) : NULL;
}

/* What is counted up to a date or a time, in microseconds; `*count`: the argument is a
 * count. NULL: a failure. */
static struct expression *moment(struct binder *binder, const struct call *call,
                                 bool *count)
{
    struct expression *e = call->arguments[0];

    *count = is_integer(e->type) && !is_null_constant(e);
    if (*count)
        return e;
    if (is_null_constant(e))
        return expression_null(binder, VDBQ_BIGINT, e->at);
    if (e->type != VDBQ_DATE && e->type != VDBQ_TIMESTAMP)
        return refuse_argument(binder, call, e);
    return expression_count_of_time(binder, e);
}

struct expression *scalar_epoch_ms(struct binder *binder,
                                   const struct call *call)
{
    bool count;
    struct expression *e = moment(binder, call, &count);

    return count
               ? expression_time_of_count(binder, times(binder, e, MILLISECOND))
               : rounded(binder, e, MILLISECOND, call->tree->at);
}

struct expression *scalar_epoch_us(struct binder *binder,
                                   const struct call *call)
{
    bool count;
    struct expression *e = moment(binder, call, &count);

    return e && count ? refuse_argument(binder, call, e) : e;
}

struct expression *scalar_epoch_ns(struct binder *binder,
                                   const struct call *call)
{
    bool count;
    struct expression *e = moment(binder, call, &count);

    if (e != NULL && count)
        return refuse_argument(binder, call, e);
    return times(binder, e, NANOSECONDS);
}

/* ---------------------------------------------------------- make_timestamp -- */

/* A number from 0 to `most`; another one fails. */
static struct expression *within(struct binder *binder, const struct call *call,
                                 struct expression *e, int64_t most)
{
    struct expression *below = scalar_calculated(binder, call, AST_LT, e, 0);
    struct expression *above = scalar_calculated(binder, call, AST_GT, e, most);
    struct expression *beyond =
        below && above
            ? expression_logic(binder, AST_OR, below, above, call->tree)
            : NULL;

    return beyond ? expression_check(binder, e, beyond,
                                     "there is no such time of day")
                  : NULL;
}

static struct expression *part(struct binder *binder, const struct call *call,
                               unsigned i, int64_t most)
{
    struct expression *e = call->arguments[i];

    if (!is_integer(e->type) && !is_null_constant(e))
        return refuse_argument(binder, call, e);
    e = expression_cast_plain(binder, e, VDBQ_BIGINT, e->at);
    return e ? within(binder, call, e, most) : NULL;
}

static struct expression *sum(struct binder *binder, const struct call *call,
                              struct expression *a, struct expression *b)
{
    return a && b ? expression_arithmetic(binder, AST_ADD, a, b, call->tree)
                  : NULL;
}

/* The microseconds of a day: of hours, minutes and seconds, 24:00:00 at most. */
static struct expression *clock_of(struct binder *binder,
                                   const struct call *call)
{
    struct expression *hours = part(binder, call, 3, 24);
    struct expression *minutes = hours ? part(binder, call, 4, 59) : NULL;
    struct expression *seconds =
        minutes ? of_seconds(binder, call, call->arguments[5]) : NULL;

    seconds = seconds ? within(binder, call, seconds, minute) : NULL;
    return within(
        binder, call,
        sum(binder, call, times(binder, hours, hour),
            sum(binder, call, times(binder, minutes, minute), seconds)),
        24 * hour);
}

struct expression *scalar_make_timestamp(struct binder *binder,
                                         const struct call *call)
{
    struct call date = *call;
    struct expression *e = call->arguments[0];

    if (call->count != 1 && call->count != 6) {
        error_at(binder->error, VDBQ_TYPE, call->tree->at,
                 "%s takes microseconds, or a year, a month, a day, hours, "
                 "minutes and seconds, not %u arguments",
                 call->name, call->count);
        return NULL;
    }
    if (call->count == 1)
        return is_integer(e->type) || is_null_constant(e)
                   ? expression_time_of_count(binder, times(binder, e, 1))
                   : refuse_argument(binder, call, e);
    date.count = 3;
    e = scalar_make_date(binder, &date);
    e = e ? expression_count_of_time(binder, e) : NULL;
    return expression_time_of_count(
        binder, sum(binder, call, e, e ? clock_of(binder, call) : NULL));
}

struct expression *scalar_make_timestamp_ms(struct binder *binder,
                                            const struct call *call)
{
    struct expression *e = call->arguments[0];

    return is_integer(e->type) || is_null_constant(e)
               ? expression_time_of_count(binder, times(binder, e, MILLISECOND))
               : refuse_argument(binder, call, e);
}
