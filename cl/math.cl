/* SPDX-License-Identifier: MIT */
/*
 * Functions whose last bits neither C nor OpenCL C fixes, written once so
 * that they are the same bits everywhere: additions, multiplications and
 * divisions of doubles, each rounded by itself, and integers. The methods are
 * those of fdlibm (Sun, 1993) and of Dekker's arithmetic with pairs of
 * doubles; results are within 1 unit in the last place of the exact value,
 * within 2 for asin, acos and atan2.
 */
#include "bits.h"
#include "machine.h"

/* On a GPU they stay functions of their own, which takes a quarter from the time
 * that its compiler needs for the interpreted machine and nothing from the
 * machine's speed (H100: 34 and 25 s, seven at once). */
#if defined(__OPENCL_C_VERSION__) && VDBQ_GROUP > 1
#define MATH_FUNCTION static __attribute__((noinline))
#else
#define MATH_FUNCTION static
#endif

/* A function without a branch: a CPU's compiler makes vectors of a loop over rows
 * that has it inside. Both ways of a choice are computed, which is right for any
 * number. Oclgrind, which runs SPIR, does not know what inlining says of memory. */
#if defined(__SPIR__) || defined(__SPIR64__) \
    || (defined(__OPENCL_C_VERSION__) && VDBQ_GROUP > 1)
#define MATH_STRAIGHT MATH_FUNCTION
#define MATH_PART static
#else
#define MATH_STRAIGHT static inline __attribute__((always_inline))
#define MATH_PART MATH_STRAIGHT
#endif

#define MATH_INFINITY f64_of_bits(0x7ff0000000000000UL)
#define MATH_NO_NUMBER f64_of_bits(0x7ff8000000000000UL)
#define MATH_SIGN 0x8000000000000000UL
#define MATH_FRACTION 0x000fffffffffffffUL
#define MATH_ONE 0x3ff0000000000000UL

/* 2 to the power of n, from -1022 to 1023. */
MATH_PART f64 power_of_two(i32 n)
{
    return f64_of_bits((u64)(n + 1023) << 52);
}

/* x with the sign of y. */
static f64 with_sign(f64 x, f64 y)
{
    u64 bits = bits_of_f64(x) & ~MATH_SIGN;
    return f64_of_bits(bits | (bits_of_f64(y) & MATH_SIGN));
}

/* --------------------------------------------------------------- pairs -- */

/* The exact sum of two doubles, the second less than half of the first one's
 * last place. */
struct pair {
    f64 hi, lo;
};

MATH_PART struct pair pair_of(f64 hi, f64 lo)
{
    struct pair pair;
    pair.hi = hi;
    pair.lo = lo;
    return pair;
}

/* The exact sum of two doubles; |x| is not less than |y|. */
MATH_PART struct pair sum_ordered(f64 x, f64 y)
{
    f64 sum = x + y;
    return pair_of(sum, y - (sum - x));
}

/* ... of any two. */
MATH_PART struct pair sum_exact(f64 x, f64 y)
{
    f64 sum = x + y, part = sum - x;
    return pair_of(sum, (x - (sum - part)) + (y - part));
}

/* The exact product of two doubles below 2^970. */
MATH_PART struct pair product_exact(f64 x, f64 y)
{
    f64 cut_x = x * 134217729.0, cut_y = y * 134217729.0;
    f64 x1 = cut_x - (cut_x - x), y1 = cut_y - (cut_y - y);
    f64 x2 = x - x1, y2 = y - y1, product = x * y;
    return pair_of(product,
                   ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2);
}

MATH_PART struct pair pair_sum(struct pair x, struct pair y)
{
    struct pair sum = sum_exact(x.hi, y.hi);
    return sum_ordered(sum.hi, sum.lo + (x.lo + y.lo));
}

MATH_PART struct pair pair_product(struct pair x, struct pair y)
{
    struct pair product = product_exact(x.hi, y.hi);
    return sum_ordered(product.hi, product.lo + (x.hi * y.lo + x.lo * y.hi));
}

