/* SPDX-License-Identifier: MIT */
/*
 * Numbers to and from text. The C library reads and writes numbers with the
 * locale's decimal point; here it only ever sees digits and an exponent,
 * "15e-1", which mean the same in every locale.
 */
#include "base/text.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"

enum {
    TEXT_DIGITS_MAX = 24, /* of an integer, with what fills it up          */
    DIGITS_MAX = 800,     /* past these a digit only breaks a tie           */
    FIXED_MIN = -4,       /* exponents of ten that are written without an   */
    FIXED_MAX = 14,       /* exponent, as sqlite3 does                      */
    EXPONENT_MAX = 1 << 20
};

/* A decimal number: 0.DIGITS * 10^point. */
struct decimal {
    bool negative;
    int count; /* of digits; 0: zero */
    long point;
    char digits[DIGITS_MAX + 2];
};

static bool read_decimal(const char *bytes, size_t length,
                         struct decimal *decimal);
static double value_of(const struct decimal *decimal);
static void shortest(struct decimal *decimal, double value, bool single);
static size_t write_decimal(const struct decimal *decimal, char *room);
static size_t from_double(double value, bool single, char *room);

/* ------------------------------------------------------------ to text -- */

/* Writes a number below 100 in front of `at`; returns where it begins. */
static char *put_pair(char *at, unsigned pair)
{
    at[-1] = (char)('0' + pair % 10);
    at[-2] = (char)('0' + pair / 10);
    return at - 2;
}

size_t text_from_digits(uint64_t number, unsigned width, char fill, char *room)
{
    char digits[TEXT_DIGITS_MAX];
    char *end = digits + sizeof digits, *at = end;

    assert(width <= sizeof digits);
    for (; number >= 100; number /= 100)
        at = put_pair(at, (unsigned)(number % 100));
    if (number >= 10)
        at = put_pair(at, (unsigned)number);
    else
        *--at = (char)('0' + number);
    while (at > end - width)
        *--at = fill;
    memcpy(room, at, (size_t)(end - at));
    return (size_t)(end - at);
}

size_t text_from_double(double value, char *room)
{
    return from_double(value, false, room);
}

size_t text_from_float(float value, char *room)
{
    return from_double((double)value, true, room);
}

static size_t from_double(double value, bool single, char *room)
{
    struct decimal decimal;

    if (isnan(value))
        return (size_t)sprintf(room, "nan");
    if (isinf(value))
        return (size_t)sprintf(room, value < 0 ? "-inf" : "inf");
    shortest(&decimal, value, single);
    return write_decimal(&decimal, room);
}

/* The digits of a positive value as printf() rounds them to `count` digits. */
static void rounded_digits(struct decimal *decimal, double value, int count)
{
    char text[64], *at = text;

    snprintf(text, sizeof text, "%.*e", count - 1, value);
    decimal->count = 0;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            decimal->digits[decimal->count++] = *at;
    decimal->point = strtol(at + 1, NULL, 10) + 1;
}

