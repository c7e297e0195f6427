/* SPDX-License-Identifier: MIT */
/*
 * Sums of floats that do not depend on the order of additions, and so not on
 * threads, batches or devices: written once for host and kernels.
 *
 * A sum is kept in three limbs, integers in units of 2^g, 2^(g - 32) and
 * 2^(g - 64), where g is on a grid of 32 and so high that every value so far
 * is below 2^(g + 31). A value is split into digits: it is rounded to the
 * first unit, what remains to the second, what then remains to the third, and
 * the last remainder is dropped. Where a value needs a higher g, the lowest
 * limbs are dropped as a whole: a value has the same digit in a unit whatever
 * g is, so that the limbs depend only on what was added. After Demmel and
 * Nguyen, "Fast reproducible floating-point summation" (2013).
 *
 * A digit is 2^31 units at most, so that SUM_DIGITS_MAX of them fit 64 bits
 * beside what sum_carry() leaves there. It moves the rest of a limb to a
 * carry, which counts 2^62 units of the same limb: the limb is both, an
 * integer of 93 bits, and the same whenever and how often that was done.
 * Nothing ever goes from one limb to another. So a limb that is dropped takes
 * with it just what was added to it, and neither order nor cuts of the rows
 * show. There is room for 2^62 digits: rows are counted in 63 bits.
 *
 * The error of a sum of n values is at most n * 2^-64 times the greatest of
 * their magnitudes, and one rounding to double. (Of additions one after the
 * other: n * 2^-53 times the sum of the magnitudes.)
 */
#ifndef VDBQ_CL_SUM_H
#define VDBQ_CL_SUM_H

#include "bits.h"

/* Values that were no numbers. */
#define SUM_INFINITE 1
#define SUM_MINUS_INFINITE 2
#define SUM_NAN 4

/* Digits that may be added to a limb before sum_carry(). */
#define SUM_DIGITS_MAX 0x7fffffffUL
#define SUM_CARRY_BITS 62
#define SUM_CARRY_MASK 0x3fffffffffffffffL

/* A sum. A zeroed one is that of nothing. */
struct sum {
    i64 limbs[3];   /* the highest first                         */
    i32 carries[3]; /* of the limbs, each 2^SUM_CARRY_BITS units */
    u16 top;        /* g = 32 * top - 1023                       */
    u16 special;    /* of SUM_INFINITE ...                       */
};
VDBQ_ASSERT_LAYOUT(sum, sizeof(struct sum) == 40);

/* 1.5 * 2^52 units: a value that is added to it is rounded to units, and the
 * lowest bits of the result are their number. */
#define SUM_ROUND_0 0x1.8p52
#define SUM_ROUND_1 0x1.8p20
#define SUM_ROUND_2 0x1.8p-12

/* What a value adds to a sum's `special`, by its bits. */
static inline u32 sum_special(u64 bits)
{
    if ((bits >> 52 & 0x7ff) != 0x7ff)
        return 0;
    return (bits << 12) != 0 ? SUM_NAN
           : (bits >> 63)    ? SUM_MINUS_INFINITE
                             : SUM_INFINITE;
}

/* The `top` that a number needs, by its bits. */
static inline u32 sum_top(u64 bits)
{
    return ((u32)(bits >> 52 & 0x7ff) + 1) / 32;
}

/* 2^-g: a value by it is in units of the first limb. */
static inline f64 sum_scale(u32 top)
{
    return f64_of_bits((u64)(2046 - 32 * top) << 52);
}

/* Takes a digit off what is left of a value; SUM_ROUND_... has its bits, by
 * which the result's are greater than the digit. */
static inline u64 sum_digit(f64 *left, f64 rounding)
{
    f64 rounded = *left + rounding;
    *left -= rounded - rounding;
    return bits_of_f64(rounded);
}

/* The digits of a number in units of the first limb. */
static inline void sum_digits(f64 left, u64 *digits)
{
    digits[0] = sum_digit(&left, SUM_ROUND_0) - bits_of_f64(SUM_ROUND_0);
    digits[1] = sum_digit(&left, SUM_ROUND_1) - bits_of_f64(SUM_ROUND_1);
    digits[2] = sum_digit(&left, SUM_ROUND_2) - bits_of_f64(SUM_ROUND_2);
}

