/* SPDX-License-Identifier: MIT */
/*
 * Dates and times as texts. Their text forms are those of base/type.h, the
 * parts of a date those of the machine, cl/date.cl.
 */
#include <assert.h>

#include "base/text.h"
#include "base/type.h"
#include "cl/date.cl"
#include "program/functions/function_inner.h"

#define TEXT(i)    (state->arguments[i].text)
#define INTEGER(i) (state->arguments[i].integer)

/* ---------------------------------------------------------------- casts -- */

static enum vdbq_status is_no(struct function_call_state *state,
                              const char *type)
{
    struct vdbq_text text = TEXT(0);
    return error_set(state->error, VDBQ_TYPE, "\"%.*s\" is no %s",
                     utf8_shown(text), text.bytes, type);
}

FUNCTION_BODY(to_date)
{
    int32_t day = 0;
    if (!date_from_text(TEXT(0).bytes, TEXT(0).length, &day))
        return is_no(state, "DATE");
    state->value->integer = day;
    return VDBQ_OK;
}

FUNCTION_BODY(to_timestamp)
{
    if (!timestamp_from_text(TEXT(0).bytes, TEXT(0).length,
                             &state->value->integer))
        return is_no(state, "TIMESTAMP");
    return VDBQ_OK;
}

/* -------------------------------------------------------------- writing -- */

/* A timestamp in its parts. */
struct moment {
    i32 days;
    struct date date;
    int64_t seconds; /* since 1970-01-01                            */
    int hour, minute, second, fraction;
};

static struct moment moment_of(int64_t microseconds)
{
    int64_t days = timestamp_date(microseconds);
    int64_t time = microseconds - days * DAY_MICROSECONDS;
    int64_t seconds = time / 1000000;
    return (struct moment){ .days = (i32)days,
                            .date = date_of((i32)days),
                            .seconds = days * 86400 + seconds,
                            .hour = (int)(seconds / 3600),
                            .minute = (int)(seconds / 60 % 60),
                            .second = (int)(seconds % 60),
                            .fraction = (int)(time % 1000000) };
}

/* Prints a number that is not negative: `fill` stands where it has fewer digits
 * than that. */
static void print_digits(struct text *text, int number, unsigned width,
                         char fill)
{
    char room[16];
    assert(number >= 0 && width < sizeof room);
    text_add(text, room, text_from_digits((uint64_t)number, width, fill, room));
}

static void print_date(struct text *text, i32 day)
{
    char room[TYPE_TEXT_MAX];
    text_add(text, room, date_to_text(day, room));
}

static void print_time(struct text *text, const struct moment *moment)
{
    print_digits(text, moment->hour, 2, '0');
    text_add(text, ":", 1);
    print_digits(text, moment->minute, 2, '0');
    text_add(text, ":", 1);
    print_digits(text, moment->second, 2, '0');
}

/* Takes what was printed as the value. */
static enum vdbq_status printed(struct function_call_state *state,
                                struct text *text)
{
    enum vdbq_status status =
        text->failed ? error_no_memory(state->error)
        : text->length == 0
            ? function_text(state, "", 0)
            : function_text_copy(state, text->bytes, text->length);
    text_finish(text);
    return status;
}

FUNCTION_BODY(from_date)
{
    char room[TYPE_TEXT_MAX];
    return function_text_copy(state, room,
                              date_to_text((int32_t)INTEGER(0), room));
}

FUNCTION_BODY(from_timestamp)
{
    char room[TYPE_TEXT_MAX];
    return function_text_copy(state, room, timestamp_to_text(INTEGER(0), room));
}

/* ------------------------------------------------------------- strftime -- */

static const char *const days[] = { "Sunday",    "Monday",   "Tuesday",
                                    "Wednesday", "Thursday", "Friday",
                                    "Saturday" };
static const char *const months[] = { "January", "February", "March",
                                      "April",   "May",      "June",
                                      "July",    "August",   "September",
                                      "October", "November", "December" };

/* Weeks that start on a day of the week, up to this day's. */
static int week_from(i32 day, i32 first)
{
    int weekday = (date_part(day, DATE_WEEKDAY) + 7 - first) % 7;
    return (date_part(day, DATE_YEARDAY) + 6 - weekday) / 7;
}

/* The year that the ISO week belongs to: its Thursday's. */
static int iso_year(i32 day)
{
    i32 thursday = day - (date_part(day, DATE_WEEKDAY) + 6) % 7 + 3;
    return date_part(thursday, DATE_YEAR);
}

