/* SPDX-License-Identifier: MIT */
/*
 * Moments as SQLite's functions of dates take them: texts, Julian days,
 * seconds since 1970, and the modifiers that move them ('+1 month', 'start of
 * year'). What is no moment of the years 1 to 9999 is NULL.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "program/functions/function_inner.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MS    INT64_C(86400000)
#define EPOCH_MS  INT64_C(210866760000000) /* 1970-01-01 as a Julian day */
enum { MODIFIER_MAX = 40 };

static enum vdbq_status give(struct function_call_state *state, bool known,
                             int64_t microseconds)
{
    int64_t least, greatest;
    type_limits(VDBQ_TIMESTAMP, &least, &greatest);
    state->value->null =
        !known || microseconds < least || microseconds > greatest;
    state->value->integer = state->value->null ? 0 : microseconds;
    return VDBQ_OK;
}

/* So many units, rounded to a millisecond; false: beyond all years. */
static bool to_ms(double count, int64_t unit_ms, int64_t *ms)
{
    double size = count * (double)unit_ms;
    if (!(fabs(size) < 1e15))
        return false;
    *ms = (int64_t)(size < 0 ? size - 0.5 : size + 0.5);
    return true;
}

static bool of_julian(double days, int64_t *microseconds)
{
    int64_t ms;
    if (!to_ms(days, DAY_MS, &ms))
        return false;
    *microseconds = (ms - EPOCH_MS) * 1000;
    return true;
}

FUNCTION_BODY(from_julian)
{
    int64_t time = 0;
    bool known = of_julian(state->arguments[0].real, &time);
    return give(state, known, time);
}

FUNCTION_BODY(from_unix)
{
    int64_t ms = 0;
    bool known = to_ms(state->arguments[0].real, 1000, &ms);
    return give(state, known, ms * 1000);
}

/* A time alone is one of 2000-01-01. */
static bool of_clock(struct vdbq_text text, int64_t *microseconds)
{
    char whole[MODIFIER_MAX + sizeof "2000-01-01 "] = "2000-01-01 ";
    if (text.length > MODIFIER_MAX || text.length == 0
        || memchr(text.bytes, ':', text.length) == NULL)
        return false;
    memcpy(whole + strlen(whole), text.bytes, text.length);
    return timestamp_from_text(whole, strlen("2000-01-01 ") + text.length,
                               microseconds);
}

FUNCTION_BODY(to_moment)
{
    struct vdbq_text text = state->arguments[0].text;
    int64_t time = 0;
    double days;
    bool known = timestamp_from_text(text.bytes, text.length, &time)
                 || of_clock(text, &time)
                 || (text_to_double(text.bytes, text.length, &days)
                     && of_julian(days, &time));
    return give(state, known, time);
}

/* ------------------------------------------------------------ modifiers -- */

/* As many months on; a day that the month has not is one of the next. */
static bool add_months(int64_t months, int64_t *microseconds)
{
    int32_t day = timestamp_date(*microseconds), first;
    struct type_day date = date_split(day);
    int64_t clock = *microseconds - day * DAY_MICROSECONDS;
    int64_t month = date.year * INT64_C(12) + date.month - 1 + months;
    struct type_day start = { .year = (int)(month / 12),
                              .month = (int)(month % 12) + 1,
                              .day = 1 };
    if (month < 0 || !date_join(start, &first))
        return false;
    *microseconds = (first + date.day - 1) * DAY_MICROSECONDS + clock;
    return true;
}

static const struct unit {
    const char *name;
    int months; /* 0: it has a length */
    int64_t ms; /* ... in milliseconds, or of the fraction of one */
} units[] = {
    { "second", 0, 1000 },         { "minute", 0, MINUTE_MS },
    { "hour", 0, 60 * MINUTE_MS }, { "day", 0, DAY_MS },
    { "month", 1, 30 * DAY_MS },   { "year", 12, 365 * DAY_MS },
};

static const struct unit *find_unit(const char *name)
{
    size_t length = strlen(name);
    length -= length > 0 && name[length - 1] == 's';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length
            && memcmp(units[i].name, name, length) == 0)
            return units + i;
    return NULL;
}

/* `+1.5 days`: a number, blanks, a unit. */
static bool add_units(const char *word, int64_t *microseconds)
{
    size_t digits = strcspn(word, " ");
    const struct unit *unit =
        find_unit(word + digits + strspn(word + digits, " "));
    double count, whole = 0;
    int64_t ms;
    if (unit == NULL || *word == '.' || !text_to_double(word, digits, &count)
        || !to_ms(count, unit->ms, &ms))
        return false;
    if (unit->months > 0) {
        whole = trunc(count);
        if (!add_months((int64_t)whole * unit->months, microseconds)
            || !to_ms(count - whole, unit->ms, &ms))
            return false;
    }
    *microseconds += ms * 1000;
    return true;
}

/* `-01:30:00`: hours, minutes, seconds. */
static bool add_clock(const char *word, int64_t *microseconds)
{
    bool back = *word == '-';
    int64_t moved, midnight;
    struct vdbq_text clock = { word + 1, strlen(word) - 1 };
    if (!back && *word != '+')
        return false;
    of_clock((struct vdbq_text){ "00:00", 5 }, &midnight);
    if (!of_clock(clock, &moved))
        return false;
    *microseconds += back ? midnight - moved : moved - midnight;
    return true;
}

/* `start of month`: its first midnight. */
static bool go_to_start(const char *unit, int64_t *microseconds)
{
    int32_t day = timestamp_date(*microseconds);
    struct type_day date = date_split(day);
    if (strcmp(unit, "year") == 0)
        date.month = date.day = 1;
    else if (strcmp(unit, "month") == 0)
        date.day = 1;
    else if (strcmp(unit, "day") != 0)
        return false;
    date_join(date, &day);
    *microseconds = day * DAY_MICROSECONDS;
    return true;
}

/* `weekday 0`: the next Sunday, or the day if it is one. */
static bool go_to_weekday(const char *number, int64_t *microseconds)
{
    int32_t day = timestamp_date(*microseconds);
    int weekday = (day % 7 + 11) % 7; /* 1970-01-01 was a Thursday, 4 */
    if (number[0] < '0' || number[0] > '6' || number[1] != '\0')
        return false;
    *microseconds += (number[0] - '0' + 7 - weekday) % 7 * DAY_MICROSECONDS;
    return true;
}

static bool move(const char *word, int64_t *microseconds)
{
    static const char start[] = "start of ", weekday[] = "weekday ";
    if (strncmp(word, start, strlen(start)) == 0)
        return go_to_start(word + strlen(start), microseconds);
    if (strncmp(word, weekday, strlen(weekday)) == 0)
        return go_to_weekday(word + strlen(weekday), microseconds);
    return add_clock(word, microseconds) || add_units(word, microseconds);
}

FUNCTION_BODY(moved)
{
    struct vdbq_text text = state->arguments[1].text;
    int64_t time = state->arguments[0].integer;
    char word[MODIFIER_MAX + 1] = "";
    bool known = text.length <= MODIFIER_MAX;
    for (size_t i = 0; known && i < text.length; i++)
        word[i] = text.bytes[i] >= 'A' && text.bytes[i] <= 'Z'
                      ? (char)(text.bytes[i] | 0x20)
                      : text.bytes[i];
    known = known && move(word, &time);
    return give(state, known, time);
}
