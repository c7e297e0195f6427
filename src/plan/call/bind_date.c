/* SPDX-License-Identifier: MIT */
/*
 * Functions of dates and times. SQLite's take a moment and modifiers: a DATE,
 * a TIMESTAMP, a text that reads as one, 'now', or a number, which is a Julian
 * day, or with the modifier 'unixepoch' the seconds since 1970.
 */
#include <string.h>
#include <strings.h>

#include "base/os/os.h"
#include "base/text.h"
#include "plan/call/scalar.h"
#include "plan/make/call.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/make/coerce.h"
#include "plan/operator/calendar.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* ---------------------------------------------------------------- parts -- */

static const char *const unit_names[] = {
    [AST_YEAR] = "year", [AST_MONTH] = "month",   [AST_DAY] = "day",
    [AST_HOUR] = "hour", [AST_MINUTE] = "minute", [AST_SECOND] = "second"
};
enum { UNITS = AST_SECOND + 1 };

static int unit_named(const char *name, size_t length)
{
    for (int i = 0; i < UNITS; i++)
        if (strlen(unit_names[i]) == length
            && strncasecmp(unit_names[i], name, length) == 0)
            return i;
    return -1;
}

/* A unit, or behind these one of enum calendar_part; -1: no part has that name. */
static int part_named(const char *name, size_t length)
{
    int other = calendar_named(name, length);

    return other >= 0 ? UNITS + other : unit_named(name, length);
}

static struct expression *part_of(struct binder *binder, struct expression *e,
                                  int part, struct position at)
{
    return part >= UNITS ? calendar_part(binder, e,
                                         (enum calendar_part)(part - UNITS), at)
                         : expression_part(binder, e, (enum ast_unit)part, at);
}

/* The part that a constant names, of the calendar's one before `parts`. False: a
 * failure, it names none. */
static bool read_unit(struct binder *binder, const struct expression *part,
                      int parts, int *unit)
{
    *unit = -1;
    if (part->kind == EXPRESSION_CONSTANT && part->type == VDBQ_TEXT) {
        struct vdbq_text name = part->constant.text;
        *unit = part_named(name.bytes, name.length);
        if (*unit >= UNITS + parts)
            *unit = -1;
    }
    if (*unit < 0)
        error_at(binder->error, VDBQ_TYPE, part->at,
                 "the part is a constant: 'year', 'quarter', 'month', 'week', "
                 "%s'day', 'hour', 'minute' or 'second'",
                 parts == CALENDAR_PARTS
                     ? "'doy', 'dow', 'isodow', 'isoyear', 'yearweek', "
                       "'decade', 'century', 'millennium', 'epoch', "
                       "'millisecond', 'microsecond', "
                     : "");
    return *unit >= 0;
}

struct expression *scalar_extract(struct binder *binder,
                                  const struct call *call)
{
    int unit;

    if (!read_unit(binder, call->arguments[0], CALENDAR_PARTS, &unit))
        return NULL;
    return part_of(binder, call->arguments[1], unit, call->tree->at);
}

/* year(x) and so on, and names that only functions have. */
struct expression *scalar_part(struct binder *binder, const struct call *call)
{
    static const struct {
        const char *function, *part;
    } others[] = { { "dayofmonth", "day" },
                   { "dayofweek", "dow" },
                   { "weekday", "dow" },
                   { "dayofyear", "doy" },
                   { "weekofyear", "week" } };
    const char *part = call->name;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (name_equal(call->name, others[i].function))
            part = others[i].part;
    return part_of(binder, call->arguments[0], part_named(part, strlen(part)),
                   call->tree->at);
}

/* -------------------------------------------------------------- moments -- */

static bool is_word(const struct expression *e, const char *word)
{
    return is_text_constant(e) && !e->constant.null
           && e->constant.text.length == strlen(word)
           && strncasecmp(e->constant.text.bytes, word, e->constant.text.length)
                  == 0;
}