MATH_PART struct pair pair_quotient(struct pair x, struct pair y)
{
    f64 hi = x.hi / y.hi;
    struct pair back = product_exact(hi, y.hi);
    f64 rest = ((x.hi - back.hi) - back.lo) + (x.lo - hi * y.lo);
    return sum_ordered(hi, rest / y.hi);
}

/* ---------------------------------------------------------- logarithms -- */

/* The natural logarithm of x, to some 64 bits; of what is no positive number it
 * is any. With
 * x = 2^k * m, m about 1, and s = (m - 1) / (m + 1):
 * ln x = k ln 2 + 2s (1 + s^2/3 + s^4/5 + ...). */
MATH_PART struct pair logarithm(f64 x)
{
    i32 tiny = x < 2.2250738585072014e-308;
    u64 bits = bits_of_f64(x * (tiny ? 18014398509481984.0 : 1.0)); /* 2^54 */
    f64 m = f64_of_bits((bits & MATH_FRACTION) | MATH_ONE);
    i32 large = m > 1.4142135623730951;
    f64 k = (f64)(i32)(bits >> 52) - (tiny ? 1077.0 : 1023.0) +
            (large ? 1.0 : 0);
    m *= large ? 0.5 : 1.0;
    struct pair s = pair_quotient(pair_of(m - 1.0, 0), sum_exact(m, 1.0));
    struct pair t = pair_product(s, s);
    f64 z = t.hi;
    f64 tail = z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 +
               z * (1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17 + z * (1.0 / 19 +
               z * (1.0 / 21 + z * (1.0 / 23 + z * (1.0 / 25)))))))))));
    struct pair third = pair_of(0.3333333333333333, 1.850371707708594e-17);
    struct pair series = pair_product(
        t, pair_sum(third, pair_of(tail, 0)));
    struct pair part = pair_product(pair_of(2 * s.hi, 2 * s.lo),
                                    pair_sum(pair_of(1.0, 0), series));
    /* The high part of ln 2 has 32 bits, so that its multiple is exact. */
    struct pair whole = sum_ordered(k * 0.6931471803691238,
                                    k * 1.9082149292705877e-10);
    struct pair sum = pair_sum(whole, part);
    return pair_of(k == 0 ? part.hi : sum.hi, k == 0 ? part.lo : sum.lo);
}

/* The logarithm of x to the base whose natural logarithm is 1 / factor; that
 * of 0 is no number, as in SQLite. */
MATH_PART f64 logarithm_to(f64 x, struct pair factor)
{
    struct pair result = pair_product(logarithm(x), factor);
    f64 finite = result.hi + result.lo;
    return !(x > 0) ? MATH_NO_NUMBER : x == MATH_INFINITY ? x : finite;
}

MATH_STRAIGHT f64 math_ln(f64 x)
{
    return logarithm_to(x, pair_of(1.0, 0));
}

MATH_STRAIGHT f64 math_log2(f64 x)
{
    return logarithm_to(x, pair_of(1.4426950408889634, 2.0355273740931033e-17));
}

MATH_STRAIGHT f64 math_log10(f64 x)
{
    return logarithm_to(x, pair_of(0.4342944819032518, 1.098319650216765e-17));
}

/* -------------------------------------------------------------- powers -- */

/* e to the power of a pair. With x = k ln 2 + r, |r| at most half of ln 2:
 * 2^k e^r, and e^r is 1 + r + r^2/2 + ... */
