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

void sum_merge(struct sum *sum, const struct sum *other)
{
    struct sum raised = *other;

    sum_raise(sum, raised.top);
    sum_raise(&raised, sum->top);
    sum_carry(sum);
    sum_carry(&raised);
    assert(sum->top == raised.top);
    for (unsigned k = 0; k < 3; k++) {
        sum->limbs[k] += raised.limbs[k];
        sum->carries[k] += raised.carries[k];
    }
    sum->special |= raised.special;
    sum_carry(sum);
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

/* The digits of all values, each limb's with the bits of what rounds it;
 * false: one is no number, or needs a higher `top`. */
PARALLEL_CLONES
static bool add_lanes(const double *values, size_t count, double scale,
                      uint64_t sums[3])
{
    uint64_t lanes[3][LANES] = { { 0 } }, beyond[LANES] = { 0 }, any = 0;

    for (size_t i = 0; i < count; i += LANES)
        for (unsigned lane = 0; lane < LANES; lane++) {
            double left = values[i + lane] * scale;
            beyond[lane] |= fabs(left) < 0x1p31 ? 0 : UINT64_MAX;
            lanes[0][lane] += sum_digit(&left, SUM_ROUND_0);
            lanes[1][lane] += sum_digit(&left, SUM_ROUND_1);
            lanes[2][lane] += sum_digit(&left, SUM_ROUND_2);
        }
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned k = 0; k < 3; k++)
            sums[k] += lanes[k][lane];
        any |= beyond[lane];
    }
    return any == 0;
}

/* Adds as many values as LANES go into, if all are numbers; how many. The
 * `top` is raised first where the block's greatest needs it. */
static size_t add_block(struct sum *sum, const double *values, size_t count)
{
    static const double rounding[3] = { SUM_ROUND_0, SUM_ROUND_1, SUM_ROUND_2 };
    size_t whole = count / LANES * LANES;
    uint64_t sums[3] = { 0 };

    if (!add_lanes(values, whole, sum_scale(sum->top), sums)) {
        double most = greatest(values, whole);
        if (isinf(most))
            return 0;
        sum_raise(sum, sum_top(bits_of_f64(most)));
        sums[0] = sums[1] = sums[2] = 0;
        if (!add_lanes(values, whole, sum_scale(sum->top), sums))
            return 0;
    }
    for (unsigned k = 0; k < 3; k++)
        sum->limbs[k] += (int64_t)(sums[k] - whole * bits_of_f64(rounding[k]));
    return whole;
}

void sum_add_all(struct sum *sum, const double *values, size_t count)
{
    assert(count <= SUM_DIGITS_MAX);
    for (size_t i = add_block(sum, values, count); i < count; i++)
        sum_add(sum, values[i]);
    sum_carry(sum);
}
