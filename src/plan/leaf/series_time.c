/* SPDX-License-Identifier: MIT */
/*
 * Series of moments, range(DATE '2024-01-01', DATE '2024-02-01', INTERVAL 1 DAY): of
 * days and shorter units a series of microseconds; of months, which have no length, each
 * moment is a step behind the one before, and one of a day that its month has not is the
 * month's last.
 */
#include "plan/leaf/series_time.h"

#include <limits.h>

#include "base/text.h"
#include "base/type.h"
#include "base/vector.h"
#include "plan/make/convert.h"
#include "plan/make/known.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

static bool is_time(const struct series_argument *argument)
{
    const struct expression *e = argument->value;

    return e != NULL && (e->type == VDBQ_DATE || e->type == VDBQ_TIMESTAMP);
}

bool series_is_time(const struct series_argument *arguments, unsigned count)
{
    return count == SERIES_ARGUMENTS_MAX && arguments[2].value == NULL
           && (is_time(&arguments[0]) || is_time(&arguments[1]));
}

/* A bound as microseconds; false: a failure, as that it is no constant moment. */
static bool read_bound(struct binder *binder, const struct ast_from *tree,
                       const struct series_argument *argument,
                       struct series *series, int64_t *bound)
{
    const struct expression *e =
        argument->value ? expression_known(binder, argument->value) : NULL;

    if (argument->value != NULL && e == NULL)
        return false;
    if (e == NULL || e->kind != EXPRESSION_CONSTANT
        || (!e->constant.null && !is_time(argument)))
        return series_refuse(binder, tree), false;
    series->empty |= e->constant.null;
    *bound = e->constant.null       ? 0
             : e->type == VDBQ_DATE ? e->constant.integer * DAY_MICROSECONDS
                                    : e->constant.integer;
    return true;
}

/* --------------------------------------------------------------- months -- */

enum { DAYS_LEAST = 28 }; /* that a month has */

/* A day, or the last one of a month that has not so many; false: there is no such year. */
static bool join_month(struct type_day day, int32_t *days)
{
    while (day.day > DAYS_LEAST && !date_join(day, days))
        day.day--;
    return date_join(day, days);
}

/* So many months on; false: outside the years that there are. */
static bool add_months(int64_t months, int64_t *time)
{
    int32_t days = timestamp_date(*time);
    struct type_day day = date_split(days);
    int64_t clock = *time - days * DAY_MICROSECONDS;
    int64_t month = day.year * INT64_C(12) + day.month - 1 + months;

    if (month < 0 || month / 12 > INT_MAX)
        return false;
    day.year = (int)(month / 12);
    day.month = (int)(month % 12) + 1;
    if (!join_month(day, &days))
        return false;
    *time = days * DAY_MICROSECONDS + clock;
    return true;
}

static struct node *months(struct binder *binder, const struct series *series)
{
    struct vector moments = VECTOR_IN(binder->arena, int64_t);
    int64_t time = series->begin;
    bool up = series->step > 0, within = !series->empty;

    while (within && (up ? time < series->end : time > series->end)) {
        if (!vector_append(&moments, &time, 1))
            return error_no_memory(binder->error), NULL;
        within = add_months(series->step, &time);
    }
    if (within && series->ends && time == series->end
        && !vector_append(&moments, &time, 1))
        return error_no_memory(binder->error), NULL;
    return series_listed(binder, VECTOR_ITEMS(&moments, int64_t),
                         moments.count);
}

/* ----------------------------------------------------------------- rows -- */

/* What one unit is: microseconds, or of a year and a month so many months. */
static const int64_t lengths[] = {
    [AST_YEAR] = 12,
    [AST_MONTH] = 1,
    [AST_DAY] = DAY_MICROSECONDS,
    [AST_HOUR] = DAY_MICROSECONDS / 24,
    [AST_MINUTE] = DAY_MICROSECONDS / 1440,
    [AST_SECOND] = DAY_MICROSECONDS / 86400,
};

struct node *series_time(struct binder *binder, const struct ast_from *tree,
                         const struct series_argument *arguments)
{
    struct series series = { .ends = name_equal(tree->name.text,
                                                "generate_series") };
    const struct series_argument *step = &arguments[2];
    bool listed = step->unit == AST_YEAR || step->unit == AST_MONTH;
    struct expression *moment;
    struct node *node;

    if (!read_bound(binder, tree, &arguments[0], &series, &series.begin)
        || !read_bound(binder, tree, &arguments[1], &series, &series.end))
        return NULL;
    if (__builtin_mul_overflow(step->units, lengths[step->unit], &series.step))
        series.step = step->units > 0 ? INT64_MAX : INT64_MIN;
    node = listed && series.step != 0 ? months(binder, &series)
                                      : series_rows(binder, tree, &series);
    moment = node ? expression_time_of_count(
                 binder, node_column(binder, node, 0, tree->name.at))
                  : NULL;
    return moment ? node_select(binder, node, NULL, &moment, NULL, 1) : NULL;
}
