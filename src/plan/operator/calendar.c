/* SPDX-License-Identifier: MIT */
/*
 * All of it is arithmetic of whole numbers: of days, counted from 0001-01-01, a
 * Monday, so that none is negative, and of the parts that the machine knows.
 */
#include "plan/operator/calendar.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "plan/make/arithmetic.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"

enum {
    DAYS_BEFORE_1970 = 719162, /* from 0001-01-01 on */
    DAYS_OF_WEEK = 7,
    MONTHS_OF_QUARTER = 3
};

int calendar_named(const char *name, size_t length)
{
    static const char *const names[] = { [CALENDAR_QUARTER] = "quarter",
                                         [CALENDAR_WEEK] = "week",
                                         [CALENDAR_DOW] = "dow",
                                         [CALENDAR_ISODOW] = "isodow",
                                         [CALENDAR_DOY] = "doy",
                                         [CALENDAR_EPOCH] = "epoch",
                                         [CALENDAR_DECADE] = "decade",
                                         [CALENDAR_CENTURY] = "century",
                                         [CALENDAR_MILLENNIUM] = "millennium",
                                         [CALENDAR_ISOYEAR] = "isoyear",
                                         [CALENDAR_YEARWEEK] = "yearweek",
                                         [CALENDAR_MILLISECOND] = "millisecond",
                                         [CALENDAR_MICROSECOND] =
                                             "microsecond" };
    for (int i = 0; i < CALENDAR_PARTS; i++)
        if (strlen(names[i]) == length
            && strncasecmp(names[i], name, length) == 0)
            return i;
    return -1;
}

/* ------------------------------------------------------------ arithmetic -- */

static struct expression *minus(struct binder *binder, struct expression *a,
                                struct expression *b)
{
    struct ast_expression place = { .at = a ? a->at : (struct position){ 0 } };
    return a && b ? expression_arithmetic(binder, AST_SUB, a, b, &place) : NULL;
}

/* A date as a number of days. */
static struct expression *days(struct binder *binder, struct expression *date)
{
    return expression_number(binder, date, VDBQ_INTEGER, date->at);
}

/* The other way round. */
static struct expression *date_of(struct binder *binder, struct expression *e)
{
    return e ? expression_number(binder, e, VDBQ_DATE, e->at) : NULL;
}

/* Days since the last Monday, or with `more` 1 since the last Sunday. */
static struct expression *weekday(struct binder *binder,
                                  struct expression *date, int more)
{
    struct expression *e = days(binder, date);
    e = e ? expression_calculate(binder, AST_ADD, e, DAYS_BEFORE_1970 + more,
                                 date->at)
          : NULL;
    return expression_calculate(binder, AST_MOD, e, DAYS_OF_WEEK, date->at);
}

/* The date less the days of its month that are over. */
static struct expression *first_of_month(struct binder *binder,
                                         struct expression *date)
{
    struct expression *day = expression_part(binder, date, AST_DAY, date->at);
    day = expression_calculate(binder, AST_SUB, day, 1, date->at);
    return day ? date_of(binder, minus(binder, days(binder, date), day)) : NULL;
}

/* The first of a month, less those months of a year, or a quarter, that are over. */
static struct expression *first_of(struct binder *binder,
                                   struct expression *date, bool quarter)
{
    struct expression *first = first_of_month(binder, date);
    struct expression *over =
        first ? expression_part(binder, date, AST_MONTH, date->at) : NULL;
    over = expression_calculate(binder, AST_SUB, over, 1, date->at);
    if (quarter)
        over = expression_calculate(binder, AST_MOD, over, MONTHS_OF_QUARTER,
                                    date->at);
    over = expression_calculate(binder, AST_MUL, over, -1, date->at);
    over =
        over ? expression_number(binder, over, VDBQ_INTEGER, date->at) : NULL;
    return over ? expression_math(binder, OP_ADD_MONTHS_I32, VDBQ_DATE, first,
                                  over, false, date->at)
                : NULL;
}

struct expression *calendar_first(struct binder *binder,
                                  struct expression *date,
                                  enum calendar_part part, struct position at)
{
    assert(part == CALENDAR_QUARTER || part == CALENDAR_WEEK);
    assert(date->type == VDBQ_DATE);
    if (is_null_constant(date))
        return expression_null(binder, VDBQ_DATE, at);
    if (part == CALENDAR_QUARTER)
        return first_of(binder, date, true);
    struct expression *over = weekday(binder, date, 0);
    return over ? date_of(binder, minus(binder, days(binder, date), over))
                : NULL;
}

/* ----------------------------------------------------------------- parts -- */

static struct expression *quarter(struct binder *binder,
                                  struct expression *date)
{
    struct expression *e = expression_part(binder, date, AST_MONTH, date->at);
    e = expression_calculate(binder, AST_ADD, e, MONTHS_OF_QUARTER - 1,
                             date->at);
    return expression_calculate(binder, AST_DIV, e, MONTHS_OF_QUARTER,
                                date->at);
}

static struct expression *day_of_year(struct binder *binder,
                                      struct expression *date)
{
    struct expression *first = first_of(binder, date, false);
    struct expression *e =
        first ? minus(binder, days(binder, date), days(binder, first)) : NULL;
    return expression_calculate(binder, AST_ADD, e, 1, date->at);
}

