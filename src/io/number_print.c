/* SPDX-License-Identifier: MIT */
/*
 * Numbers to text. Whole numbers are written two digits a step. A float is
 * written with the fewest digits that lie nearer to it than to any of its
 * neighbours: in fixed point, in 128 bits, exactly (rule 1), for the sizes
 * that occur; the rest goes through printf with growing precision.
 *
 * Rule 1: for 2^-66 <= value < 2^53 the part after the point times 2^120 is
 * a whole number, and so is half the distance to the neighbours; both are
 * multiplied by ten for each digit, and the digits end as soon as what is
 * left is less than that distance. No rounding happens on the way.
 */
#include "io/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { POINT = 120 }; /* bits after the point in fixed point */

/* A positive float as digits: 0.DIGITS times ten to the `exponent`. */
struct decimal {
    char digits[32];
    int count;
    int exponent;
};

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233"
    "34353637383940414243444546474849505152535455565758596061626364656667"
    "6869707172737475767778798081828384858687888990919293949596979899";

static char *digits_of(uint64_t value, char *at)
{
    char room[20];
    char *first = room + sizeof room;
    while (value >= 100) {
        first -= 2;
        memcpy(first, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        first -= 2;
        memcpy(first, pairs + value * 2, 2);
    } else {
        *--first = (char)('0' + value);
    }
    size_t length = (size_t)(room + sizeof room - first);
    memcpy(at, first, length);
    return at + length;
}

char *number_from_int(int64_t value, char *at)
{
    uint64_t magnitude = (uint64_t)value;
    if (value < 0) {
        *at++ = '-';
        magnitude = 0 - magnitude;
    }
    return digits_of(magnitude, at);
}

/* The digits after the point; zeros in front of the first digit only move
 * the exponent. `below` and `above` are half the distances to the lower and
 * the upper neighbour. */
static void fraction_digits(wide fraction, wide below, wide above,
                            struct decimal *decimal)
{
    const wide one = (wide)1 << POINT;
    while (fraction >= below && one - fraction >= above) {
        fraction *= 10;
        below *= 10;
        above *= 10;
        char digit = (char)(fraction >> POINT);
        fraction &= one - 1;
        if (!digit && !decimal->count && one - fraction >= above)
            decimal->exponent--;
        else
            decimal->digits[decimal->count++] = (char)('0' + digit);
    }
    if (fraction >= below || fraction > one - fraction)
        decimal->digits[decimal->count - 1]++;
}

static void trim_zeros(struct decimal *decimal)
{
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

/* value = mantissa * 2^exponent, as rule 1 asks, -118 <= exponent <= 0;
 * `close` where the lower neighbour is half as far away as the upper one. */
static void decimal_exact(uint64_t mantissa, int exponent, bool close,
                          struct decimal *decimal)
{
    uint64_t whole = exponent > -64 ? mantissa >> -exponent : 0;
    wide fraction =
        ((wide)mantissa << (POINT + exponent)) & (((wide)1 << POINT) - 1);
    wide half = (wide)1 << (POINT + exponent - 1);
    decimal->count = 0;
    decimal->exponent = 0;
    if (whole) {
        char *end = digits_of(whole, decimal->digits);
        decimal->count = decimal->exponent = (int)(end - decimal->digits);
    }
    fraction_digits(fraction, close ? half / 2 : half, half, decimal);
    trim_zeros(decimal);
}

/* "d.ddde-xx" as printf writes it, into digits and exponent. */
static void decimal_from_text(const char *text, struct decimal *decimal)
{
    decimal->count = 0;
    for (; *text != 'e'; text++)
        if (*text >= '0' && *text <= '9')
            decimal->digits[decimal->count++] = *text;
    decimal->exponent = atoi(text + 1) + 1;
    trim_zeros(decimal);
}

/* As "123e-45": without a point, which is the locale's. */
static bool reads_back(const struct decimal *decimal, double value, bool single)
{
    char room[64];
    snprintf(room, sizeof room, "%.*se%d", decimal->count, decimal->digits,
             decimal->exponent - decimal->count);
    return single ? strtof(room, NULL) == (float)value
                  : strtod(room, NULL) == value;
}

/* The next number of `count` digits. */
static void next_decimal(struct decimal *decimal, int count)
{
    char *last = &decimal->digits[count - 1];
    memset(decimal->digits + decimal->count, '0',
           (size_t)(count - decimal->count));
    for (; last > decimal->digits && *last == '9'; last--)
        *last = '0';
    assert(*last < '9'); /* no power of two begins with so many nines */
    ++*last;
    decimal->count = count;
    trim_zeros(decimal);
}

/* `close` as for decimal_exact(): where the nearest digits lie below the
 * value and too far, those above it may do. */
static void decimal_searched(double value, bool single, bool close,
                             struct decimal *decimal)
{
    char room[64];
    int most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    int count = value < (single ? (double)FLT_MIN : DBL_MIN) ? 1
                : single                                     ? FLT_DIG
                                                             : DBL_DIG;
    for (bool done = false; !done; count++) {
        snprintf(room, sizeof room, "%.*e", count - 1, value);
        decimal_from_text(room, decimal);
        done = count == most || reads_back(decimal, value, single);
        if (close && !done) {
            next_decimal(decimal, count);
            done = reads_back(decimal, value, single);
        }
    }
}

static char *fill(char *at, char c, int count)
{
    memset(at, c, (size_t)count);
    return at + count;
}

static char *copy(char *at, const char *bytes, int count)
{
    memcpy(at, bytes, (size_t)count);
    return at + count;
}

/* "1.5e-07" */
static char *layout_exponent(const struct decimal *decimal, char *at)
{
    *at++ = decimal->digits[0];
    if (decimal->count > 1) {
        *at++ = '.';
        at = copy(at, decimal->digits + 1, decimal->count - 1);
    }
    int exponent = decimal->exponent - 1;
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    exponent = abs(exponent);
    if (exponent < 10)
        *at++ = '0';
    return digits_of((uint64_t)exponent, at);
}

static char *layout(const struct decimal *decimal, char *at)
{
    int whole = decimal->exponent, count = decimal->count;
    if (whole < -3 || whole > 16)
        return layout_exponent(decimal, at);
    if (whole <= 0) {
        at = fill(copy(at, "0.", 2), '0', -whole);
        return copy(at, decimal->digits, count);
    }
    if (whole >= count) {
        at = fill(copy(at, decimal->digits, count), '0', whole - count);
        return copy(at, ".0", 2);
    }
    at = copy(at, decimal->digits, whole);
    *at++ = '.';
    return copy(at, decimal->digits + whole, count - whole);
}

/* Signs and names; true where digits remain to be written. */
static bool special(double value, char **at)
{
    if (isnan(value)) {
        *at = copy(*at, "nan", 3);
        return false;
    }
    if (signbit(value))
        *(*at)++ = '-';
    if (value == 0)
        *at = copy(*at, "0.0", 3);
    else if (isinf(value))
        *at = copy(*at, "inf", 3);
    return value != 0 && !isinf(value);
}

char *number_from_double(double value, char *at)
{
    if (!special(value, &at))
        return at;
    struct decimal decimal;
    uint64_t bits;
    value = fabs(value);
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & 0xfffffffffffffull;
    int exponent = (int)(bits >> 52) - 1075;
    if (exponent >= -118 && exponent <= 0)
        decimal_exact(mantissa | 1ull << 52, exponent, !mantissa, &decimal);
    else
        decimal_searched(value, false, !mantissa, &decimal);
    return layout(&decimal, at);
}

char *number_from_float(float value, char *at)
{
    if (!special((double)value, &at))
        return at;
    struct decimal decimal;
    uint32_t bits;
    value = fabsf(value);
    memcpy(&bits, &value, sizeof bits);
    uint32_t mantissa = bits & 0x7fffff;
    int exponent = (int)(bits >> 23) - 150;
    if (exponent >= -118 && exponent <= 0 && bits >> 23)
        decimal_exact(mantissa | 1u << 23, exponent, !mantissa, &decimal);
    else
        decimal_searched((double)value, true, !mantissa, &decimal);
    return layout(&decimal, at);
}