/* Whether a limb may lack room for SUM_DIGITS_MAX digits. */
static inline u32 sum_is_full(const struct sum *sum)
{
    u32 full = 0;
    for (u32 k = 0; k < 3; k++)
        full |= (sum->limbs[k] ^ sum->limbs[k] >> 63) >> SUM_CARRY_BITS != 0;
    return full;
}

/* Moves a limb's upper bits to its carry. */
static inline void sum_carry(struct sum *sum)
{
    for (u32 k = 0; k < 3; k++) {
        sum->carries[k] += (i32)(sum->limbs[k] >> SUM_CARRY_BITS);
        sum->limbs[k] &= SUM_CARRY_MASK;
    }
}

/* Makes `top` as high as that. */
static inline void sum_raise(struct sum *sum, u32 top)
{
    u32 rise = top > sum->top ? top - sum->top : 0;
    if (rise == 0)
        return;
    for (u32 k = 3; k-- > 0;) {
        sum->limbs[k] = k >= rise ? sum->limbs[k - rise] : 0;
        sum->carries[k] = k >= rise ? sum->carries[k - rise] : 0;
    }
    sum->top = (u16)top;
}

/* Whether a value, by its bits, is a number that needs no higher `top`. */
static inline u32 sum_fits(u64 bits, u32 top)
{
    u64 exponent = bits >> 52 & 0x7ff;
    return exponent <= 30 + 32 * (u64)top && exponent != 0x7ff;
}

/* Adds a value; the caller carries, after SUM_DIGITS_MAX of them at most. */
static inline void sum_add(struct sum *sum, f64 value)
{
    u64 bits = bits_of_f64(value), digits[3];
    if (!sum_fits(bits, sum->top)) {
        sum->special |= (u16)sum_special(bits);
        if (sum_special(bits) != 0)
            return;
        sum_raise(sum, sum_top(bits));
    }
    sum_digits(value * sum_scale(sum->top), digits);
    for (u32 k = 0; k < 3; k++)
        sum->limbs[k] += (i64)digits[k];
}

/* ----------------------------------------------------------- the double -- */

/* A number of 192 bits, the lowest first: a sum in units of 2^(g - 64). */
#define SUM_WORDS 3

/* Adds to such a number. */
static inline void sum_add_words(u64 *to, const u64 *from)
{
    u64 carry = 0;
    for (u32 i = 0; i < SUM_WORDS; i++) {
        u64 word = from[i] + carry;
        carry = word < carry;
        to[i] += word;
        carry += to[i] < word;
    }
}

/* Makes it 0 less itself. */
static inline void sum_negate(u64 *words)
{
    const u64 one[SUM_WORDS] = { 1, 0, 0 };
    for (u32 i = 0; i < SUM_WORDS; i++)
        words[i] = ~words[i];
    sum_add_words(words, one);
}

/* Makes it its magnitude; whether it was negative. */
static inline u32 sum_magnitude(u64 *words)
{
    u32 negative = (u32)(words[SUM_WORDS - 1] >> 63);
    if (negative)
        sum_negate(words);
    return negative;
}

/* Adds a limb with its carry, in units of the third one. */
static inline void sum_add_limb(const struct sum *sum, u32 k, u64 *words)
{
    u64 more = (u64)(i64)sum->carries[k] << SUM_CARRY_BITS;
    u64 low = (u64)sum->limbs[k] + more;
    u64 high = (u64)(sum->limbs[k] >> 63) +
               (u64)((i64)sum->carries[k] >> (64 - SUM_CARRY_BITS)) +
               (low < more);
    u64 sign = (u64)((i64)high >> 63), limb[SUM_WORDS] = { low, high, sign };
    if (k == 1) {
        limb[2] = sign << 32 | high >> 32;
        limb[1] = high << 32 | low >> 32;
        limb[0] = low << 32;
    } else if (k == 0) {
        limb[2] = high;
        limb[1] = low;
        limb[0] = 0;
    }
    sum_add_words(words, limb);
}