int64_t statement_time(struct binder *binder)
{
    if (*binder->now == 0)
        *binder->now = os_clock_us();
    return *binder->now;
}

static struct expression *now(struct binder *binder, struct position at)
{
    struct expression *e =
        expression_integer(binder, statement_time(binder), at);

    if (e == NULL)
        return NULL;
    e->type = VDBQ_TIMESTAMP;
    e->literal = false;
    return e;
}

/* A moment moved by what the modifier says. */
static struct expression *modified(struct binder *binder,
                                   const struct call *call,
                                   struct expression *moment,
                                   struct expression *modifier)
{
    struct expression *pair[2] = { moment, modifier };

    if (modifier->type != VDBQ_TEXT && !is_null_constant(modifier))
        return refuse_argument(binder, call, modifier);
    pair[1] = expression_known(binder, modifier);
    if (pair[1] != NULL
        && (is_word(pair[1], "localtime") || is_word(pair[1], "utc"))) {
        error_at(binder->error, VDBQ_TYPE, modifier->at,
                 "there are no time zones: a TIMESTAMP has none");
        return NULL;
    }
    return pair[1] ? expression_call(binder, "moved", pair, 2, modifier->at)
                   : NULL;
}

/* What a value is as a moment; NULL where a text or a number is none. */
static struct expression *moment_of(struct binder *binder,
                                    const struct call *call,
                                    struct expression *e, bool unix)
{
    e = expression_known(binder, e);
    if (e == NULL || is_null_constant(e))
        return e ? expression_null(binder, VDBQ_TIMESTAMP, e->at) : NULL;
    if (is_word(e, "now"))
        return now(binder, e->at);
    if (e->type == VDBQ_BOOLEAN)
        return refuse_argument(binder, call, e);
    if (is_number(e->type)) {
        e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
        return e ? expression_call(binder, unix ? "from_unix" : "from_julian",
                                   &e, 1, e->at)
                 : NULL;
    }
    if (e->type == VDBQ_TEXT)
        return expression_call(binder, "to_moment", &e, 1, e->at);
    return expression_cast_plain(binder, e, VDBQ_TIMESTAMP, e->at);
}

/* The moment that the arguments from number `first` on say; none: now. */
static struct expression *moment(struct binder *binder, const struct call *call,
                                 unsigned first)
{
    bool unix = first + 1 < call->count
                && is_word(call->arguments[first + 1], "unixepoch");
    struct expression *e;

    if (first == call->count)
        return now(binder, call->tree->at);
    e = moment_of(binder, call, call->arguments[first], unix);
    for (unsigned i = first + 1 + unix; i < call->count && e != NULL; i++)
        e = modified(binder, call, e, call->arguments[i]);
    return e;
}

struct expression *scalar_calculated(struct binder *binder,
                                     const struct call *call,
                                     enum ast_operator operator,
                                     struct expression * e, int64_t constant)
{
    struct expression *number =
        e ? expression_integer(binder, constant, e->at) : NULL;

    return number ? expression_operator(binder, operator, e, number, call->tree)
                  : NULL;
}

/* 4714-11-24 BC, noon, to 1970, in microseconds. Moments are counted from there
 * to be divided: they are never negative, so that division rounds down. */
#define COUNTED_FROM INT64_C(210866760000000000)

/* The number of units from there to a moment. */
static struct expression *count_of(struct binder *binder,
                                   const struct call *call,
                                   struct expression *e, int64_t unit)
{
    if (is_null_constant(e))
        return expression_null(binder, VDBQ_BIGINT, e->at);
    e = expression_number(binder, e, VDBQ_BIGINT, e->at);
    e = scalar_calculated(binder, call, AST_ADD, e, COUNTED_FROM);
    return scalar_calculated(binder, call, AST_DIV, e, unit);
}

