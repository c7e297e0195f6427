/* SPDX-License-Identifier: MIT */
/*
 * strptime(): the moment that a text is by a format. What the format does not say is
 * that of 1900-01-01 00:00:00. Numbers may have fewer digits than their parts have
 * at most; names are English, in either case of letters.
 */
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "program/functions/function_inner.h"

/* A text while it is read. */
struct reading {
    const char *at, *end;     /* of the text                              */
    const char *form, *forms; /* of the format: the next byte, its end    */
    struct type_day day;
    int hour, minute, second, micros;
    int yearday;       /* 0: it is not said                        */
    bool half, behind; /* AM or PM is said; ... PM                 */
};

enum outcome { OUTCOME_FITS, OUTCOME_DIFFERS, OUTCOME_NO_FORMAT };

static bool is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

static void skip_blanks(struct reading *reading)
{
    while (reading->at < reading->end && is_blank(*reading->at))
        reading->at++;
}

/* ----------------------------------------------------------------- parts -- */

/* A number of so many digits at most, one at least; how many there are. */
static unsigned take_number(struct reading *reading, unsigned digits,
                            int *number)
{
    unsigned count = 0;

    *number = 0;
    for (; count < digits && reading->at < reading->end && *reading->at >= '0'
           && *reading->at <= '9';
         count++)
        *number = *number * 10 + (*reading->at++ - '0');
    return count;
}

/* ... which lies between two others. */
static bool take_between(struct reading *reading, unsigned digits, int least,
                         int most, int *number)
{
    return take_number(reading, digits, number) > 0 && *number >= least
           && *number <= most;
}

/* The digits behind the point of a second. */
static bool take_fraction(struct reading *reading, unsigned digits)
{
    unsigned count = take_number(reading, digits, &reading->micros);

    for (unsigned i = count; i < 6; i++)
        reading->micros *= 10;
    return count > 0;
}

