/* SPDX-License-Identifier: MIT */
/*
 * date_diff(part, a, b): how often that part of a date or a time begins between a and
 * b; of weeks, how many have passed. As in DuckDB. Both are counted in that part from
 * a day that no time is before, so that division rounds down.
 */
#include <string.h>
#include <strings.h>

#include "base/type.h"
#include "plan/call/scalar.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* 4714-11-24 BC to 1970, in microseconds. */
#define COUNTED_FROM (2440588 * DAY_MICROSECONDS)

/* How many months a part has; or, of shorter ones, microseconds. */
struct length {
    const char *name;
    int64_t months, microseconds;
};
static const struct length lengths[] = {
    { "year", 12, 0 },
    { "quarter", 3, 0 },
    { "month", 1, 0 },
    { "week", 0, 7 * DAY_MICROSECONDS },
    { "day", 0, DAY_MICROSECONDS },
    { "hour", 0, INT64_C(3600000000) },
    { "minute", 0, 60000000 },
    { "second", 0, 1000000 },
};

/* The part that a constant names, also as `days`; NULL: none, a failure. */
static const struct length *find_length(struct binder *binder,
                                        struct expression *part)
{
    const struct expression *e = expression_known(binder, part);
    bool named = e != NULL && is_text_constant(e) && !e->constant.null;

    for (size_t i = 0; named && i < sizeof lengths / sizeof *lengths; i++) {
        struct vdbq_text text = e->constant.text;
        size_t length = strlen(lengths[i].name);
        if (text.length == length + 1 && (text.bytes[length] | 0x20) == 's')
            text.length--;
        if (text.length == length
            && strncasecmp(text.bytes, lengths[i].name, length) == 0)
            return &lengths[i];
    }
    if (e != NULL)
        error_at(binder->error, VDBQ_TYPE, part->at,
                 "the part is a constant: 'year', 'quarter', 'month', 'week', "
                 "'day', 'hour', 'minute' or 'second'");
    return NULL;
}

/* The months since the year 0. */
static struct expression *count_months(struct binder *binder,
                                       const struct call *call,
                                       struct expression *moment)
{
    struct expression *year =
        expression_part(binder, moment, AST_YEAR, moment->at);
    struct expression *month =
        expression_part(binder, moment, AST_MONTH, moment->at);

    year = scalar_calculated(binder, call, AST_MUL, year, 12);
    month = scalar_calculated(binder, call, AST_SUB, month, 1);
    return year && month
               ? expression_operator(binder, AST_ADD, year, month, call->tree)
               : NULL;
}

/* How many parts a moment is behind the first one; of weeks, days. */
static struct expression *count(struct binder *binder, const struct call *call,
                                const struct length *length,
                                struct expression *e)
{
    int64_t unit = length->microseconds;

    if (e->type != VDBQ_DATE && e->type != VDBQ_TIMESTAMP
        && e->type != VDBQ_TEXT && !is_null_constant(e))
        return refuse_argument(binder, call, e);
    if (e->type != VDBQ_DATE || length->months == 0)
        e = expression_cast_plain(binder, e, VDBQ_TIMESTAMP, e->at);
    if (e == NULL || is_null_constant(e))
        return e ? expression_null(binder, VDBQ_BIGINT, e->at) : NULL;
    if (length->months > 0)
        return scalar_calculated(binder, call, AST_DIV,
                                 count_months(binder, call, e), length->months);
    e = expression_number(binder, e, VDBQ_BIGINT, e->at);
    e = scalar_calculated(binder, call, AST_ADD, e, COUNTED_FROM);
    return scalar_calculated(binder, call, AST_DIV, e,
                             unit > DAY_MICROSECONDS ? DAY_MICROSECONDS : unit);
}

struct expression *scalar_date_diff(struct binder *binder,
                                    const struct call *call)
{
    const struct length *length = find_length(binder, call->arguments[0]);
    struct expression *from, *to, *e;

    if (length == NULL)
        return NULL;
    from = count(binder, call, length, call->arguments[1]);
    to = from ? count(binder, call, length, call->arguments[2]) : NULL;
    e = to ? expression_operator(binder, AST_SUB, to, from, call->tree) : NULL;
    if (e != NULL && length->microseconds > DAY_MICROSECONDS)
        e = scalar_calculated(binder, call, AST_DIV, e,
                              length->microseconds / DAY_MICROSECONDS);
    return e ? expression_cast_plain(binder, e, VDBQ_BIGINT, e->at) : NULL;
}
