/* SPDX-License-Identifier: MIT */
/*
 * Sums of floats: see sum.h. Many values are added in LANES at a time, as
 * one at a time would be: integers are added, whose order does not matter.
 */
#include "exec/rows/sum.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "base/threads/parallel.h"

enum { LANES = 8 };
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

void sum_raise(struct sum *sum, uint64_t bits)
{
    uint32_t exponent = (uint32_t)(bits >> 52 & 0x7ff);
    uint32_t top = (exponent + 1) / 32;

    if (exponent == 0x7ff) {
        if ((bits << 12) != 0)
            sum->special |= SUM_NAN;
        else
            sum->special |= bits >> 63 ? SUM_MINUS_INFINITE : SUM_INFINITE;
        return;
    }
    assert(top <= 0x7ff / 32 + 1);
    while (sum->top < top) {
        sum->limbs[2] = sum->limbs[1];
        sum->limbs[1] = sum->limbs[0];
        sum->limbs[0] = 0;
        sum->top = top - sum->top > 3 ? top - 3 : sum->top + 1;
    }
}

void sum_merge(struct sum *sum, const struct sum *other)
{
    struct sum raised = *other;
    uint32_t top = sum->top > other->top ? sum->top : other->top;

    sum_raise(sum, (uint64_t)(32 * top) << 52);
    sum_raise(&raised, (uint64_t)(32 * top) << 52);
    assert(sum->top == raised.top);
    for (unsigned i = 0; i < 3; i++)
        sum->limbs[i] += raised.limbs[i];
    sum->special |= other->special;
}

double sum_value(const struct sum *sum)
{
    i128 whole = (i128)((u128)(i128)sum->limbs[0] << 32) + sum->limbs[1];

    if (sum->special != 0) {
        if (sum->special == SUM_INFINITE)
            return (double)INFINITY;
        return sum->special == SUM_MINUS_INFINITE ? -(double)INFINITY
                                                  : (double)NAN;
    }
    whole = (i128)((u128)whole << 32) + sum->limbs[2];
    return ldexp((double)whole, 32 * (int)sum->top - 1023 - 64);
}

/* -------------------------------------------------------- many values -- */

/* The greatest magnitude; NaNs are left out. `count` is a multiple of
 * LANES. */
PARALLEL_CLONES
static double greatest(const double *values, size_t count)
{
    double most[LANES] = { 0 };

    for (size_t i = 0; i < count; i += LANES)
        for (unsigned lane = 0; lane < LANES; lane++) {
            double size = fabs(values[i + lane]);
            most[lane] = size > most[lane] ? size : most[lane];
        }
    for (unsigned lane = 1; lane < LANES; lane++)
        most[0] = most[lane] > most[0] ? most[lane] : most[0];
    return most[0];
}

/* The digits of all values, each limb's bits added up with those of what
 * rounds it; false: one is no number. */
PARALLEL_CLONES
static bool add_lanes(const double *values, size_t count, double scale,
                      uint64_t sums[3])
{
    uint64_t lanes[3][LANES] = { { 0 } };
    double nothing[LANES] = { 0 }, wrong = 0;

    for (size_t i = 0; i < count; i += LANES)
        for (unsigned lane = 0; lane < LANES; lane++) {
            double left = values[i + lane] * scale;
            double first = left + SUM_ROUND_0, second, third;
            left -= first - SUM_ROUND_0;
            second = left + SUM_ROUND_1;
            left -= second - SUM_ROUND_1;
            third = left + SUM_ROUND_2;
            lanes[0][lane] += bits_of_f64(first);
            lanes[1][lane] += bits_of_f64(second);
            lanes[2][lane] += bits_of_f64(third);
            nothing[lane] += third - third;
        }
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned k = 0; k < 3; k++)
            sums[k] += lanes[k][lane];
        wrong += nothing[lane];
    }
    return wrong == 0;
}

void sum_add_all(struct sum *sum, const double *values, size_t count)
{
    static const double rounding[3] = { SUM_ROUND_0, SUM_ROUND_1, SUM_ROUND_2 };
    size_t whole = count / LANES * LANES, done = 0;
    double most = greatest(values, whole);

    if (most <= 0x1.fffffffffffffp1023) {
        uint64_t sums[3] = { 0 };
        sum_raise(sum, bits_of_f64(most));
        if (add_lanes(values, whole, sum_scale(sum->top), sums)) {
            for (unsigned k = 0; k < 3; k++)
                sum->limbs[k] +=
                    (int64_t)(sums[k] - whole * bits_of_f64(rounding[k]));
            done = whole;
        }
    }
    for (; done < count; done++)
        sum_add(sum, values[done]);
}

enum vdbq_status sum_too_many(struct error *error)
{
    error_set(error, VDBQ_LIMIT, "a sum of more than %u rows", SUM_VALUES_MAX);
    return error_hint(error, "of integers, sum CAST(... AS BIGINT); of floats, "
                             "sum the sums of parts");
}