MATH_PART f64 exponential(struct pair x)
{
    i32 above = x.hi > 709.8, below = !(x.hi > -745.2);
    f64 power = above || below ? 0 : x.hi;
    i32 k = (i32)floor(power * 1.4426950408889634 + 0.5);
    f64 hi = power - k * 0.6931471803691238;
    f64 lo = k * 1.9082149292705877e-10 - x.lo;
    f64 r = hi - lo, t = r * r;
    f64 series = r * t * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r *
                 (1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320 + r *
                 (1.0 / 362880 + r * (1.0 / 3628800 + r * (1.0 / 39916800 +
                 r * (1.0 / 479001600 + r * (1.0 / 6227020800)))))))))));
    struct pair sum = sum_ordered(1.0, r);
    f64 rest = (hi - r) - lo;
    f64 y = sum.hi + (sum.lo + (rest + rest * r + (0.5 * t + series)));
    i32 first = k / 2;
    y = y * power_of_two(first) * power_of_two(k - first);
    return above ? MATH_INFINITY : below ? 0 : y;
}

MATH_STRAIGHT f64 math_exp(f64 x)
{
    return x != x ? x : exponential(pair_of(x, 0));
}

/* Of a positive finite number to a finite power; of others it is any number. */
MATH_PART f64 power_of(f64 x, f64 y)
{
    const f64 most = 1e25; /* what is more gives 0 or infinity, too */
    f64 power = y > most ? most : y < -most ? -most : y;
    return exponential(pair_product(logarithm(x), pair_of(power, 0)));
}

/* C's pow(): what it is of most numbers, and then what it is of others. */
MATH_STRAIGHT f64 math_power(f64 x, f64 y)
{
    f64 size = fabs(x), pairs = 0.5 * y;
    i32 is_whole = floor(y) == y, is_odd = floor(pairs) != pairs;
    f64 end = (size > 1) == (y > 0) ? MATH_INFINITY : 0;
    f64 result = power_of(size, y);
    result = size == 0 ? end : size == MATH_INFINITY ? end : result;
    result = fabs(y) == MATH_INFINITY ? end : result;
    result = size == 1 ? 1.0 : result;
    f64 negative = is_odd ? -result : result;
    negative = is_whole ? negative : size == 0 ? result :
               size == MATH_INFINITY ? result : MATH_NO_NUMBER;
    result = bits_of_f64(x) & MATH_SIGN ? negative : result;
    result = x != x ? MATH_NO_NUMBER : y != y ? MATH_NO_NUMBER : result;
    return y == 0 ? 1.0 : x == 1 ? 1.0 : result;
}

/* -------------------------------------------------------------- angles -- */

/* The bits of 2/pi, behind 64 zeros. */
CONSTANT u64 two_over_pi[20] = {
    0x0000000000000000UL, 0xa2f9836e4e441529UL, 0xfc2757d1f534ddc0UL,
    0xdb6295993c439041UL, 0xfe5163abdebbc561UL, 0xb7246e3a424dd2e0UL,
    0x06492eea09d1921cUL, 0xfe1deb1cb129a73eUL, 0xe88235f52ebb4484UL,
    0xe99c7026b45f7e41UL, 0x3991d639835339f4UL, 0x9c845f8bbdf9283bUL,
    0x1ff897ffde05980fUL, 0xef2f118b5a0a6d1fUL, 0x6d367ecf27cb09b7UL,
    0x4f463f669e5fea2dUL, 0x7527bac7ebe5f17bUL, 0x3d0739f78a5292eaUL,
    0x6bfb5fb11f8d5d08UL, 0x56033046fc7b6babUL
};

/* The high half of the product of two words. */
static u64 high_product(u64 x, u64 y)
{
    u64 x1 = x >> 32, x2 = x & 0xffffffffUL;
    u64 y1 = y >> 32, y2 = y & 0xffffffffUL;
    u64 middle = x1 * y2 + (x2 * y2 >> 32);
    return x1 * y1 + (middle >> 32) +
           ((x2 * y1 + (middle & 0xffffffffUL)) >> 32);
}

static i32 leading_zeros(u64 x)
{
    i32 zeros = 0;
    for (i32 step = 32; step > 0; step /= 2)
        if (x >> (64 - step) == 0) {
            x <<= step;
            zeros += step;
        }
    return zeros;
}

/* An angle as a quarter turn and what is left, at most an eighth of a turn
 * either way. */
struct angle {
    i32 quarter; /* 0 to 3 */
    struct pair rest;
};