/* `value` rounded to `count` digits, without zeros at the end. */
static void digits_of(struct decimal *decimal, double value, int count)
{
    uint64_t digits;
    int point;

    decimal->negative = signbit(value) != 0;
    if (exact_digits(fabs(value), count, &digits, &point)) {
        decimal->count = (int)text_from_digits(digits, 1, '0', decimal->digits);
        decimal->point = point;
    } else {
        rounded_digits(decimal, fabs(value), count);
    }
    while (decimal->count > 0 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
    if (decimal->count == 0)
        decimal->point = 1;
}

/* The next number of `count` digits. */
static void next_digits(struct decimal *decimal, int count)
{
    while (decimal->count < count)
        decimal->digits[decimal->count++] = '0';
    while (decimal->count > 0 && decimal->digits[decimal->count - 1] == '9')
        decimal->count--;
    if (decimal->count == 0) {
        decimal->digits[decimal->count++] = '0';
        decimal->point++;
    }
    decimal->digits[decimal->count - 1]++;
}

static bool reads_back(const struct decimal *decimal, double value, bool single)
{
    double back = value_of(decimal);

    return single ? (float)back == (float)value : back == value;
}

static bool is_power_of_two(double value)
{
    int exponent;

    return fabs(frexp(value, &exponent)) == 0.5;
}

/* The fewest digits that read back as `value`. A normal number that was
 * written with DBL_DIG digits or fewer keeps them when printed with DBL_DIG,
 * so that the search starts there; subnormals hold fewer digits. Above a power
 * of two the next float is twice as far away as below: where the nearest digits
 * lie below it and too far, those above may do. */
static void shortest(struct decimal *decimal, double value, bool single)
{
    int most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    double least_normal = single ? (double)FLT_MIN : DBL_MIN;
    int count = single ? FLT_DIG : DBL_DIG;
    bool uneven = is_power_of_two(value);

    if (fabs(value) < least_normal)
        count = 1;
    for (; count < most; count++) {
        digits_of(decimal, value, count);
        if (reads_back(decimal, value, single))
            return;
        if (uneven)
            next_digits(decimal, count);
        if (uneven && reads_back(decimal, value, single))
            return;
    }
    digits_of(decimal, value, most);
}

/* Writes `count` digits from number `from` on, zeros where there are none; returns
 * where they end. */
static char *put_digits(char *at, const struct decimal *decimal, long from,
                        long count)
{
    long left = decimal->count > from ? decimal->count - from : 0;
    long there = left < count ? left : count;

    memcpy(at, &decimal->digits[from], (size_t)there);
    memset(at + there, '0', (size_t)(count - there));
    return at + count;
}

/* Writes 3.0, 0.00012 or 1.5e+20 and a NUL. */
static size_t write_decimal(const struct decimal *decimal, char *room)
{
    long exponent = decimal->point - 1;
    bool fixed = exponent >= FIXED_MIN && exponent <= FIXED_MAX;
    long before = fixed ? decimal->point : 1; /* digits before the point */
    char *at = room;

    if (decimal->negative)
        *at++ = '-';
    if (before <= 0) {
        memset(at, '0', (size_t)(2 - before));
        at[1] = '.';
        at = put_digits(at + 2 - before, decimal, 0, decimal->count);
    } else {
        at = put_digits(at, decimal, 0, before);
        *at++ = '.';
        at = put_digits(at, decimal, before,
                        decimal->count > before ? decimal->count - before : 1);
    }
    *at = '\0';
    if (!fixed)
        at += sprintf(at, "e%+03ld", exponent);
    return (size_t)(at - room);
}

/* ---------------------------------------------------------- from text -- */

bool text_to_int64(const char *bytes, size_t length, int64_t *value)
{
    bool negative = length > 0 && bytes[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative, sum = 0;
    size_t at = length > 0 && (negative || bytes[0] == '+');

    if (at == length)
        return false;
    for (; at < length; at++) {
        unsigned digit = (unsigned)(unsigned char)bytes[at] - '0';
        if (digit > 9 || sum > (limit - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool text_to_double(const char *bytes, size_t length, double *value)
{
    struct decimal decimal;
    size_t sign = length > 0 && (bytes[0] == '-' || bytes[0] == '+');

    if (length - sign == 3 && (bytes[sign] | 0x20) == 'i'
        && (bytes[sign + 1] | 0x20) == 'n' && (bytes[sign + 2] | 0x20) == 'f') {
        *value = bytes[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    if (!read_decimal(bytes, length, &decimal))
        return false;
    *value = value_of(&decimal);
    return true;
}

bool text_to_size(const char *text, uint64_t *size_bytes)
{
    static const char units[] = "KMGTPE";
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits, *found;
    unsigned shift = 0;
    int64_t number;

    if (!text_to_int64(text, digits, &number))
        return false;
    if (*unit != '\0') {
        char capital = *unit >= 'a' ? (char)(*unit - 'a' + 'A') : *unit;
        found = strchr(units, capital);
        if (found != NULL)
            shift = 10 * (unsigned)(found - units + 1), unit++;
        if (found != NULL && *unit == 'i')
            unit++;
        if (*unit == 'B' || *unit == 'b')
            unit++;
    }
    if (*unit != '\0' || (uint64_t)number > UINT64_MAX >> shift)
        return false;
    *size_bytes = (uint64_t)number << shift;
    return true;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Takes a digit in. Zeros before the first other digit only move the point;
 * past DIGITS_MAX digits, one that is not 0 is kept as a last 1. */
static void take_digit(struct decimal *decimal, char digit, bool fraction)
{
    if (decimal->count > 0 || digit != '0') {
        if (decimal->count < DIGITS_MAX)
            decimal->digits[decimal->count++] = digit;
        else if (digit != '0' && decimal->count == DIGITS_MAX)
            decimal->digits[decimal->count++] = '1';
        decimal->point += !fraction;
    } else {
        decimal->point -= fraction;
    }
}

/* Reads "e+12" at `at` into the point; false where it is malformed. */
static bool read_exponent(const char *at, const char *end,
                          struct decimal *decimal)
{
    bool negative;
    long exponent = 0;

    if (at == end)
        return true;
    if (*at++ != 'e' && at[-1] != 'E')
        return false;
    negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (!is_digit(at, end))
        return false;
    for (; is_digit(at, end); at++)
        if (exponent < EXPONENT_MAX * 100L)
            exponent = exponent * 10 + (*at - '0');
    decimal->point += negative ? -exponent : exponent;
    return at == end;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before the exponent */
static bool read_decimal(const char *bytes, size_t length,
                         struct decimal *decimal)
{
    const char *at = bytes, *end = bytes + length;
    bool any;

    decimal->count = 0;
    decimal->point = 0;
    decimal->negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    any = is_digit(at, end);
    for (; is_digit(at, end); at++)
        take_digit(decimal, *at, false);
    at += at < end && *at == '.';
    any = any || is_digit(at, end);
    for (; is_digit(at, end); at++)
        take_digit(decimal, *at, true);
    return any && read_exponent(at, end, decimal);
}

/* Up to 15 digits and a power of ten up to 22 are exact doubles, so that one
 * operation on them rounds correctly. False: it is not that simple. */
static bool simple_value(uint64_t whole, int count, int exponent, double *value)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                     1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                     1e18, 1e19, 1e20, 1e21, 1e22 };

    if (FLT_EVAL_METHOD != 0 || count > DBL_DIG || exponent < -22
        || exponent > 22)
        return false;
    *value = exponent < 0 ? (double)whole / powers[-exponent]
                          : (double)whole * powers[exponent];
    return true;
}

/* The nearest double, of digits that 64 bits hold. False: strtod() is to tell. */
static bool short_value(const struct decimal *decimal, double *value)
{
    enum { DIGITS_OF_64_BITS = 19 };
    long exponent = decimal->point - decimal->count;
    uint64_t whole = 0;

    if (decimal->count > DIGITS_OF_64_BITS || labs(exponent) > DIGITS_MAX)
        return false;
    for (int i = 0; i < decimal->count; i++)
        whole = whole * 10 + (uint64_t)(decimal->digits[i] - '0');
    return simple_value(whole, decimal->count, (int)exponent, value)
           || exact_double(whole, (int)exponent, value);
}

/* The nearest double. */
static double value_of(const struct decimal *decimal)
{
    char text[DIGITS_MAX + 32];
    long exponent = decimal->point - decimal->count;
    double value = 0;

    if (decimal->count > 0 && !short_value(decimal, &value)) {
        if (exponent > EXPONENT_MAX)
            exponent = EXPONENT_MAX;
        if (exponent < -EXPONENT_MAX)
            exponent = -EXPONENT_MAX;
        memcpy(text, decimal->digits, (size_t)decimal->count);
        sprintf(text + decimal->count, "e%ld", exponent);
        value = strtod(text, NULL);
    }
    return decimal->negative ? -value : value;
}
