/* SPDX-License-Identifier: MIT */
/*
 * Functions of the calendar: days made of numbers, and names of days and months.
 */
#include <string.h>

#include "plan/call/scalar.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/operator/calendar.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

enum {
    FIRST_OF_2000 = 10957, /* days from 1970-01-01 to 2000-01-01 */
    MONTHS_OF_YEAR = 12,
    DAYS_MOST = 31
};

/* A DATE: an argument's day; of what is no date a failure. */
static struct expression *date_of(struct binder *binder,
                                  const struct call *call)
{
    struct expression *e = call->arguments[0];

    e = expression_date_or_time(binder, e, e->at);
    return e ? expression_cast_plain(binder, e, VDBQ_DATE, e->at) : NULL;
}

/* The day of January 2000 moved to another month, or that month's last one. */
static struct expression *in_month(struct binder *binder,
                                   const struct call *call, int day,
                                   struct expression *year,
                                   struct expression *month)
{
    struct position at = call->tree->at;
    struct expression *e =
        expression_integer(binder, FIRST_OF_2000 + day - 1, at);

    e = e ? expression_number(binder, e, VDBQ_DATE, at) : NULL;
    year = scalar_calculated(binder, call, AST_SUB, year, 2000);
    year = scalar_calculated(binder, call, AST_MUL, year, MONTHS_OF_YEAR);
    month = scalar_calculated(binder, call, AST_SUB, month, 1);
    month = year && month
                ? expression_operator(binder, AST_ADD, year, month, call->tree)
                : NULL;
    month =
        month ? expression_cast_plain(binder, month, VDBQ_INTEGER, at) : NULL;
    return e && month ? expression_math(binder, OP_ADD_MONTHS_I32, VDBQ_DATE, e,
                                        month, false, at)
                      : NULL;
}

/* ------------------------------------------------------------ make_date -- */

static struct expression *whole_of(struct binder *binder,
                                   const struct call *call, unsigned i)
{
    struct expression *e = call->arguments[i];

    return is_integer(e->type) ? e : refuse_argument(binder, call, e);
}

/* Whether a number is not from 1 to `most`. */
static struct expression *is_beyond(struct binder *binder,
                                    const struct call *call,
                                    struct expression *e, int64_t most)
{
    struct expression *below = scalar_calculated(binder, call, AST_LT, e, 1);
    struct expression *above = scalar_calculated(binder, call, AST_GT, e, most);

    return below && above
               ? expression_logic(binder, AST_OR, below, above, call->tree)
               : NULL;
}

/* The number where it is from 1 to `most`; else it fails. */
static struct expression *checked(struct binder *binder, struct expression *e,
                                  struct expression *beyond)
{
    return e && beyond
               ? expression_check(binder, e, beyond, "there is no such day")
               : NULL;
}

struct expression *scalar_make_date(struct binder *binder,
                                    const struct call *call)
{
    struct expression *year = whole_of(binder, call, 0);
    struct expression *month = year ? whole_of(binder, call, 1) : NULL;
    struct expression *day = month ? whole_of(binder, call, 2) : NULL;
    struct expression *first, *last, *e;

    if (day == NULL)
        return NULL;
    month =
        checked(binder, month, is_beyond(binder, call, month, MONTHS_OF_YEAR));
    day = checked(binder, day, is_beyond(binder, call, day, DAYS_MOST));
    first = month ? in_month(binder, call, 1, year, month) : NULL;
    last = first ? in_month(binder, call, DAYS_MOST, year, month) : NULL;
    first = first ? expression_number(binder, first, VDBQ_INTEGER, first->at)
                  : NULL;
    last =
        last ? expression_number(binder, last, VDBQ_INTEGER, last->at) : NULL;
    day = scalar_calculated(binder, call, AST_SUB, day, 1);
    e = first && day
            ? expression_operator(binder, AST_ADD, first, day, call->tree)
            : NULL;
    last = e && last ? expression_operator(binder, AST_GT, e, last, call->tree)
                     : NULL;
    e = checked(binder, e, last);
    return e ? expression_date_of_days(binder, e, call->tree->at) : NULL;
}

struct expression *scalar_last_day(struct binder *binder,
                                   const struct call *call)
{
    struct expression *e = date_of(binder, call), *year, *month;

    if (e == NULL || is_null_constant(e))
        return e;
    year = expression_part(binder, e, AST_YEAR, e->at);
    month = expression_part(binder, e, AST_MONTH, e->at);
    return year && month ? in_month(binder, call, DAYS_MOST, year, month)
                         : NULL;
}

/* ---------------------------------------------------------------- names -- */

/* The name of that number, counted from 1; else, and of NULL, NULL. */
static struct expression *name_of(struct binder *binder,
                                  const struct call *call,
                                  struct expression *number,
                                  const char *const *names, int count)
{
    struct position at = call->tree->at;
    struct expression *e = expression_null(binder, VDBQ_TEXT, at);

    for (int i = count; i > 0 && e != NULL; i--) {
        struct vdbq_text text = { names[i - 1], strlen(names[i - 1]) };
        struct expression *is =
            scalar_calculated(binder, call, AST_EQ, number, i);
        struct expression *name = expression_text(binder, text, at);
        e = is && name ? expression_choice(binder, is, name, e, at) : NULL;
    }
    return e;
}

struct expression *scalar_dayname(struct binder *binder,
                                  const struct call *call)
{
    static const char *const names[] = { "Monday",   "Tuesday", "Wednesday",
                                         "Thursday", "Friday",  "Saturday",
                                         "Sunday" };
    struct expression *e = date_of(binder, call);

    if (e == NULL || is_null_constant(e))
        return e ? expression_null(binder, VDBQ_TEXT, e->at) : NULL;
    e = calendar_part(binder, e, CALENDAR_ISODOW, e->at);
    return e ? name_of(binder, call, e, names, 7) : NULL;
}

struct expression *scalar_monthname(struct binder *binder,
                                    const struct call *call)
{
    static const char *const names[] = { "January", "February", "March",
                                         "April",   "May",      "June",
                                         "July",    "August",   "September",
                                         "October", "November", "December" };
    struct expression *e = date_of(binder, call);

    if (e == NULL || is_null_constant(e))
        return e ? expression_null(binder, VDBQ_TEXT, e->at) : NULL;
    e = expression_part(binder, e, AST_MONTH, e->at);
    return e ? name_of(binder, call, e, names, MONTHS_OF_YEAR) : NULL;
}

struct expression *scalar_epoch(struct binder *binder, const struct call *call)
{
    struct expression *e = call->arguments[0];

    return calendar_part(binder, e, CALENDAR_EPOCH, e->at);
}