/* The fraction f of a quarter turn, in 128 bits, as an angle; sum of two
 * doubles without an error that counts. */
static struct pair quarter_part(u64 f0, u64 f1)
{
    i32 zeros = 0;
    if (f0 == 0) {
        f0 = f1;
        f1 = 0;
        zeros = 64;
    }
    i32 shift = leading_zeros(f0);
    if (f0 == 0)
        return pair_of(0, 0);
    if (shift > 0)
        f0 = f0 << shift | f1 >> (64 - shift);
    u64 product = high_product(f0, 0xc90fdaa22168c234UL); /* pi/2 * 2^63 */
    f64 scale = power_of_two(-63 - zeros - shift);
    return sum_ordered((f64)(product & ~(u64)0x7ff) * scale,
                       (f64)(product & 0x7ff) * scale);
}

/* Payne and Hanek: of x times 2/pi only those bits of 2/pi count that do not
 * make whole turns; x, which is more than pi/4, has 53 bits, so three words
 * of them leave 137 bits of the fraction. */
static struct angle angle_reduced(f64 x)
{
    u64 bits = bits_of_f64(x);
    u64 whole_part = (bits & MATH_FRACTION) | (MATH_FRACTION + 1);
    i32 at = (i32)(bits >> 52 & 0x7ff) - 1075 - 2 + 64;
    u64 w[3], p[3];
    struct angle angle;
    for (i32 i = 0; i < 3; i++) {
        u64 first = two_over_pi[at / 64 + i], next = two_over_pi[at / 64 + i + 1];
        w[i] = at % 64 == 0 ? first
                            : first << at % 64 | next >> (64 - at % 64);
    }
    p[2] = whole_part * w[2];
    u64 low = whole_part * w[1];
    p[1] = low + high_product(whole_part, w[2]);
    p[0] = whole_part * w[0] + high_product(whole_part, w[1]) + (p[1] < low);
    u64 f0 = p[0] << 2 | p[1] >> 62, f1 = p[1] << 2 | p[2] >> 62;
    i32 past = (f0 >> 63) != 0; /* nearer to the next quarter */
    if (past) {
        f0 = ~f0 + (f1 == 0);
        f1 = (u64)0 - f1;
    }
    angle.quarter = ((i32)(p[0] >> 62) + past) % 4;
    angle.rest = quarter_part(f0, f1);
    if (past)
        angle.rest = pair_of(-angle.rest.hi, -angle.rest.lo);
    return angle;
}

/* Of an angle that angle_of() left. */
static struct pair sine_pair(struct pair r)
{
    f64 x = r.hi, y = r.lo, z = x * x, v = z * x;
    f64 s = 8.33333333332248946124e-03 + z *
            (-1.98412698298579493134e-04 + z *
             (2.75573137070700676789e-06 + z *
              (-2.50507602534068634195e-08 + z *
               1.58969099521155010221e-10)));
    return sum_ordered(x, -((z * (0.5 * y - v * s) - y) +
                            v * 1.66666666666666324348e-01));
}

static f64 sine_of(struct pair r)
{
    return sine_pair(r).hi;
}

static struct pair cosine_pair(struct pair r)
{
    f64 x = r.hi, z = x * x, fall = 0.5 * z, w = 1.0 - fall;
    f64 c = 4.16666666666666019037e-02 + z *
            (-1.38888888888741095749e-03 + z *
             (2.48015872894767294178e-05 + z *
              (-2.75573143513906633035e-07 + z *
               (2.08757232129817482790e-09 + z *
                -1.13596475577881948265e-11))));
    return sum_ordered(w, ((1.0 - w) - fall) + (z * (z * c) - x * r.lo));
}

static f64 cosine_of(struct pair r)
{
    return cosine_pair(r).hi;
}

/* The angle of a number's size; it is finite. */
static struct angle angle_of(f64 x)
{
    struct angle angle;
    f64 size = fabs(x);
    angle.quarter = 0;
    angle.rest = pair_of(size, 0);
    return size <= 0.7853981633974483 ? angle : angle_reduced(size);
}