/* A word, whatever the case of its letters. */
static bool take_word(struct reading *reading, const char *word, size_t length)
{
    if ((size_t)(reading->end - reading->at) < length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((reading->at[i] | 0x20) != (word[i] | 0x20))
            return false;
    reading->at += length;
    return true;
}

/* One of some names, or (`brief`) its first three letters: its number, from 0; -1:
 * none is there. */
static int take_name(struct reading *reading, const char *const *names,
                     int count, bool brief)
{
    for (int i = 0; i < count; i++)
        if (take_word(reading, names[i], brief ? 3 : strlen(names[i])))
            return i;
    return -1;
}

static bool take_month(struct reading *reading, bool brief)
{
    static const char *const names[] = { "January", "February", "March",
                                         "April",   "May",      "June",
                                         "July",    "August",   "September",
                                         "October", "November", "December" };
    int month = take_name(reading, names, 12, brief);

    reading->day.month = month + 1;
    return month >= 0;
}

/* What day of the week it is says nothing. */
static bool take_weekday(struct reading *reading, bool brief)
{
    static const char *const names[] = { "Monday",   "Tuesday", "Wednesday",
                                         "Thursday", "Friday",  "Saturday",
                                         "Sunday" };

    return take_name(reading, names, 7, brief) >= 0;
}

static bool take_half(struct reading *reading)
{
    static const char *const names[] = { "AM", "PM" };
    int half = take_name(reading, names, 2, false);

    reading->half = true;
    reading->behind = half == 1;
    return half >= 0;
}

/* Of two digits: from 1969 to 2068. */
static bool take_short_year(struct reading *reading)
{
    int year;

    if (!take_between(reading, 2, 0, 99, &year))
        return false;
    reading->day.year = year + (year < 69 ? 2000 : 1900);
    return true;
}

/* ---------------------------------------------------------------- format -- */

static enum outcome told(bool fits)
{
    return fits ? OUTCOME_FITS : OUTCOME_DIFFERS;
}

static enum outcome take_part(struct reading *reading, char letter)
{
    switch (letter) {
    case 'Y':
        return told(take_between(reading, 4, 1, 9999, &reading->day.year));
    case 'y':
        return told(take_short_year(reading));
    case 'm':
        return told(take_between(reading, 2, 1, 12, &reading->day.month));
    case 'd':
        return told(take_between(reading, 2, 1, 31, &reading->day.day));
    case 'j':
        return told(take_between(reading, 3, 1, 366, &reading->yearday));
    case 'H':
        return told(take_between(reading, 2, 0, 23, &reading->hour));
    case 'I':
        return told(take_between(reading, 2, 1, 12, &reading->hour));
    case 'M':
        return told(take_between(reading, 2, 0, 59, &reading->minute));
    case 'S':
        return told(take_between(reading, 2, 0, 59, &reading->second));
    case 'f':
        return told(take_fraction(reading, 6));
    case 'g':
        return told(take_fraction(reading, 3));
    case 'p':
        return told(take_half(reading));
    case 'B':
    case 'b':
        return told(take_month(reading, letter == 'b'));
    case 'A':
    case 'a':
        return told(take_weekday(reading, letter == 'a'));
    case '%':
        return told(reading->at < reading->end && *reading->at++ == '%');
    default:
        return OUTCOME_NO_FORMAT;
    }
}

/* One letter of the format, or a part with its sign. Blanks stand for any number of
 * blanks, one at least. */
static enum outcome take_next(struct reading *reading)
{
    char letter = *reading->form++;

    if (is_blank(letter)) {
        bool any = reading->at < reading->end && is_blank(*reading->at);
        skip_blanks(reading);
        while (reading->form < reading->forms && is_blank(*reading->form))
            reading->form++;
        return told(any);
    }
    if (letter == '%') {
        if (reading->form < reading->forms && *reading->form == '-')
            reading->form++; /* without zeros in front: they may lack anyway */
        return reading->form < reading->forms
                   ? take_part(reading, *reading->form++)
                   : OUTCOME_NO_FORMAT;
    }
    return told(reading->at < reading->end && *reading->at++ == letter);
}

/* What was read, as microseconds since 1970-01-01. */
static bool moment_of(const struct reading *reading, int64_t *moment)
{
    struct type_day day = reading->day;
    int hour = reading->hour;
    int32_t days;

    if (reading->yearday > 0)
        day.month = day.day = 1;
    if (!date_join(day, &days))
        return false;
    if (reading->yearday > 0)
        days += reading->yearday - 1;
    if (reading->yearday > 0 && date_split(days).year != day.year)
        return false;
    if (reading->half)
        hour = hour % 12 + (reading->behind ? 12 : 0);
    *moment = days * DAY_MICROSECONDS + hour * INT64_C(3600000000)
              + reading->minute * INT64_C(60000000)
              + reading->second * INT64_C(1000000) + reading->micros;
    return true;
}

static enum outcome read_moment(struct function_call_state *state)
{
    struct vdbq_text text = state->arguments[0].text,
                     format = state->arguments[1].text;
    struct reading reading = { .at = text.bytes,
                               .end = text.bytes + text.length,
                               .form = format.bytes,
                               .forms = format.bytes + format.length,
                               .day = { 1900, 1, 1 } };
    enum outcome outcome = OUTCOME_FITS;

    skip_blanks(&reading);
    while (reading.form < reading.forms && outcome == OUTCOME_FITS)
        outcome = take_next(&reading);
    skip_blanks(&reading);
    if (outcome == OUTCOME_FITS && reading.at < reading.end)
        outcome = OUTCOME_DIFFERS;
    if (outcome == OUTCOME_FITS && !moment_of(&reading, &state->value->integer))
        outcome = OUTCOME_DIFFERS;
    return outcome;
}

FUNCTION_BODY(strptime)
{
    struct vdbq_text text = state->arguments[0].text,
                     format = state->arguments[1].text;

    switch (read_moment(state)) {
    case OUTCOME_FITS:
        return VDBQ_OK;
    case OUTCOME_DIFFERS:
        return error_set(
            state->error, VDBQ_TYPE,
            "strptime: \"%.*s\" is not as the format \"%.*s\" says",
            utf8_shown(text), text.bytes, utf8_shown(format), format.bytes);
    default:
        return error_set(
            state->error, VDBQ_TYPE,
            "strptime: the format \"%.*s\" has a part that is none "
            "of %%Y %%y %%m %%d %%j %%b %%B %%a %%A %%H %%I %%p %%M "
            "%%S %%f %%g %%%%",
            utf8_shown(format), format.bytes);
    }
}

FUNCTION_BODY(try_strptime)
{
    state->value->null = read_moment(state) != OUTCOME_FITS;
    return VDBQ_OK;
}
