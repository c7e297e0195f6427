/* SPDX-License-Identifier: MIT */
/*
 * Functions of numbers that the host computes. Those of whole numbers tell what
 * divides them, and their bits: they are computed with the numbers' sizes, of
 * which the largest, 2^63, is none of a BIGINT.
 */
#include <assert.h>
#include <math.h>

#include "program/functions/function_inner.h"

/* A number without its sign. */
static uint64_t size_of(const struct function_value *value)
{
    uint64_t bits = (uint64_t)value->integer;
    return value->integer < 0 ? 0 - bits : bits;
}

/* Euclid's: what both have in common is what the rest has with the smaller. */
static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static enum vdbq_status out_of_range(struct function_call_state *state)
{
    return error_set(state->error, VDBQ_RANGE,
                     "a value is out of the range of BIGINT");
}

static enum vdbq_status give_size(struct function_call_state *state,
                                  uint64_t size)
{
    if (size > INT64_MAX)
        return out_of_range(state);
    state->value->integer = (int64_t)size;
    return VDBQ_OK;
}

FUNCTION_BODY(gcd)
{
    assert(state->count == 2);
    return give_size(state, common_divisor(size_of(&state->arguments[0]),
                                           size_of(&state->arguments[1])));
}

FUNCTION_BODY(lcm)
{
    assert(state->count == 2);
    uint64_t a = size_of(&state->arguments[0]);
    uint64_t b = size_of(&state->arguments[1]);
    if (a == 0 || b == 0)
        return give_size(state, 0);
    a /= common_divisor(a, b);
    return a > INT64_MAX / b ? out_of_range(state) : give_size(state, a * b);
}

FUNCTION_BODY(bit_count)
{
    assert(state->count == 1);
    uint64_t bits = (uint64_t)state->arguments[0].integer;
    state->value->integer = __builtin_popcountll(bits);
    return VDBQ_OK;
}

/* A step of Newton's behind what the library finds, which may miss the root of 27:
 * roots that are whole come out so. */
FUNCTION_BODY(cbrt)
{
    assert(state->count == 1);
    double x = state->arguments[0].real;
    double root = cbrt(x);

    if (isfinite(root) && root != 0)
        root -= (root - x / (root * root)) / 3;
    state->value->real = root;
    return VDBQ_OK;
}

/* --------------------------------------------------------- of one DOUBLE -- */

/* What is no number becomes NULL where the value is kept. */
#define OF_DOUBLE(name, made)                                                  \
    FUNCTION_BODY(name)                                                        \
    {                                                                          \
        assert(state->count == 1);                                             \
        double x = state->arguments[0].real;                                   \
        state->value->real = (made);                                           \
        state->value->null = isnan(state->value->real);                        \
        return VDBQ_OK;                                                        \
    }

OF_DOUBLE(sinh, sinh(x))
OF_DOUBLE(cosh, cosh(x))
OF_DOUBLE(tanh, tanh(x))
OF_DOUBLE(asinh, asinh(x))
OF_DOUBLE(acosh, acosh(x))
OF_DOUBLE(atanh, atanh(x))
OF_DOUBLE(cot, 1 / tan(x))

/* The next even number away from 0. */
static double next_even(double x)
{
    double whole = ceil(fabs(x));
    return copysign(fmod(whole, 2) > 0 ? whole + 1 : whole, x);
}

OF_DOUBLE(even, next_even(x))

FUNCTION_BODY(isinf)
{
    assert(state->count == 1);
    state->value->integer = isinf(state->arguments[0].real) != 0;
    return VDBQ_OK;
}

FUNCTION_BODY(isfinite)
{
    assert(state->count == 1);
    state->value->integer = isfinite(state->arguments[0].real) != 0;
    return VDBQ_OK;
}

/* -------------------------------------------------------------- integers -- */

FUNCTION_BODY(factorial)
{
    enum { MOST = 20 }; /* whose factorial a BIGINT holds */
    assert(state->count == 1);
    int64_t number = state->arguments[0].integer, product = 1;
    if (number < 0 || number > MOST)
        return out_of_range(state);
    for (int64_t i = 2; i <= number; i++)
        product *= i;
    state->value->integer = product;
    return VDBQ_OK;
}

/* The bits of an integer as digits of so many bits each, without zeros before them. */
static enum vdbq_status give_digits(struct function_call_state *state,
                                    unsigned bits)
{
    assert(state->count == 1 && bits > 0);
    uint64_t value = (uint64_t)state->arguments[0].integer, rest = value;
    size_t count = 1;
    while ((rest >>= bits) > 0)
        count++;
    char *to = function_room(state, count);
    if (to == NULL)
        return error_no_memory(state->error);
    for (size_t i = count; i > 0; i--, value >>= bits)
        to[i - 1] = "0123456789ABCDEF"[value & ((1u << bits) - 1)];
    return VDBQ_OK;
}

FUNCTION_BODY(bin)
{
    return give_digits(state, 1);
}

FUNCTION_BODY(to_hex)
{
    return give_digits(state, 4);
}