/* Microseconds of an hour, a minute or a second. */
static int64_t clock_size(enum ast_unit unit)
{
    return unit == AST_HOUR     ? INT64_C(3600000000)
           : unit == AST_MINUTE ? 60000000
                                : 1000000;
}

/* A moment less what is smaller than an hour, a minute or a second. */
static struct expression *whole_clock(struct binder *binder,
                                      const struct call *call,
                                      struct expression *moment,
                                      enum ast_unit unit)
{
    int64_t size = clock_size(unit);
    struct expression *e = count_of(binder, call, moment, size);

    e = scalar_calculated(binder, call, AST_MUL, e, size);
    e = scalar_calculated(binder, call, AST_SUB, e, COUNTED_FROM);
    return e ? expression_number(binder, e, VDBQ_TIMESTAMP, e->at) : NULL;
}

/* What of a moment the letters of a format say. */
struct wanted {
    bool day;
    enum ast_unit clock; /* AST_DAY: nothing of the time */
};

/* False: all of it, to the microsecond, or there is no such letter. */
static bool read_format(struct vdbq_text format, struct wanted *wanted)
{
    static const char days[] = "aAbBgGuUVwWdeFjmyY", hours[] = "HIklpP",
                      minutes[] = "MR", seconds[] = "STs";

    *wanted = (struct wanted){ .clock = AST_DAY };
    for (size_t i = 0; i < format.length; i++) {
        if (format.bytes[i] != '%')
            continue;
        char letter = ++i < format.length ? format.bytes[i] : '\0';
        enum ast_unit clock = AST_DAY;
        if (letter == '\0')
            return false;
        if (strchr(hours, letter))
            clock = AST_HOUR;
        else if (strchr(minutes, letter))
            clock = AST_MINUTE;
        else if (strchr(seconds, letter))
            clock = AST_SECOND;
        else if (!strchr(days, letter) && letter != '%')
            return false;
        wanted->day |= strchr(days, letter) != NULL || letter == 's';
        if (clock > wanted->clock)
            wanted->clock = clock;
    }
    return true;
}

/* Midnight of 4714-11-24 BC, to 1970, in microseconds. */
#define MIDNIGHT_FROM (COUNTED_FROM + INT64_C(43200000000))

/* The time of the day, on the first of 1970, in whole units. */
static struct expression *clock_of(struct binder *binder,
                                   const struct call *call,
                                   struct expression *moment,
                                   enum ast_unit unit)
{
    int64_t size = clock_size(unit);
    struct expression *e =
        expression_number(binder, moment, VDBQ_BIGINT, moment->at);

    e = scalar_calculated(binder, call, AST_ADD, e, MIDNIGHT_FROM);
    e = scalar_calculated(binder, call, AST_DIV, e, size);
    e = scalar_calculated(binder, call, AST_MOD, e,
                          INT64_C(86400000000) / size);
    e = scalar_calculated(binder, call, AST_MUL, e, size);
    return e ? expression_number(binder, e, VDBQ_TIMESTAMP, e->at) : NULL;
}

/* The moment without what the format leaves out: so many have the same text,
 * which is made once (exec/operator/map_memo.h). */
static struct expression *coarse(struct binder *binder, const struct call *call,
                                 const struct expression *format,
                                 struct expression *moment)
{
    struct wanted wanted;

    if (!is_text_constant(format) || format->constant.null
        || moment->kind == EXPRESSION_CONSTANT || moment->type != VDBQ_TIMESTAMP
        || !read_format(format->constant.text, &wanted))
        return moment;
    if (wanted.clock > AST_DAY)
        return wanted.day ? whole_clock(binder, call, moment, wanted.clock)
                          : clock_of(binder, call, moment, wanted.clock);
    moment = expression_cast_plain(binder, moment, VDBQ_DATE, moment->at);
    return moment ? expression_cast_plain(binder, moment, VDBQ_TIMESTAMP,
                                          moment->at)
                  : NULL;
}

