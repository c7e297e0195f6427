/* SPDX-License-Identifier: MIT */
/*
 * Dates and times: what one is of the other, their parts, and what moves them.
 * A DATE is days, a TIMESTAMP is microseconds, both since 1970-01-01: all but
 * a date's parts and months is arithmetic of whole numbers.
 */
#include "plan/make/convert.h"

#include "base/type.h"
#include "plan/make/arithmetic.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/tree/binder.h"

enum { MONTHS_OF_YEAR = 12, YEARS_MAX = 10000 };
/* In the units of a TIMESTAMP. */
static const int64_t clock_units[] = {
    [AST_HOUR] = 3600000000, [AST_MINUTE] = 60000000, [AST_SECOND] = 1000000
};

/* A number of days as a DATE, or of microseconds as a TIMESTAMP. What may lie
 * outside the years that these have is checked. */
static struct expression *in_years(struct binder *binder, struct expression *e,
                                   int type)
{
    struct ast_expression place = { .at = e ? e->at : (struct position){ 0 } };
    struct expression *below, *above, *either;
    int64_t least, greatest;

    type_limits((enum vdbq_type)type, &least, &greatest);
    if (e == NULL || is_null_constant(e)
        || (e->range.low >= least && e->range.high <= greatest))
        return e;
    below = expression_calculate(binder, AST_LT, e, least, e->at);
    above = expression_calculate(binder, AST_GT, e, greatest, e->at);
    either = below && above
                 ? expression_logic(binder, AST_OR, below, above, &place)
                 : NULL;
    return either ? expression_check(binder, e, either,
                                     "a date is outside "
                                     "the years 1 to 9999")
                  : NULL;
}

/* The day of a time: division that rounds down. */
static struct expression *day_of(struct binder *binder, struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    struct expression *time = expression_renamed(binder, e, VDBQ_BIGINT, 0);
    struct expression *day =
        expression_calculate(binder, AST_DIV, time, DAY_MICROSECONDS, e->at);
    struct expression *rest =
        day ? expression_calculate(binder, AST_MOD, time, DAY_MICROSECONDS,
                                   e->at)
            : NULL;
    struct expression *before =
        rest ? expression_calculate(binder, AST_LT, rest, 0, e->at) : NULL;

    return before ? expression_arithmetic(binder, AST_SUB, day, before, &place)
                  : NULL;
}

struct expression *expression_date_of_time(struct binder *binder,
                                           struct expression *e)
{
    struct expression *day = day_of(binder, e);

    return day ? expression_number(binder, day, VDBQ_DATE, e->at) : NULL;
}

struct expression *expression_time_of_date(struct binder *binder,
                                           struct expression *e)
{
    struct expression *day = expression_renamed(binder, e, VDBQ_BIGINT, 0);

    return expression_renamed(
        binder,
        expression_calculate(binder, AST_MUL, day, DAY_MICROSECONDS, e->at),
        VDBQ_TIMESTAMP, 0);
}

struct expression *expression_date_of_days(struct binder *binder,
                                           struct expression *e,
                                           struct position at)
{
    e = expression_cast_plain(binder, e, VDBQ_BIGINT, at);
    e = in_years(binder, e, VDBQ_DATE);
    return e ? expression_number(binder, e, VDBQ_DATE, at) : NULL;
}

/* What of a time lies behind midnight. */
static struct expression *clock_of(struct binder *binder, struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    struct expression *day = day_of(binder, e), *time;

    day = day ? expression_calculate(binder, AST_MUL, day, DAY_MICROSECONDS,
                                     e->at)
              : NULL;
    time = day ? expression_renamed(binder, e, VDBQ_BIGINT, 0) : NULL;
    return time ? expression_arithmetic(binder, AST_SUB, time, day, &place)
                : NULL;
}

static struct expression *refuse_date(struct binder *binder,
                                      const struct expression *e,
                                      struct position at)
{
    error_at(binder->error, VDBQ_TYPE, at,
             "this needs a DATE or a TIMESTAMP, not a %s",
             type_name((enum vdbq_type)e->type));
    return NULL;
}

struct expression *expression_date_or_time(struct binder *binder,
                                           struct expression *e,
                                           struct position at)
{
    if (e->type == VDBQ_TEXT)
        return expression_cast_plain(binder, e, VDBQ_TIMESTAMP, at);
    return e->type == VDBQ_DATE || e->type == VDBQ_TIMESTAMP
               ? e
               : refuse_date(binder, e, at);
}

static struct expression *part_of_date(struct binder *binder,
                                       struct expression *date,
                                       enum ast_unit unit, struct position at)
{
    struct expression *e;

    if (is_null_constant(date))
        return expression_null(binder, VDBQ_INTEGER, at);
    e = expression_new(binder, EXPRESSION_MATH, VDBQ_INTEGER, at);
    if (e == NULL)
        return NULL;
    e->math.op = OP_DATE_PART_I32;
    e->left = date;
    e->math.part = unit;
    return expression_finish(binder, e);
}

struct expression *expression_part(struct binder *binder,
                                   struct expression *operand,
                                   enum ast_unit unit, struct position at)
{
    struct expression *e = expression_date_or_time(binder, operand, at);

