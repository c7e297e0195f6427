/* SPDX-License-Identifier: MIT */
/*
 * What values look like, so that a table that is to be made gets types that
 * hold them: numbers, dates, truth values; texts where nothing else fits, or
 * where something would be lost: the zeros of 007, the digits of a number that
 * is too long.
 */
#include "io/import_kind.h"
#include "io/number.h"

#include <string.h>
#include <strings.h>

static bool is_boolean(const char *bytes, size_t length)
{
    return (length == 4 && strncasecmp(bytes, "true", 4) == 0)
           || (length == 5 && strncasecmp(bytes, "false", 5) == 0);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A year of four digits: 4-4-2 is no date that somebody meant. */
static bool has_year(const char *bytes, size_t length)
{
    return length >= 8 && is_digit(bytes[0]) && is_digit(bytes[1])
           && is_digit(bytes[2]) && is_digit(bytes[3]) && bytes[4] == '-';
}

/* A value that is no number. */
static unsigned seen_other(const char *bytes, size_t length)
{
    int64_t time;
    if (is_boolean(bytes, length))
        return SEEN_BOOLEAN;
    if (!has_year(bytes, length) || length >= VDBQ_VALUE_BYTES
        || !vdbq_value_parse(VDBQ_TIMESTAMP, 0, 0, bytes, length, &time))
        return SEEN_TEXT;
    return memchr(bytes, ':', length) ? SEEN_TIMESTAMP : SEEN_DATE;
}

/* Whether a number starts with a zero or a plus that numbers do not keep. */
static bool is_code(const char *bytes, size_t length)
{
    const char *end = bytes + length;
    while (bytes < end && (*bytes == ' ' || *bytes == '\t'))
        bytes++;
    if (bytes < end && *bytes == '+')
        return true;
    bytes += bytes < end && *bytes == '-';
    return end - bytes > 1 && *bytes == '0' && is_digit(bytes[1]);
}

/* A whole number of 64 bits. */
static unsigned seen_wide(const char *bytes, size_t length)
{
    enum { SURELY_HELD = 15 }; /* digits of a double */
    int64_t value = 0;
    if (length <= SURELY_HELD)
        return SEEN_INT64;
    number_to_int64(bytes, length, &value);
    double near = (double)value;
    bool held = near < 9223372036854775808.0 && (int64_t)near == value;
    return held ? SEEN_INT64 : SEEN_LONG;
}

/* One with a point or an exponent, or infinity; without them it has too many
 * digits. Only an exponent, or hundreds of digits, make it too large. */
static unsigned seen_double(const char *bytes, size_t length)
{
    enum { SURELY_HELD = 300 };
    bool point = false, letter = false;
    double value;
    for (size_t i = 0; i < length; i++) {
        point |= bytes[i] == '.';
        letter |= bytes[i] >= 'A';
    }
    if (!point && !letter)
        return SEEN_CODE;
    if (!letter && length <= SURELY_HELD)
        return SEEN_DOUBLE;
    return number_to_double(bytes, length, &value) == NUMBER_OK ? SEEN_DOUBLE
                                                                : SEEN_CODE;
}

unsigned import_seen(const struct csv_field *field)
{
    enum number_kind kind = number_kind(field->bytes, field->length);
    if (kind != NUMBER_NOTHING && kind != NUMBER_TEXT
        && is_code(field->bytes, field->length))
        return SEEN_CODE;
    switch (kind) {
    case NUMBER_NOTHING:
        return field->quote && !field->length ? SEEN_QUOTES : 0;
    case NUMBER_INT32:
        return SEEN_INT32;
    case NUMBER_INT64:
        return seen_wide(field->bytes, field->length);
    case NUMBER_DOUBLE:
        return seen_double(field->bytes, field->length);
    default:
        return seen_other(field->bytes, field->length);
    }
}

enum vdbq_type import_seen_type(unsigned seen)
{
    static const struct {
        unsigned fits; /* what it holds, all together */
        enum vdbq_type type;
    } types[] = {
        { SEEN_INT32, VDBQ_INTEGER },
        { SEEN_INT32 | SEEN_INT64 | SEEN_LONG, VDBQ_BIGINT },
        { SEEN_INT32 | SEEN_INT64 | SEEN_DOUBLE, VDBQ_DOUBLE },
        { SEEN_DATE, VDBQ_DATE },
        { SEEN_DATE | SEEN_TIMESTAMP, VDBQ_TIMESTAMP },
        { SEEN_BOOLEAN, VDBQ_BOOLEAN },
    };
    seen &= ~(unsigned)SEEN_QUOTES;
    if (!seen)
        return VDBQ_TEXT;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!(seen & ~types[i].fits))
            return types[i].type;
    return VDBQ_TEXT;
}