static struct expression *formatted(struct binder *binder,
                                    const struct call *call,
                                    struct expression *format,
                                    struct expression *moment)
{
    struct expression *pair[2] = { format, moment };

    if (format && moment)
        pair[1] = moment = coarse(binder, call, format, moment);
    return format && moment
               ? expression_call(binder, "strftime", pair, 2, format->at)
               : NULL;
}

/* --------------------------------------------------- functions of SQLite -- */

struct expression *scalar_date(struct binder *binder, const struct call *call)
{
    struct expression *e = moment(binder, call, 0);

    return e ? expression_cast_plain(binder, e, VDBQ_DATE, e->at) : NULL;
}

struct expression *scalar_timestamp(struct binder *binder,
                                    const struct call *call)
{
    return moment(binder, call, 0);
}

struct expression *scalar_time(struct binder *binder, const struct call *call)
{
    struct vdbq_text format = { "%H:%M:%S", strlen("%H:%M:%S") };

    return formatted(binder, call,
                     expression_text(binder, format, call->tree->at),
                     moment(binder, call, 0));
}

/* Whole seconds since 1970. */
struct expression *scalar_unixepoch(struct binder *binder,
                                    const struct call *call)
{
    struct expression *e = moment(binder, call, 0);

    e = e ? count_of(binder, call, e, 1000000) : NULL;
    return scalar_calculated(binder, call, AST_SUB, e, COUNTED_FROM / 1000000);
}

/* Whole seconds, as a TIMESTAMP. */
struct expression *scalar_datetime(struct binder *binder,
                                   const struct call *call)
{
    struct expression *e = scalar_unixepoch(binder, call);

    if (e == NULL || is_null_constant(e))
        return e ? expression_null(binder, VDBQ_TIMESTAMP, e->at) : NULL;
    e = scalar_calculated(binder, call, AST_MUL, e, 1000000);
    return e ? expression_number(binder, e, VDBQ_TIMESTAMP, e->at) : NULL;
}

/* Days, to a millisecond, since noon of 4714-11-24 BC. */
struct expression *scalar_julianday(struct binder *binder,
                                    const struct call *call)
{
    struct expression *e = moment(binder, call, 0), *day;

    e = e ? count_of(binder, call, e, 1000) : NULL;
    day = e ? expression_real(binder, VDBQ_DOUBLE, 86400000, e->at) : NULL;
    return day ? expression_operator(binder, AST_DIV, e, day, call->tree)
               : NULL;
}

/* Whether the text is a constant with a letter of a format. */
static bool is_format(const struct expression *e)
{
    return e != NULL && is_text_constant(e) && !e->constant.null
           && e->constant.text.length > 0
           && memchr(e->constant.text.bytes, '%', e->constant.text.length)
                  != NULL;
}

/* strftime(format, moment, modifiers ...), or strftime(moment, format) where
 * the types tell which is which. */
struct expression *scalar_strftime(struct binder *binder,
                                   const struct call *call)
{
    struct expression *format = call->arguments[0];
    struct call swapped = *call;

    if ((format->type == VDBQ_DATE || format->type == VDBQ_TIMESTAMP)
        && call->count == 2 && call->arguments[1]->type == VDBQ_TEXT) {
        swapped.arguments[0] = call->arguments[1];
        swapped.arguments[1] = format;
        return scalar_strftime(binder, &swapped);
    }
    if (format->type != VDBQ_TEXT && !is_null_constant(format))
        return refuse_argument(binder, call, format);
    if (call->count > 1
        && is_format(expression_known(binder, call->arguments[1]))) {
        error_at(binder->error, VDBQ_TYPE, call->arguments[1]->at,
                 "this is a format, where strftime takes a time");
        error_hint(binder->error, "the format comes first; behind it a time "
                                  "must be a DATE or a TIMESTAMP");
        return NULL;
    }
    return formatted(binder, call, format, moment(binder, call, 1));
}

