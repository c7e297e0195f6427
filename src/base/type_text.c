/* SPDX-License-Identifier: MIT */
/*
 * Dates, timestamps, decimals and booleans as text, and what UTF-8 is. The
 * forms are in type.h.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "base/utf8.h"

/* Text that is being read. */
struct reading {
    const char *at, *end;
};

static bool is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

/* The text without blanks around it. */
static struct reading reading_of(const char *bytes, size_t length)
{
    struct reading from = { bytes, bytes + length };

    while (from.at < from.end && is_blank(*from.at))
        from.at++;
    while (from.at < from.end && is_blank(from.end[-1]))
        from.end--;
    return from;
}

static bool take(struct reading *from, char letter)
{
    if (from->at == from->end || *from->at != letter)
        return false;
    from->at++;
    return true;
}

static bool at_digit(const struct reading *from)
{
    return from->at < from->end && *from->at >= '0' && *from->at <= '9';
}

/* A number of one to `most` digits. */
static bool take_number(struct reading *from, int most, int *value)
{
    int count = 0;

    for (*value = 0; count < most && at_digit(from); count++)
        *value = *value * 10 + (*from->at++ - '0');
    return count > 0;
}

/* -------------------------------------------------------------- dates -- */

static bool take_date(struct reading *from, int32_t *days)
{
    struct type_day day;

    return take_number(from, 4, &day.year) && take(from, '-')
           && take_number(from, 2, &day.month) && take(from, '-')
           && take_number(from, 2, &day.day) && date_join(day, days);
}

/* Behind a point: any number of digits, those past the sixth cut off. */
static bool take_fraction(struct reading *from, int *microseconds)
{
    int unit = 100000;

    *microseconds = 0;
    if (!at_digit(from))
        return false;
    for (; at_digit(from); unit /= 10)
        *microseconds += (*from->at++ - '0') * unit;
    return true;
}

static bool take_time(struct reading *from, int64_t *microseconds)
{
    int hour, minute, second = 0, fraction = 0;

    if (!take_number(from, 2, &hour) || !take(from, ':')
        || !take_number(from, 2, &minute))
        return false;
    if (take(from, ':')) {
        if (!take_number(from, 2, &second))
            return false;
        if (take(from, '.') && !take_fraction(from, &fraction))
            return false;
    }
    *microseconds =
        ((hour * INT64_C(60) + minute) * 60 + second) * 1000000 + fraction;
    return hour < 24 && minute < 60 && second < 60;
}

bool timestamp_from_text(const char *bytes, size_t length,
                         int64_t *microseconds)
{
    struct reading from = reading_of(bytes, length);
    int64_t time = 0;
    int32_t days;

    if (!take_date(&from, &days))
        return false;
    if (from.at < from.end) {
        if (!take(&from, ' ') && !take(&from, 'T') && !take(&from, 't'))
            return false;
        if (!take_time(&from, &time))
            return false;
        if (!take(&from, 'Z'))
            take(&from, 'z');
    }
    *microseconds = days * DAY_MICROSECONDS + time;
    return from.at == from.end;
}

bool date_from_text(const char *bytes, size_t length, int32_t *days)
{
    int64_t microseconds;

    if (!timestamp_from_text(bytes, length, &microseconds))
        return false;
    *days = timestamp_date(microseconds);
    return true;
}

/* Writes a letter, then a number of that many digits at least; gives the place
 * behind them. */
static char *put(char *at, char letter, uint64_t number, unsigned least)
{
    if (letter != '\0')
        *at++ = letter;
    return at + text_from_digits(number, least, '0', at);
}

/* Ends a text that begins at `room`; its length. */
static size_t end_text(char *at, const char *room)
{
    *at = '\0';
    return (size_t)(at - room);
}

static char *put_date(char *at, int32_t days)
{
    struct type_day day = date_split(days);

    at = day.year < 0 ? put(at, '-', (uint64_t) - (int64_t)day.year, 3)
                      : put(at, '\0', (uint64_t)day.year, 4);
    at = put(at, '-', (uint64_t)day.month, 2);
    return put(at, '-', (uint64_t)day.day, 2);
}

size_t date_to_text(int32_t days, char *room)
{
    return end_text(put_date(room, days), room);
}

size_t timestamp_to_text(int64_t microseconds, char *room)
{
    int32_t days = timestamp_date(microseconds);
    uint64_t time = (uint64_t)(microseconds - days * DAY_MICROSECONDS);
    uint64_t second = time / 1000000, fraction = time % 1000000;
    char *at = put_date(room, days);

    at = put(at, ' ', second / 3600, 2);
    at = put(at, ':', second / 60 % 60, 2);
    at = put(at, ':', second % 60, 2);
    if (fraction != 0)
        at = put(at, '.', fraction, 6);
    while (fraction != 0 && at[-1] == '0')
        at--;
    return end_text(at, room);
}

/* ----------------------------------------------------------- decimals -- */