/* Bits up to the highest one that is set. */
static inline u32 sum_length(u64 word)
{
    u32 high = (u32)(word >> 32);
    return high != 0 ? 32 + bits_length(high) : bits_length((u32)word);
}

/* The nearest number of 53 bits to a magnitude, an even one where there are two: what
 * is returned, times 2^*shift. */
static inline u64 sum_nearest(const u64 *words, u32 *shift)
{
    u32 top = words[2] != 0 ? 2 : words[1] != 0, by, at;
    u32 length = 64 * top + sum_length(words[top]);
    u64 kept, next, below;
    *shift = length > 53 ? length - 53 : 0;
    if (*shift == 0)
        return words[0];
    at = *shift / 64;
    by = *shift % 64;
    kept = words[at] >> by;
    if (by > 0 && at + 1 < SUM_WORDS)
        kept |= words[at + 1] << (64 - by);
    at = (*shift - 1) / 64;
    by = (*shift - 1) % 64;
    next = words[at] >> by & 1;
    below = words[at] & (((u64)1 << by) - 1);
    for (u32 i = 0; i < at; i++)
        below |= words[i];
    return kept + (next & ((below != 0) | (kept & 1)));
}

/* A number of 53 bits times 2^exponent, rounded where a double has fewer bits. */
static inline f64 sum_scaled(u64 kept, i32 exponent, u32 negative)
{
    i32 part = exponent / 2;
    f64 value = (f64)kept * f64_of_bits((u64)(1023 + part) << 52);
    value *= f64_of_bits((u64)(1023 + exponent - part) << 52);
    return negative && kept > 0 ? -value : value;
}

/* All of a sum that is a number; the exponent of its units. */
static inline i32 sum_words(const struct sum *sum, u64 *words)
{
    words[0] = words[1] = words[2] = 0;
    for (u32 k = 0; k < 3; k++)
        sum_add_limb(sum, k, words);
    return 32 * (i32)sum->top - 1023 - 64;
}

/* The nearest double; infinite where it is too great for one or infinities
 * were added, NaN where these were of both signs or a NaN was. */
static inline f64 sum_value(const struct sum *sum)
{
    u64 words[SUM_WORDS], kept;
    u32 shift, negative;
    i32 unit = sum_words(sum, words);
    if (sum->special != 0)
        return f64_of_bits(sum->special == SUM_INFINITE ? (u64)0x7ff << 52
                           : sum->special == SUM_MINUS_INFINITE
                               ? (u64)0xfff << 52
                               : (u64)0x7ff8 << 48);
    negative = sum_magnitude(words);
    kept = sum_nearest(words, &shift);
    return sum_scaled(kept, unit + (i32)shift, negative);
}

/* What that leaves of the sum, as the nearest double; 0 where it is no number.
 * Together they are the sum to 2^-106 of it: of one that has more than 127 bits the
 * lowest 32 are left out. */
static inline f64 sum_rest(const struct sum *sum)
{
    u64 words[SUM_WORDS], nearest[SUM_WORDS] = { 0, 0, 0 }, kept;
    u32 shift, negative;
    i32 unit = sum_words(sum, words);
    if (sum->special != 0)
        return 0;
    if (words[2] != (u64)((i64)words[1] >> 63) ||
        (words[1] ^ words[1] << 1) >> 63) {
        words[0] = words[0] >> 32 | words[1] << 32;
        words[1] = words[1] >> 32 | words[2] << 32;
        words[2] = (u64)((i64)words[2] >> 32);
        unit += 32;
    }
    negative = sum_magnitude(words);
    kept = sum_nearest(words, &shift);
    nearest[shift / 64] = kept << shift % 64;
    if (shift % 64 > 0 && shift / 64 + 1 < SUM_WORDS)
        nearest[shift / 64 + 1] = kept >> (64 - shift % 64);
    sum_negate(nearest);
    sum_add_words(words, nearest);
    negative ^= sum_magnitude(words);
    kept = sum_nearest(words, &shift);
    return sum_scaled(kept, unit + (i32)shift, negative);
}

#endif