/* ----------------------------------------------------------- truncation -- */

/* The first day of a date's month: the date less the days that are over. */
static struct expression *first_of_month(struct binder *binder,
                                         const struct call *call,
                                         struct expression *date)
{
    struct expression *day = expression_part(binder, date, AST_DAY, date->at);
    struct expression *e =
        expression_number(binder, date, VDBQ_INTEGER, date->at);

    day = scalar_calculated(binder, call, AST_SUB, day, 1);
    e = day && e ? expression_operator(binder, AST_SUB, e, day, call->tree)
                 : NULL;
    return e ? expression_number(binder, e, VDBQ_DATE, e->at) : NULL;
}

/* The first day of a year, of that of a month: this less the months that are
 * over. */
static struct expression *first_of_year(struct binder *binder,
                                        const struct call *call,
                                        struct expression *first)
{
    struct expression *e = expression_part(binder, first, AST_MONTH, first->at);

    e = scalar_calculated(binder, call, AST_MUL, e, -1);
    e = scalar_calculated(binder, call, AST_ADD, e, 1);
    e = e ? expression_number(binder, e, VDBQ_INTEGER, e->at) : NULL;
    return e ? expression_math(binder, OP_ADD_MONTHS_I32, VDBQ_DATE, first, e,
                               false, first->at)
             : NULL;
}

static struct expression *first_day(struct binder *binder,
                                    const struct call *call,
                                    struct expression *date, enum ast_unit unit)
{
    struct expression *e =
        unit == AST_DAY ? date : first_of_month(binder, call, date);

    return e && unit == AST_YEAR ? first_of_year(binder, call, e) : e;
}

/* date_trunc(part, moment): when that part of it began, a TIMESTAMP even of a
 * DATE, as in DuckDB. */
struct expression *scalar_date_trunc(struct binder *binder,
                                     const struct call *call)
{
    struct expression *e = call->arguments[1];
    int unit;

    if (!read_unit(binder, call->arguments[0], CALENDAR_WEEK + 1, &unit))
        return NULL;
    if (e->type != VDBQ_DATE && e->type != VDBQ_TIMESTAMP
        && e->type != VDBQ_TEXT && !is_null_constant(e))
        return refuse_argument(binder, call, e);
    bool clock = unit > AST_DAY && unit < UNITS;
    if (e->type != VDBQ_DATE || clock)
        e = expression_cast_plain(binder, e, VDBQ_TIMESTAMP, e->at);
    if (e == NULL || is_null_constant(e))
        return e ? expression_null(binder, VDBQ_TIMESTAMP, e->at) : NULL;
    if (clock)
        return whole_clock(binder, call, e, (enum ast_unit)unit);
    e = expression_cast_plain(binder, e, VDBQ_DATE, e->at);
    if (e != NULL)
        e = unit < UNITS
                ? first_day(binder, call, e, (enum ast_unit)unit)
                : calendar_first(binder, e, (enum calendar_part)(unit - UNITS),
                                 e->at);
    return e ? expression_cast_plain(binder, e, VDBQ_TIMESTAMP, e->at) : NULL;
}

/* ------------------------------------------------------------ by itself -- */

static const struct {
    const char *name;
    struct expression *(*make)(struct binder *binder, const struct call *call);
} currents[] = {
    { "current_date", scalar_date },
    { "current_time", scalar_time },
    { "current_timestamp", scalar_datetime },
};

struct expression *bind_current(struct binder *binder,
                                const struct ast_expression *tree, bool *found)
{
    const size_t count = sizeof currents / sizeof *currents;
    struct call call = { .tree = tree, .name = tree->column.text };

    for (size_t i = 0; i < count && tree->table.text == NULL; i++)
        if (name_equal(call.name, currents[i].name)) {
            *found = true;
            return currents[i].make(binder, &call);
        }
    *found = false;
    return NULL;
}
