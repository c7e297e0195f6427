/* SPDX-License-Identifier: MIT */
/*
 * Text to numbers. A decimal whose digits fit 53 bits and whose power of ten
 * is exact in a double is one multiplication or division away from the right
 * answer; the others go to the C library, which rounds correctly.
 */
#include "io/number.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number's text, read but not yet rounded. */
struct scan {
    uint64_t digits; /* the first 19 significant ones     */
    int count;       /* significant digits read           */
    int exponent;    /* the value is digits * 10^exponent */
    bool negative;
    bool whole; /* no point and no exponent          */
    bool exact; /* no digit was left out             */
};

enum { DIGITS_MAX = 19, EXPONENT_MAX = 99999 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Leaves blanks at both ends out. */
static const char *trim(const char *bytes, size_t *length)
{
    while (*length && is_blank(*bytes)) {
        bytes++;
        --*length;
    }
    while (*length && is_blank(bytes[*length - 1]))
        --*length;
    return bytes;
}

static bool is_word(const char *bytes, size_t length, const char *word)
{
    if (strlen(word) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((bytes[i] | 0x20) != word[i])
            return false;
    return true;
}

static bool is_nothing(const char *bytes, size_t length)
{
    if (length == 4 && (*bytes == '-' || *bytes == '+'))
        return is_word(bytes + 1, 3, "nan");
    return !length || (length == 3 && is_word(bytes, 3, "nan"));
}

static bool is_infinity(const char *bytes, size_t length)
{
    if (length && (*bytes == '-' || *bytes == '+')) {
        bytes++;
        length--;
    }
    return is_word(bytes, length, "inf") || is_word(bytes, length, "infinity");
}

/* Takes the digits at `at`; each one after the point lowers the exponent. */
static const char *scan_digits(struct scan *scan, const char *at,
                               const char *end, int step)
{
    for (; at < end && is_digit(*at); at++) {
        if (scan->count < DIGITS_MAX) {
            scan->digits = scan->digits * 10 + (uint64_t)(*at - '0');
            scan->count += scan->digits != 0;
            scan->exponent += step;
        } else {
            scan->exact &= *at == '0';
            scan->exponent += step + 1;
        }
    }
    return at;
}

/* "e-12", or NULL where it is none. */
static const char *scan_exponent(struct scan *scan, const char *at,
                                 const char *end)
{
    int sign = 1, exponent = 0;
    if (at < end && (*at == '-' || *at == '+'))
        sign = *at++ == '-' ? -1 : 1;
    const char *first = at;
    for (; at < end && is_digit(*at); at++)
        if (exponent < EXPONENT_MAX)
            exponent = exponent * 10 + (*at - '0');
    scan->exponent += sign * exponent;
    return at == first ? NULL : at;
}

/* Whether all of the text is a decimal number. */
static bool scan_number(const char *at, size_t length, struct scan *scan)
{
    const char *end = at + length;
    *scan = (struct scan){ .whole = true, .exact = true };
    if (at < end && (*at == '-' || *at == '+'))
        scan->negative = *at++ == '-';
    const char *first = at;
    at = scan_digits(scan, at, end, 0);
    size_t seen = (size_t)(at - first);
    if (at < end && *at == '.') {
        first = ++at;
        at = scan_digits(scan, at, end, -1);
        seen += (size_t)(at - first);
        scan->whole = false;
    }
    if (!seen)
        return false;
    if (at < end && (*at | 0x20) == 'e') {
        at = scan_exponent(scan, at + 1, end);
        scan->whole = false;
    }
    return at == end;
}

/* A whole number of at most 18 digits, which is what most are. */
static bool short_int(const char *at, size_t length, int64_t *value)
{
    const char *end = at + length;
    int64_t sum = 0;
    bool negative = length && *at == '-';
    at += negative;
    if (at == end || end - at > 18)
        return false;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return false;
        sum = sum * 10 + (*at - '0');
    }
    *value = negative ? -sum : sum;
    return true;
}

/* The value of a whole number; false where 64 bits do not hold it. */
static bool scan_int(const struct scan *scan, int64_t *value)
{
    uint64_t limit = (uint64_t)INT64_MAX + scan->negative;
    if (scan->exponent || scan->digits > limit)
        return false;
    *value =
        scan->negative ? (int64_t)(0 - scan->digits) : (int64_t)scan->digits;
    return true;
}

static enum number_kind int_kind(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX ? NUMBER_INT32
                                                    : NUMBER_INT64;
}

enum number_kind number_kind(const char *bytes, size_t length)
{
    struct scan scan;
    int64_t value;
    if (short_int(bytes, length, &value))
        return int_kind(value);
    bytes = trim(bytes, &length);
    if (is_nothing(bytes, length))
        return NUMBER_NOTHING;
    if (!scan_number(bytes, length, &scan))
        return is_infinity(bytes, length) ? NUMBER_DOUBLE : NUMBER_TEXT;
    if (scan.whole && scan_int(&scan, &value))
        return int_kind(value);
    return NUMBER_DOUBLE;
}

enum number_status number_to_int64(const char *bytes, size_t length,
                                   int64_t *value)
{
    struct scan scan;
    if (short_int(bytes, length, value))
        return NUMBER_OK;
    bytes = trim(bytes, &length);
    if (is_nothing(bytes, length))
        return NUMBER_NULL;
    if (!scan_number(bytes, length, &scan) || !scan.whole)
        return NUMBER_WRONG;
    return scan_int(&scan, value) ? NUMBER_OK : NUMBER_RANGE;
}

enum number_status number_to_int32(const char *bytes, size_t length,
                                   int32_t *value)
{
    int64_t whole;
    enum number_status status = number_to_int64(bytes, length, &whole);
    if (status != NUMBER_OK)
        return status;
    if (int_kind(whole) != NUMBER_INT32)
        return NUMBER_RANGE;
    *value = (int32_t)whole;
    return NUMBER_OK;
}

/* The text ended by a NUL and with the locale's point, for the C library. */
struct copy {
    char room[128];
    char *text;
};

static bool copy_open(struct copy *copy, const char *bytes, size_t length)
{
    copy->text = length < sizeof copy->room ? copy->room : malloc(length + 1);
    if (!copy->text)
        return false;
    memcpy(copy->text, bytes, length);
    copy->text[length] = 0;
    char *point = strchr(copy->text, '.');
    if (point)
        *point = *localeconv()->decimal_point;
    return true;
}

static void copy_close(struct copy *copy)
{
    if (copy->text != copy->room)
        free(copy->text);
}

static enum number_status slow_double(const char *bytes, size_t length,
                                      double *value)
{
    struct copy copy;
    if (!copy_open(&copy, bytes, length))
        return NUMBER_RANGE;
    *value = strtod(copy.text, NULL);
    copy_close(&copy);
    return isinf(*value) ? NUMBER_RANGE : NUMBER_OK;
}

static enum number_status slow_float(const char *bytes, size_t length,
                                     float *value)
{
    struct copy copy;
    if (!copy_open(&copy, bytes, length))
        return NUMBER_RANGE;
    *value = strtof(copy.text, NULL);
    copy_close(&copy);
    return isinf(*value) ? NUMBER_RANGE : NUMBER_OK;
}

/* The value, correctly rounded, where one operation gives it. */
static bool fast_double(const struct scan *scan, double *value)
{
    static const double power[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };
    if (!scan->exact || scan->digits >> DBL_MANT_DIG || scan->exponent < -22
        || scan->exponent > 22)
        return false;
    double digits = (double)scan->digits;
    double magnitude = scan->exponent < 0 ? digits / power[-scan->exponent]
                                          : digits * power[scan->exponent];
    *value = scan->negative ? -magnitude : magnitude;
    return true;
}

/* Names and what is no number; true where the digits decide. */
static bool scan_float(const char **bytes, size_t *length, struct scan *scan,
                       double *value, enum number_status *status)
{
    *bytes = trim(*bytes, length);
    if (scan_number(*bytes, *length, scan))
        return true;
    *status = is_nothing(*bytes, *length) ? NUMBER_NULL : NUMBER_WRONG;
    if (is_infinity(*bytes, *length)) {
        *value = **bytes == '-' ? -INFINITY : INFINITY;
        *status = NUMBER_OK;
    }
    return false;
}

enum number_status number_to_double(const char *bytes, size_t length,
                                    double *value)
{
    struct scan scan;
    enum number_status status;
    if (!scan_float(&bytes, &length, &scan, value, &status))
        return status;
    if (fast_double(&scan, value))
        return NUMBER_OK;
    return slow_double(bytes, length, value);
}

/* Whether a double that is the nearest to some decimal also rounds to the
 * float nearest to it: always, unless it lies half-way between two floats
 * or outside of the normal ones. */
static bool rounds_once_more(double value)
{
    uint64_t bits;
    double magnitude = fabs(value);
    memcpy(&bits, &value, sizeof bits);
    if (magnitude == 0)
        return true;
    return (bits & 0x1fffffff) != 0x10000000 && magnitude >= (double)FLT_MIN
           && magnitude <= (double)FLT_MAX;
}

enum number_status number_to_float(const char *bytes, size_t length,
                                   float *value)
{
    struct scan scan;
    double near = 0;
    enum number_status status;
    if (!scan_float(&bytes, &length, &scan, &near, &status)) {
        *value = (float)near;
        return status;
    }
    if (fast_double(&scan, &near) && rounds_once_more(near)) {
        *value = (float)near;
        return NUMBER_OK;
    }
    return slow_float(bytes, length, value);
}