MATH_FUNCTION f64 math_sin(f64 x)
{
    if (x - x != 0)
        return MATH_NO_NUMBER;
    if (fabs(x) < 7.450580596923828e-09)
        return x;
    struct angle angle = angle_of(x);
    f64 sine = angle.quarter % 2 ? cosine_of(angle.rest) : sine_of(angle.rest);
    return (angle.quarter >= 2) != (x < 0) ? -sine : sine;
}

MATH_FUNCTION f64 math_cos(f64 x)
{
    if (x - x != 0)
        return MATH_NO_NUMBER;
    struct angle angle = angle_of(x);
    f64 cosine =
        angle.quarter % 2 ? sine_of(angle.rest) : cosine_of(angle.rest);
    return angle.quarter == 1 || angle.quarter == 2 ? -cosine : cosine;
}

MATH_FUNCTION f64 math_tan(f64 x)
{
    if (x - x != 0)
        return MATH_NO_NUMBER;
    if (fabs(x) < 7.450580596923828e-09)
        return x;
    struct angle angle = angle_of(x);
    struct pair sine = sine_pair(angle.rest);
    struct pair cosine = cosine_pair(angle.rest);
    f64 tangent = angle.quarter % 2 ? -pair_quotient(cosine, sine).hi
                                    : pair_quotient(sine, cosine).hi;
    return x < 0 ? -tangent : tangent;
}

/* The angle whose tangent is t = x less than 7/16, by a polynomial. */
static f64 small_angle(f64 x)
{
    f64 z = x * x;
    return x * z * (3.33333333333329318027e-01 + z *
                    (-1.99999999998764832476e-01 + z *
                     (1.42857142725034663711e-01 + z *
                      (-1.11111104054623557880e-01 + z *
                       (9.09088713343650656196e-02 + z *
                        (-7.69187620504482999495e-02 + z *
                         (6.66107313738753120669e-02 + z *
                          (-5.83357013379057348645e-02 + z *
                           (4.97687799461593236017e-02 + z *
                            (-3.65315727442169155270e-02 + z *
                             1.62858201153657823623e-02))))))))));
}

/* ... of a size: that of a known angle nearby, and of the difference. */
static f64 angle_with_tangent(f64 t)
{
    struct pair known = pair_of(1.5707963267948966, 6.123233995736766e-17);
    f64 x = -1.0 / t;
    if (t < 0.4375)
        return t - small_angle(t);
    if (t < 0.6875) {
        known = pair_of(0.4636476090008061, 2.2698777452961687e-17);
        x = (2.0 * t - 1.0) / (2.0 + t);
    } else if (t < 1.1875) {
        known = pair_of(0.7853981633974483, 3.061616997868383e-17);
        x = (t - 1.0) / (t + 1.0);
    } else if (t < 2.4375) {
        known = pair_of(0.982793723247329, 1.3903311031230998e-17);
        x = (t - 1.5) / (1.0 + 1.5 * t);
    }
    return known.hi - ((small_angle(x) - known.lo) - x);
}

MATH_FUNCTION f64 math_atan(f64 x)
{
    return x != x ? x : with_sign(angle_with_tangent(fabs(x)), x);
}

/* The angle from the x axis to the point (x, y): C's atan2(). */
MATH_FUNCTION f64 math_atan2(f64 y, f64 x)
{
    const f64 pi = 3.141592653589793, pi_low = 1.2246467991473532e-16;
    f64 angle;
    i32 left = bits_of_f64(x) >> 63 != 0;
    if (x != x || y != y)
        return MATH_NO_NUMBER;
    if (y == 0)
        angle = left ? pi : 0;
    else if (fabs(x) == MATH_INFINITY && fabs(y) == MATH_INFINITY)
        angle = left ? 0.75 * pi : 0.25 * pi;
    else if (left)
        angle = pi - (angle_with_tangent(fabs(y / x)) - pi_low);
    else
        angle = angle_with_tangent(fabs(y / x));
    return with_sign(angle, y);
}

