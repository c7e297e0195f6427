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