int64_t decimal_power(unsigned exponent)
{
    int64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Whether the digits are no more than `precision`. */
static bool digits_fit(int64_t digits, unsigned precision)
{
    int64_t limit = decimal_power(precision);

    return digits > -limit && digits < limit;
}

/* [+-] digits [. digits]; up to `scale` digits behind the point are taken
 * in, the next one rounds. False: none, too many, or something behind. */
static bool take_decimal(struct reading *from, unsigned scale, int64_t *digits)
{
    const uint64_t limit = (uint64_t)decimal_power(DECIMAL_DIGITS_MAX);
    bool any = at_digit(from), up = false;
    unsigned behind = 0;
    uint64_t sum = 0; /* ten times the limit fits, too */

    for (; at_digit(from) && sum < limit; from->at++)
        sum = sum * 10 + (unsigned)(*from->at - '0');
    if (take(from, '.'))
        for (any |= at_digit(from); at_digit(from) && sum < limit; from->at++) {
            if (behind < scale) {
                sum = sum * 10 + (unsigned)(*from->at - '0');
                behind++;
            } else if (behind++ == scale) {
                up = *from->at >= '5';
            }
        }
    for (; behind < scale && sum < limit; behind++)
        sum *= 10;
    *digits = (int64_t)(sum < limit ? sum + up : limit);
    return any && sum < limit && from->at == from->end;
}

bool decimal_from_text(const char *bytes, size_t length, unsigned precision,
                       unsigned scale, int64_t *digits)
{
    struct reading from = reading_of(bytes, length);
    bool negative = take(&from, '-');
    struct reading again = from;
    double real;

    if (!negative)
        take(&from, '+');
    if (!take_decimal(&from, scale, digits)) {
        /* An exponent: as a double, of which 15 digits can be counted on. */
        if (memchr(again.at, 'e', (size_t)(again.end - again.at)) == NULL
            && memchr(again.at, 'E', (size_t)(again.end - again.at)) == NULL)
            return false;
        if (!text_to_double(again.at, (size_t)(again.end - again.at), &real)
            || !decimal_from_double(real, precision, scale, digits))
            return false;
    }
    if (negative)
        *digits = -*digits;
    return digits_fit(*digits, precision);
}

size_t decimal_to_text(int64_t digits, unsigned scale, char *room)
{
    uint64_t size = digits < 0 ? 0 - (uint64_t)digits : (uint64_t)digits;
    uint64_t unit = (uint64_t)decimal_power(scale);
    char *at = put(room, digits < 0 ? '-' : '\0', size / unit, 1);

    if (scale > 0)
        at = put(at, '.', size % unit, scale);
    return end_text(at, room);
}

bool decimal_rescale(int64_t digits, unsigned from, unsigned to,
                     unsigned precision, int64_t *rescaled)
{
    int64_t unit, rest;

    if (to >= from) {
        unit = decimal_power(to - from);
        if (digits > INT64_MAX / unit || digits < INT64_MIN / unit)
            return false;
        *rescaled = digits * unit;
    } else {
        unit = decimal_power(from - to);
        rest = digits % unit;
        *rescaled = digits / unit + (rest >= unit - unit / 2)
                    - (rest <= unit / 2 - unit);
    }
    return digits_fit(*rescaled, precision);
}

bool decimal_from_double(double value, unsigned precision, unsigned scale,
                         int64_t *digits)
{
    double scaled = round(value * (double)decimal_power(scale));

    if (!(fabs(scaled) < 1e18))
        return false;
    *digits = (int64_t)scaled;
    return digits_fit(*digits, precision);
}

double decimal_to_double(int64_t digits, unsigned scale)
{
    return (double)digits / (double)decimal_power(scale);
}

/* ----------------------------------------------------------- booleans -- */

bool boolean_from_text(const char *bytes, size_t length, int32_t *value)
{
    static const char *const names[] = { "false", "true", "f", "t",
                                         "no",    "yes",  "n", "y",
                                         "off",   "on",   "0", "1" };
    struct reading from = reading_of(bytes, length);
    char name[8] = "";

    if ((size_t)(from.end - from.at) >= sizeof name)
        return false;
    memcpy(name, from.at, (size_t)(from.end - from.at));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name_equal(names[i], name)) {
            *value = (int32_t)(i % 2);
            return true;
        }
    return false;
}

/* -------------------------------------------------------------- UTF-8 -- */

/* How many bytes at the start, in steps of eight, are all ASCII; all, where the
 * last eight are, too. */
static size_t ascii_length(const char *at, size_t length)
{
    uint64_t eight;
    size_t count = 0;

    if (length < sizeof eight)
        return 0;
    for (; count + sizeof eight <= length; count += sizeof eight) {
        memcpy(&eight, at + count, sizeof eight);
        if ((eight & UINT64_C(0x8080808080808080)) != 0)
            return count;
    }
    memcpy(&eight, at + length - sizeof eight, sizeof eight);
    return (eight & UINT64_C(0x8080808080808080)) == 0 ? length : count;
}

bool text_is_utf8(const char *bytes, size_t length)
{
    const char *at = bytes, *end;

    if (bytes == NULL)
        return length == 0;
    end = bytes + length;
    for (at += ascii_length(bytes, length); at < end;) {
        unsigned count;
        if (utf8_character(at, end, &count) == UTF8_NONE && count == 1)
            return false;
        at += count;
    }
    return true;
}