/* The Thursday of a date's week: its year is the week's. */
static struct expression *thursday(struct binder *binder,
                                   struct expression *date)
{
    enum { THURSDAY = 3 };
    struct expression *e =
        calendar_first(binder, date, CALENDAR_WEEK, date->at);
    e = e ? days(binder, e) : NULL;
    return date_of(
        binder, expression_calculate(binder, AST_ADD, e, THURSDAY, date->at));
}

/* How many weeks of the year there are up to the Thursday of this one. */
static struct expression *week(struct binder *binder, struct expression *date)
{
    struct expression *e = thursday(binder, date);
    e = e ? day_of_year(binder, e) : NULL;
    e = expression_calculate(binder, AST_ADD, e, DAYS_OF_WEEK - 1, date->at);
    return expression_calculate(binder, AST_DIV, e, DAYS_OF_WEEK, date->at);
}

static struct expression *isoyear(struct binder *binder,
                                  struct expression *date)
{
    struct expression *e = thursday(binder, date);
    return e ? expression_part(binder, e, AST_YEAR, date->at) : NULL;
}

static struct expression *year_and_week(struct binder *binder,
                                        struct expression *date)
{
    enum { WEEKS = 100 }; /* room for their number */
    struct ast_expression place = { .at = date->at };
    struct expression *e = expression_calculate(
        binder, AST_MUL, isoyear(binder, date), WEEKS, date->at);
    struct expression *number = e ? week(binder, date) : NULL;
    return number ? expression_arithmetic(binder, AST_ADD, e, number, &place)
                  : NULL;
}

/* Which so many years the year is in; the first ones are those from `from` on. */
static struct expression *of_years(struct binder *binder,
                                   struct expression *date, int years, int from)
{
    struct expression *e = expression_part(binder, date, AST_YEAR, date->at);
    e = expression_calculate(binder, AST_SUB, e, from, date->at);
    e = expression_calculate(binder, AST_DIV, e, years, date->at);
    return expression_calculate(binder, AST_ADD, e, from, date->at);
}

/* What of the minute is over, in so many microseconds: counted from a time that none
 * is before. */
static struct expression *of_minute(struct binder *binder, struct expression *e,
                                    int microseconds)
{
    enum { MINUTE = 60000000 };
    struct position at = e->at;
    e = expression_count_of_time(binder, e);
    e = expression_calculate(binder, AST_ADD, e,
                             DAYS_BEFORE_1970 * DAY_MICROSECONDS, at);
    e = expression_calculate(binder, AST_MOD, e, MINUTE, at);
    return expression_calculate(binder, AST_DIV, e, microseconds, at);
}

static struct expression *epoch(struct binder *binder, struct expression *e)
{
    enum { MICROSECONDS = 1000000 };
    struct position at = e->at;
    struct ast_expression place = { .at = at };
    if (e->type == VDBQ_DATE)
        e = expression_time_of_date(binder, e);
    e = e ? expression_number(binder, e, VDBQ_BIGINT, at) : NULL;
    e = e ? expression_cast_plain(binder, e, VDBQ_DOUBLE, at) : NULL;
    struct expression *unit =
        e ? expression_real(binder, VDBQ_DOUBLE, MICROSECONDS, at) : NULL;
    return unit ? expression_arithmetic(binder, AST_DIV, e, unit, &place)
                : NULL;
}

static struct expression *part_of_date(struct binder *binder,
                                       struct expression *date,
                                       enum calendar_part part)
{
    struct expression *e;
    switch (part) {
    case CALENDAR_QUARTER:
        return quarter(binder, date);
    case CALENDAR_WEEK:
        return week(binder, date);
    case CALENDAR_DOW:
        return weekday(binder, date, 1);
    case CALENDAR_ISODOW:
        e = weekday(binder, date, 0);
        return expression_calculate(binder, AST_ADD, e, 1, date->at);
    case CALENDAR_DECADE:
        return of_years(binder, date, 10, 0);
    case CALENDAR_CENTURY:
        return of_years(binder, date, 100, 1);
    case CALENDAR_MILLENNIUM:
        return of_years(binder, date, 1000, 1);
    case CALENDAR_ISOYEAR:
        return isoyear(binder, date);
    case CALENDAR_YEARWEEK:
        return year_and_week(binder, date);
    default:
        assert(part == CALENDAR_DOY);
        return day_of_year(binder, date);
    }
}

struct expression *calendar_part(struct binder *binder,
                                 struct expression *operand,
                                 enum calendar_part part, struct position at)
{
    struct expression *e = expression_date_or_time(binder, operand, at);
    if (e == NULL)
        return NULL;
    if (is_null_constant(e))
        return expression_null(
            binder, part == CALENDAR_EPOCH ? VDBQ_DOUBLE : VDBQ_INTEGER, at);
    if (part == CALENDAR_EPOCH)
        return epoch(binder, e);
    if (part == CALENDAR_MILLISECOND || part == CALENDAR_MICROSECOND) {
        e = of_minute(binder, e, part == CALENDAR_MILLISECOND ? 1000 : 1);
    } else {
        e = e->type == VDBQ_TIMESTAMP ? expression_date_of_time(binder, e) : e;
        e = e ? part_of_date(binder, e, part) : NULL;
    }
    return e ? expression_number(binder, e, VDBQ_INTEGER, at) : NULL;
}
