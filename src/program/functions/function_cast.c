/* SPDX-License-Identifier: MIT */
/*
 * Casts between texts and numbers. A text is the number that it starts with,
 * behind blanks; 0 where it starts with none, as in SQLite.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "program/functions/function_inner.h"

#define TEXT(i)    (state->arguments[i].text)
#define INTEGER(i) (state->arguments[i].integer)

/* Of the ASCII digits. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number at the start of a text. */
struct number {
    const char *begin; /* of its sign, or its digits                   */
    const char *point; /* behind its whole digits                      */
    const char *end;   /* behind its exponent                          */
};

/* The first byte that is no digit. */
static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* Behind an exponent, or where it would have begun. */
static const char *pass_exponent(const char *at, const char *end)
{
    const char *digits = at + 1;
    if (at == end || (*at | 0x20) != 'e')
        return at;
    if (digits < end && (*digits == '-' || *digits == '+'))
        digits++;
    return digits < end && is_digit(*digits) ? pass_digits(digits, end) : at;
}

/* The longest number that the text begins with. */
static struct number number_at_start(struct vdbq_text text)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
        at++;
    struct number number = { .begin = at };
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *digits = at;
    number.point = at = pass_digits(at, end);
    if (at < end && *at == '.')
        at = pass_digits(at + 1, end);
    bool none = at == digits || (at == digits + 1 && *digits == '.');
    number.end = none ? number.begin : pass_exponent(at, end);
    return number;
}

/* ------------------------------------------------------------ integers -- */

/* The whole digits; too many of them give the nearest. */
int64_t text_integer(struct vdbq_text text)
{
    struct number number = number_at_start(text);
    bool negative = number.begin < number.end && *number.begin == '-';
    int64_t value = 0;
    if (number.begin == number.end)
        return 0;
    for (const char *at = number.begin; at < number.point; at++)
        if (is_digit(*at)
            && (__builtin_mul_overflow(value, 10, &value)
                || __builtin_sub_overflow(value, *at - '0', &value)))
            return negative ? INT64_MIN : INT64_MAX;
    if (!negative && value == INT64_MIN)
        return INT64_MAX;
    return negative ? value : -value;
}

/* The integer, or the failure that it does not fit. */
static enum vdbq_status to_range(struct function_call_state *state, int64_t low,
                                 int64_t high, const char *type)
{
    int64_t value = text_integer(TEXT(0));
    state->value->integer = value;
    if (value >= low && value <= high)
        return VDBQ_OK;
    return error_set(state->error, VDBQ_RANGE,
                     "a value is out of the range of %s", type);
}

FUNCTION_BODY(to_smallint)
{
    return to_range(state, INT16_MIN, INT16_MAX, "SMALLINT");
}

FUNCTION_BODY(to_integer)
{
    return to_range(state, INT32_MIN, INT32_MAX, "INTEGER");
}

FUNCTION_BODY(to_bigint)
{
    return to_range(state, INT64_MIN, INT64_MAX, "BIGINT");
}

FUNCTION_BODY(from_integer)
{
    int64_t number = INTEGER(0);
    uint64_t digits = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char room[1 + 24] = "-"; /* a sign, and what digits take at most */
    size_t sign = number < 0;
    return function_text_copy(
        state, room, sign + text_from_digits(digits, 1, '0', room + sign));
}

/* ----------------------------------------------------------- truth values -- */

FUNCTION_BODY(to_boolean)
{
    struct vdbq_text text = TEXT(0);
    int32_t value = 0;
    if (!boolean_from_text(text.bytes, text.length, &value))
        return error_set(state->error, VDBQ_TYPE, "\"%.*s\" is no BOOLEAN",
                         utf8_shown(text), text.bytes);
    state->value->integer = value;
    return VDBQ_OK;
}

FUNCTION_BODY(from_boolean)
{
    return INTEGER(0) ? function_text(state, "true", 4)
                      : function_text(state, "false", 5);
}

/* --------------------------------------------------------------- floats -- */

double text_real(struct vdbq_text text)
{
    struct number number = number_at_start(text);
    double value = 0;
    if (number.begin == number.end
        || !text_to_double(number.begin, (size_t)(number.end - number.begin),
                           &value))
        return 0;
    return value;
}

FUNCTION_BODY(to_double)
{
    state->value->real = text_real(TEXT(0));
    return VDBQ_OK;
}

FUNCTION_BODY(to_float)
{
    state->value->real = (double)(float)text_real(TEXT(0));
    return VDBQ_OK;
}

/* A whole number gets a digit behind the point, so that it stays a float. */
static enum vdbq_status real_text(struct function_call_state *state,
                                  char *digits, size_t length)
{
    if (memchr(digits, '.', length) == NULL
        && memchr(digits, 'n', length) == NULL) {
        char *exponent = memchr(digits, 'e', length);
        char *at = exponent ? exponent : digits + length;
        memmove(at + 2, at, (size_t)(digits + length - at));
        memcpy(at, ".0", 2);
        length += 2;
    }
    return function_text_copy(state, digits, length);
}

FUNCTION_BODY(from_double)
{
    char digits[64];
    return real_text(state, digits,
                     text_from_double(state->arguments[0].real, digits));
}

FUNCTION_BODY(from_float)
{
    char digits[64];
    float value = (float)state->arguments[0].real;
    return real_text(state, digits, text_from_float(value, digits));
}

/* ------------------------------------------------------------- decimals -- */

FUNCTION_BODY(to_decimal)
{
    struct vdbq_text text = TEXT(0);
    int64_t precision = INTEGER(1), scale = INTEGER(2);
    bool is_type = precision >= 1 && precision <= DECIMAL_DIGITS_MAX
                   && scale >= 0 && scale <= precision;
    if (!is_type
        || !decimal_from_text(text.bytes, text.length, (unsigned)precision,
                              (unsigned)scale, &state->value->integer))
        return error_set(state->error, VDBQ_RANGE,
                         "\"%.*s\" is no DECIMAL(%lld,%lld)", utf8_shown(text),
                         text.bytes, (long long)precision, (long long)scale);
    return VDBQ_OK;
}

FUNCTION_BODY(from_decimal)
{
    char room[TYPE_TEXT_MAX];
    int64_t scale = INTEGER(1);
    unsigned most = DECIMAL_DIGITS_MAX;
    size_t length = decimal_to_text(
        INTEGER(0), scale < 0 || scale > most ? most : (unsigned)scale, room);
    return function_text_copy(state, room, length);
}