MATH_FUNCTION f64 math_asin(f64 x)
{
    return fabs(x) <= 1 ? math_atan2(x, sqrt((1.0 - x) * (1.0 + x)))
                        : MATH_NO_NUMBER;
}

MATH_FUNCTION f64 math_acos(f64 x)
{
    return fabs(x) <= 1 ? 2.0 * math_atan2(sqrt(1.0 - x), sqrt(1.0 + x))
                        : MATH_NO_NUMBER;
}

/* ------------------------------------------------------------ rounding -- */

/* A whole power of ten that a double holds: n is from 0 to 22. */
static f64 power_of_ten(i32 n)
{
    f64 power = 1.0, base = 10.0;
    for (; n > 0; n /= 2) {
        power *= n % 2 ? base : 1.0;
        base *= base;
    }
    return power;
}

/* x rounded to decimal digits behind the point, a half away from 0; fewer
 * than none are none. What has no digit so far behind stays as it is. A
 * number just below a half that was likely written as one (0.0005 is less in
 * binary) counts as one: 3e-16 of it is what SQLite allows for that. */
MATH_FUNCTION f64 math_round(f64 x, i32 digits)
{
    const f64 most = 4503599627370496.0; /* from here on all are whole */
    f64 size = fabs(x);
    i32 places = digits < 0 ? 0 : digits > 22 ? 22 : digits;
    f64 power = power_of_ten(places);
    if (!(size < most) || size * power >= most)
        return x;
    struct pair scaled = product_exact(size, power);
    f64 down = floor(scaled.hi), part = (scaled.hi - down) + scaled.lo;
    i32 exponent = (i32)(bits_of_f64(size) >> 52) - 1023;
    if (places + exponent / 3 < 15)
        part += scaled.hi * 3e-16;
    if (part >= 0.5)
        down += 1.0;
    return x < 0 ? -(down / power) : down / power;
}

/* The upper half of a value's bits: 26 of 53. No number beyond 2^996. */
static inline f64 math_upper_half(f64 x)
{
    f64 wide = x * 134217729.0; /* 2^27 + 1 */
    return wide - (wide - x);
}

/* x * y without what it is rounded to: exact, after Dekker and Veltkamp,
 * where no part of it is too small for a normal number. No number where the
 * product or a part of it is none. */
static inline f64 math_product_rest(f64 x, f64 y)
{
    f64 product = x * y;
    f64 xh = math_upper_half(x), xl = x - xh;
    f64 yh = math_upper_half(y), yl = y - yh;
    return ((xh * yh - product) + xh * yl + xl * yh) + xl * yl;
}

/* What is left of x when y was taken away as often as it fits: exact. The
 * bits of the quotient come 11 at a time. */
MATH_FUNCTION f64 math_remainder(f64 x, f64 y)
{
    f64 size = fabs(x), by = fabs(y);
    if (x - x != 0 || y != y || y == 0)
        return MATH_NO_NUMBER;
    if (size < by)
        return x;
    i32 ex = (i32)(bits_of_f64(size) >> 52), ey = (i32)(bits_of_f64(by) >> 52);
    u64 mx = (bits_of_f64(size) & MATH_FRACTION) | (ex ? MATH_FRACTION + 1 : 0);
    u64 my = (bits_of_f64(by) & MATH_FRACTION) | (ey ? MATH_FRACTION + 1 : 0);
    i32 low = ey ? ey : 1;
    u64 rest = mx % my;
    for (i32 left = (ex ? ex : 1) - low; left > 0; left -= 11)
        rest = (rest << (left < 11 ? left : 11)) % my;
    /* rest * 2^(low - 1075), scaled in two exact steps */
    f64 result = low > 1022 ? (f64)rest * power_of_two(low - 1075)
                            : (f64)rest * power_of_two(low - 1022) *
                                  power_of_two(-53);
    return with_sign(result, x);
}
