/* SPDX-License-Identifier: MIT */
/*
 * Numbers of texts and constants among those of another type: bound.h. The
 * functions that the planner compares numbers and texts with.
 */
#include "program/functions/bound.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "program/functions/function_inner.h"

/* The first double that is no 64-bit integer. */
static const double integers_end = 9223372036854775808.0;

/* What SQL counts as white space. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Not a word, like "inf", that numbers are printed as. */
static bool is_number_start(const char *at, const char *end)
{
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    return at < end && ((*at >= '0' && *at <= '9') || *at == '.');
}

bool number_of_text(struct vdbq_text text, struct any_number *number)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    while (at < end && is_blank(*at))
        at++;
    while (at < end && is_blank(end[-1]))
        end--;
    size_t length = (size_t)(end - at);
    number->is_real = !text_to_int64(at, length, &number->integer);
    return !number->is_real
           || (is_number_start(at, end)
               && text_to_double(at, length, &number->real));
}

/* -------------------------------------------------------------- bounds -- */

/* The integer next to the number, on the side that is asked for. */
static bool real_among_integers(double real, enum bound bound, int64_t *value)
{
    double whole = bound == BOUND_LEAST ? ceil(real) : floor(real);
    if (whole >= integers_end || (bound == BOUND_EXACT && whole != real))
        return false;
    if (whole < -integers_end) {
        *value = INT64_MIN;
        return bound != BOUND_EXACT;
    }
    *value = (int64_t)whole + (bound == BOUND_ABOVE);
    return true;
}

bool bound_integer(const struct any_number *number, enum bound bound,
                   int64_t *value)
{
    if (number->is_real)
        return real_among_integers(number->real, bound, value);
    *value = number->integer;
    if (bound == BOUND_ABOVE && number->integer == INT64_MAX)
        return false;
    *value += bound == BOUND_ABOVE;
    return true;
}

/* The double next to the number, on the side that is asked for. */
static bool real_among_doubles(double real, enum bound bound, double *value)
{
    *value = bound == BOUND_ABOVE ? nextafter(real, (double)INFINITY) : real;
    return bound != BOUND_ABOVE || real < (double)INFINITY;
}

bool bound_double(const struct any_number *number, enum bound bound,
                  double *value)
{
    if (number->is_real)
        return real_among_doubles(number->real, bound, value);
    double near = (double)number->integer;
    bool above = near >= integers_end || (int64_t)near > number->integer;
    if (!above && (int64_t)near == number->integer)
        return real_among_doubles(near, bound, value);
    *value = above ? near : nextafter(near, (double)INFINITY);
    return bound != BOUND_EXACT;
}

/* ----------------------------------------------------------- as a text -- */

size_t number_to_text(const struct any_number *number, char *room)
{
    int64_t integer;
    if (bound_integer(number, BOUND_EXACT, &integer))
        return (size_t)sprintf(room, "%lld", (long long)integer);
    if (isinf(number->real)) /* "inf" is no number as a text */
        return (size_t)sprintf(room, number->real < 0 ? "-1e999" : "1e999");
    return text_from_double(number->real, room);
}

/* ----------------------------------------------------------- functions -- */

#define TEXT(i) (state->arguments[i].text)

/* Which side the caller asks for. */
static enum bound wanted(const struct function_call_state *state)
{
    int64_t bound = state->arguments[1].integer;
    return bound == BOUND_LEAST   ? BOUND_LEAST
           : bound == BOUND_ABOVE ? BOUND_ABOVE
                                  : BOUND_EXACT;
}

FUNCTION_BODY(bound_bigint)
{
    struct any_number number;
    state->value->null =
        !number_of_text(TEXT(0), &number)
        || !bound_integer(&number, wanted(state), &state->value->integer);
    return VDBQ_OK;
}

FUNCTION_BODY(bound_double)
{
    struct any_number number;
    state->value->null =
        !number_of_text(TEXT(0), &number)
        || !bound_double(&number, wanted(state), &state->value->real);
    return VDBQ_OK;
}

/* One text for all texts that are the same number. */
static enum vdbq_status number_text(struct function_call_state *state,
                                    const struct any_number *number)
{
    char room[64];
    return function_text_copy(state, room, number_to_text(number, room));
}

FUNCTION_BODY(number_text)
{
    struct any_number number;
    if (!number_of_text(TEXT(0), &number))
        return function_text(state, TEXT(0).bytes, TEXT(0).length);
    return number_text(state, &number);
}

FUNCTION_BODY(number_text_of)
{
    struct any_number number = { .is_real = true,
                                 .real = state->arguments[0].real };
    return number_text(state, &number);
}
