/* SPDX-License-Identifier: MIT */
/*
 * TRY_CAST of texts. A text is read as a whole, blanks around it aside: NULL
 * where it is no value of the type. CAST (function_cast.c) takes the number
 * that a text starts with.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "program/functions/function_inner.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The text without blanks around it. */
static struct vdbq_text trimmed(struct vdbq_text text)
{
    while (text.length > 0 && is_blank(text.bytes[0]))
        text.bytes++, text.length--;
    while (text.length > 0 && is_blank(text.bytes[text.length - 1]))
        text.length--;
    return text;
}

/* Gives the value, or NULL where there is none. */
static enum vdbq_status give(struct function_call_state *state, bool known,
                             int64_t value)
{
    state->value->null = !known;
    state->value->integer = known ? value : 0;
    return VDBQ_OK;
}

/* ------------------------------------------------------------ integers -- */

/* A whole number; one with a point or an exponent is rounded, half away from
 * zero, as a DECIMAL of all digits is. */
static enum vdbq_status give_integer(struct function_call_state *state,
                                     enum vdbq_type type)
{
    struct vdbq_text text = trimmed(state->arguments[0].text);
    int64_t value = 0, least, greatest;
    bool known = text_to_int64(text.bytes, text.length, &value)
                 || decimal_from_text(text.bytes, text.length,
                                      DECIMAL_DIGITS_MAX, 0, &value);
    type_limits(type, &least, &greatest);
    return give(state, known && value >= least && value <= greatest, value);
}

FUNCTION_BODY(try_smallint)
{
    return give_integer(state, VDBQ_SMALLINT);
}

FUNCTION_BODY(try_integer)
{
    return give_integer(state, VDBQ_INTEGER);
}

FUNCTION_BODY(try_bigint)
{
    return give_integer(state, VDBQ_BIGINT);
}

FUNCTION_BODY(try_decimal)
{
    struct vdbq_text text = trimmed(state->arguments[0].text);
    int64_t precision = state->arguments[1].integer;
    int64_t scale = state->arguments[2].integer, value = 0;
    bool is_type = precision >= 1 && precision <= DECIMAL_DIGITS_MAX
                   && scale >= 0 && scale <= precision;
    bool known =
        is_type
        && decimal_from_text(text.bytes, text.length, (unsigned)precision,
                             (unsigned)scale, &value);
    return give(state, known, value);
}

/* -------------------------------------------------------------- floats -- */

/* NULL, too, where it is a NaN, which is none of our values. */
FUNCTION_BODY(try_double)
{
    struct vdbq_text text = trimmed(state->arguments[0].text);
    double value = 0;
    bool known = text.length > 0
                 && text_to_double(text.bytes, text.length, &value)
                 && !isnan(value);
    state->value->null = !known;
    state->value->real = known ? value : 0;
    return VDBQ_OK;
}

/* ------------------------------------------------------- other types -- */

FUNCTION_BODY(try_boolean)
{
    struct vdbq_text text = state->arguments[0].text;
    int32_t value = 0;
    bool known = boolean_from_text(text.bytes, text.length, &value);
    return give(state, known, value);
}

FUNCTION_BODY(try_date)
{
    struct vdbq_text text = trimmed(state->arguments[0].text);
    int32_t day = 0;
    bool known = date_from_text(text.bytes, text.length, &day);
    return give(state, known, day);
}

FUNCTION_BODY(try_timestamp)
{
    struct vdbq_text text = trimmed(state->arguments[0].text);
    int64_t time = 0;
    bool known = timestamp_from_text(text.bytes, text.length, &time);
    return give(state, known, time);
}