    if (e == NULL)
        return NULL;
    if (unit >= AST_HOUR) {
        e = e->type == VDBQ_DATE ? expression_time_of_date(binder, e) : e;
        e = e ? clock_of(binder, e) : NULL;
        e = e ? expression_calculate(binder, AST_DIV, e, clock_units[unit], at)
              : NULL;
        return e && unit != AST_HOUR
                   ? expression_calculate(binder, AST_MOD, e, 60, at)
                   : e;
    }
    e = e->type == VDBQ_TIMESTAMP ? expression_date_of_time(binder, e) : e;
    if (e == NULL)
        return NULL;
    return part_of_date(binder, e, unit, at);
}

struct expression *expression_time_of_count(struct binder *binder,
                                            struct expression *e)
{
    return expression_renamed(binder, in_years(binder, e, VDBQ_TIMESTAMP),
                              VDBQ_TIMESTAMP, 0);
}

struct expression *expression_count_of_time(struct binder *binder,
                                            struct expression *e)
{
    if (e != NULL && e->type == VDBQ_DATE)
        e = expression_time_of_date(binder, e);
    return e ? expression_renamed(binder, e, VDBQ_BIGINT, 0) : NULL;
}

/* ------------------------------------------------------------- intervals -- */

/* How many of such parts of its unit an interval has. */
static struct expression *count_of(struct binder *binder,
                                   const struct time_interval *interval,
                                   int64_t parts, struct position at)
{
    int64_t count = interval->count * parts;
    struct expression *times = interval->times;

    if (times == NULL)
        return expression_integer(binder, count, at);
    times = expression_cast_plain(binder, times, VDBQ_BIGINT, at);
    return times ? expression_calculate(binder, AST_MUL, times, count, at)
                 : NULL;
}

static struct expression *add(struct binder *binder, struct expression *e,
                              struct expression *count, struct position at)
{
    struct ast_expression place = { .at = at };

    return e && count ? expression_arithmetic(binder, AST_ADD, e, count, &place)
                      : NULL;
}

/* A date moved by months. */
static struct expression *add_months(struct binder *binder,
                                     struct expression *e,
                                     const struct time_interval *interval,
                                     struct position at)
{
    struct expression *count = count_of(
        binder, interval, interval->unit == AST_YEAR ? MONTHS_OF_YEAR : 1, at);

    if (count != NULL && interval->times != NULL)
        count = expression_cast_plain(binder, count, VDBQ_INTEGER, at);
    return count ? expression_math(binder, OP_ADD_MONTHS_I32, VDBQ_DATE, e,
                                   count, false, at)
                 : NULL;
}

static struct expression *move_date(struct binder *binder, struct expression *e,
                                    const struct time_interval *interval,
                                    struct position at)
{
    if (interval->unit != AST_DAY)
        return add_months(binder, e, interval, at);
    e = add(binder, e, count_of(binder, interval, 1, at), at);
    return e ? expression_cast_plain(binder, e, VDBQ_DATE, at) : NULL;
}

/* The date moves, the clock stays. */
static struct expression *move_time(struct binder *binder, struct expression *e,
                                    const struct time_interval *interval,
                                    struct position at)
{
    struct expression *date = expression_date_of_time(binder, e);
    struct expression *clock = date ? clock_of(binder, e) : NULL;

    date = clock ? move_date(binder, date, interval, at) : NULL;
    date = date ? expression_time_of_date(binder, date) : NULL;
    date = date ? expression_renamed(binder, date, VDBQ_BIGINT, 0) : NULL;
    return expression_renamed(binder, add(binder, date, clock, at),
                              VDBQ_TIMESTAMP, 0);
}

/* So many units at most that they leave the years of all dates, and nothing
 * overflows. */
static int64_t count_within(const struct time_interval *interval, bool back)
{
    static const int64_t most[] = { [AST_YEAR] = YEARS_MAX,
                                    [AST_MONTH] = YEARS_MAX * 12,
                                    [AST_DAY] = YEARS_MAX * 366,
                                    [AST_HOUR] = YEARS_MAX * 366 * 24,
                                    [AST_MINUTE] =
                                        YEARS_MAX * INT64_C(366) * 1440,
                                    [AST_SECOND] =
                                        YEARS_MAX * INT64_C(366) * 86400 };
    int64_t count = interval->count, limit = most[interval->unit];

    count = count > limit ? limit : count < -limit ? -limit : count;
    return back ? -count : count;
}

struct expression *expression_moved(struct binder *binder,
                                    struct expression *operand,
                                    const struct time_interval *interval,
                                    bool back, struct position at)
{
    struct expression *e = expression_date_or_time(binder, operand, at);
    const struct time_interval by = { .unit = interval->unit,
                                      .count = count_within(interval, back),
                                      .times = interval->times };

    if (e == NULL)
        return NULL;
    if (by.unit < AST_HOUR)
        return e->type == VDBQ_DATE ? move_date(binder, e, &by, at)
                                    : move_time(binder, e, &by, at);
    e = expression_count_of_time(binder, e);
    e = add(binder, e, count_of(binder, &by, clock_units[by.unit], at), at);
    return expression_time_of_count(binder, e);
}