/* Prints names of days and months; false: the letter is none of these. */
static bool print_name(struct text *text, char letter, const struct moment *at)
{
    const char *day = days[date_part(at->days, DATE_WEEKDAY)];
    const char *month = months[at->date.month - 1];
    switch (letter) {
    case 'a':
        text_print(text, "%.3s", day);
        break;
    case 'A':
        text_print(text, "%s", day);
        break;
    case 'b':
        text_print(text, "%.3s", month);
        break;
    case 'B':
        text_print(text, "%s", month);
        break;
    default:
        return false;
    }
    return true;
}

/* Prints days and numbers of weeks, and the year that an ISO week belongs to;
 * false: the letter is none of these. */
static bool print_week(struct text *text, char letter, const struct moment *at)
{
    int weekday = date_part(at->days, DATE_WEEKDAY);
    switch (letter) {
    case 'g':
        print_digits(text, iso_year(at->days) % 100, 2, '0');
        break;
    case 'G':
        print_digits(text, iso_year(at->days), 4, '0');
        break;
    case 'u':
        text_print(text, "%d", weekday == 0 ? 7 : weekday);
        break;
    case 'U':
        print_digits(text, week_from(at->days, 0), 2, '0');
        break;
    case 'V':
        print_digits(text, (int)date_part(at->days, DATE_WEEK), 2, '0');
        break;
    case 'w':
        text_print(text, "%d", weekday);
        break;
    case 'W':
        print_digits(text, week_from(at->days, 1), 2, '0');
        break;
    default:
        return false;
    }
    return true;
}

/* Prints parts of the date as numbers; false: the letter is none of these. */
static bool print_day(struct text *text, char letter, const struct moment *at)
{
    switch (letter) {
    case 'd':
        print_digits(text, (int)at->date.day, 2, '0');
        break;
    case 'e':
        print_digits(text, (int)at->date.day, 2, ' ');
        break;
    case 'F':
        print_date(text, at->days);
        break;
    case 'j':
        print_digits(text, (int)date_part(at->days, DATE_YEARDAY), 3, '0');
        break;
    case 'm':
        print_digits(text, (int)at->date.month, 2, '0');
        break;
    case 'y':
        print_digits(text, (int)(at->date.year % 100), 2, '0');
        break;
    case 'Y':
        print_digits(text, (int)at->date.year, 4, '0');
        break;
    default:
        return false;
    }
    return true;
}

/* Days since noon of 4714-11-24 BC, to a millisecond. */
static double julian_day(const struct moment *at)
{
    int64_t ms = at->seconds * 1000 + at->fraction / 1000;
    return (double)(ms + INT64_C(210866760000000)) / 86400000.0;
}

/* Prints letters of the time; false: it is none of these. */
static bool print_clock(struct text *text, char letter, const struct moment *at)
{
    int twelve = (at->hour + 11) % 12 + 1;
    switch (letter) {
    case 'f':
        text_print(text, "%02d.%03d", at->second, at->fraction / 1000);
        break;
    case 'H':
        print_digits(text, at->hour, 2, '0');
        break;
    case 'I':
        print_digits(text, twelve, 2, '0');
        break;
    case 'J':
        text_print(text, "%.16g", julian_day(at));
        break;
    case 'k':
        print_digits(text, at->hour, 2, ' ');
        break;
    case 'l':
        print_digits(text, twelve, 2, ' ');
        break;
    case 'M':
        print_digits(text, at->minute, 2, '0');
        break;
    case 'p':
        text_print(text, "%s", at->hour < 12 ? "AM" : "PM");
        break;
    case 'P':
        text_print(text, "%s", at->hour < 12 ? "am" : "pm");
        break;
    case 'R':
        text_print(text, "%02d:%02d", at->hour, at->minute);
        break;
    case 's':
        text_print(text, "%lld", (long long)at->seconds);
        break;
    case 'S':
        print_digits(text, at->second, 2, '0');
        break;
    case 'T':
        print_time(text, at);
        break;
    case '%':
        text_add(text, "%", 1);
        break;
    default:
        return false;
    }
    return true;
}

FUNCTION_BODY(strftime)
{
    struct text text = { 0 };
    struct vdbq_text format = TEXT(0);
    struct moment moment = moment_of(INTEGER(1));
    bool known = true;
    for (size_t i = 0; i < format.length && known; i++) {
        if (format.bytes[i] != '%')
            text_add(&text, format.bytes + i, 1);
        else
            known = ++i < format.length
                    && (print_name(&text, format.bytes[i], &moment)
                        || print_week(&text, format.bytes[i], &moment)
                        || print_day(&text, format.bytes[i], &moment)
                        || print_clock(&text, format.bytes[i], &moment));
    }
    state->value->null = !known;
    if (known)
        return printed(state, &text);
    text_finish(&text);
    return VDBQ_OK;
}
