/* SPDX-License-Identifier: MIT */
/*
 * The meaning of every opcode, once, over a tile of rows: k is the program
 * counter, a to d are the operands. The rules are in cl/machine.h.
 */
#include "machine.h"
#include "divide.cl"
#include "math.cl"
#include "date.cl"

/* The operands that an opcode has no use for. */
#define NO_K UNUSED(k)
#define NO_B UNUSED(b)
#define NO_C UNUSED(c)
#define NO_D UNUSED(d)
#define NO_OPERANDS UNUSED(a), NO_B, NO_C, NO_D

#if VDBQ_GROUP == 1
#include "live.cl"
#endif
#include "column.cl"
#include "build_side.cl"

/* ----------------------------------------------------------- constants -- */

/* Filled before the first step, for the whole tile. */

OP(INTEGER_I32)
{
    NO_K; NO_C; NO_D;
    EVERY A(I32) = (i32)m->constants[b];
}
OP(INTEGER_I64)
{
    NO_K; NO_C; NO_D;
    EVERY A(I64) = m->constants[b];
}
OP(FLOAT_F32)
{
    NO_K; NO_C; NO_D;
    EVERY A(F32) = (f32)f64_of_bits((u64)m->constants[b]);
}
OP(FLOAT_F64)
{
    NO_K; NO_C; NO_D;
    EVERY A(F64) = f64_of_bits((u64)m->constants[b]);
}

OP(TEXT) { op_INTEGER_I32(m, k, a, b, c, d); }
OP(PARAMETER_I32) { op_INTEGER_I32(m, k, a, b, c, d); }
OP(PARAMETER_I64) { op_INTEGER_I64(m, k, a, b, c, d); }
OP(PARAMETER_F32) { op_FLOAT_F32(m, k, a, b, c, d); }
OP(PARAMETER_F64) { op_FLOAT_F64(m, k, a, b, c, d); }
OP(PARAMETER_WORD) { op_INTEGER_I32(m, k, a, b, c, d); }
OP(PARAMETER_NULL) { op_INTEGER_I32(m, k, a, b, c, d); }

/* --------------------------------------------------- functions of texts -- */

/* Where lookup table c is. */
static u64 lookup_at(const struct machine *m, i32 c)
{
    GLOBAL const struct launch_head *launch =
        (GLOBAL const struct launch_head *)m->control;
    return ((GLOBAL const u64 *)(m->control + launch->lookups))[c];
}

OP(LOOKUP_I32) { NO_D; look_up_flag(m, k, a, b, lookup_at(m, c)); }
OP(LOOKUP_I64) { NO_D; look_up_I64(m, k, a, b, lookup_at(m, c)); }
OP(LOOKUP_F64) { NO_D; look_up_F64(m, k, a, b, lookup_at(m, c)); }
OP(LOOKUP_WORD) { op_LOOKUP_I32(m, k, a, b, c, d); }
OP(LOOKUP_NULL) { op_LOOKUP_I32(m, k, a, b, c, d); }
OP(LOOKUP_FAILS) { op_LOOKUP_I32(m, k, a, b, c, d); }

/* ---------------------------------------------------------- arithmetic -- */

/* Integers wrap here; the planner uses these where it proved that they do
 * not, and the checked ones elsewhere. */
#define WRAPPING(T, U)                                                       \
    OP(ADD_##T) { NO_K; NO_D; EACH A(T) = (T)((U)B(T) + (U)C(T)); }          \
    OP(SUB_##T) { NO_K; NO_D; EACH A(T) = (T)((U)B(T) - (U)C(T)); }          \
    OP(MUL_##T) { NO_K; NO_D; EACH A(T) = (T)((U)B(T) * (U)C(T)); }

WRAPPING(I32, u32)
WRAPPING(I64, u64)

/* Quotients of integers, cut off. A CPU divides no vectors of integers, but those
 * of doubles, and a double is exact enough for 32 bits: a quotient that is not
 * whole is at least 2^-31 away from the next whole number. */
#if VDBQ_GROUP > 1
#define CUT_I32(x, y) ((x) / (y))
#else
#define CUT_I32(x, y) (i32)((f64)(x) / (f64)(y))
#endif
#define CUT_I64(x, y) ((x) / (y))

#define QUOTIENT(T, U)                                                       \
    static T divide_##T(T x, T y)                                            \
    {                                                                        \
        T safe = y == 0 || y == -1 ? 1 : y;                                  \
        T minus = (T)((U)0 - (U)x);                                          \
        return y == 0 ? 0 : y == -1 ? minus : CUT_##T(x, safe);              \
    }                                                                        \
    static T remainder_##T(T x, T y)                                         \
    {                                                                        \
        T safe = y == 0 || y == -1 ? 1 : y;                                  \
        return x - CUT_##T(x, safe) * safe;                                  \
    }

QUOTIENT(I32, u32)
QUOTIENT(I64, u64)

OP(DIV_I32) { NO_D; DEAR(A(I32) = divide_I32(B(I32), C(I32))); }
OP(MOD_I32) { NO_D; DEAR(A(I32) = remainder_I32(B(I32), C(I32))); }

#if VDBQ_GROUP > 1

OP(DIV_I64) { NO_D; DEAR(A(I64) = divide_I64(B(I64), C(I64))); }
OP(MOD_I64) { NO_D; DEAR(A(I64) = remainder_I64(B(I64), C(I64))); }

#else

/*
 * Integers near 0, up to 2^51, are vectors of doubles, too: added to 2^52 + 2^51
 * they are the low bits of the sum, which takes no conversion. A quotient of
 * theirs that is not whole is further from the next whole number, by at least a
 * 2^-51 of itself, than it is rounded (a 2^-53): cut off it is exact, as are the
 * product and the difference that make the rest.
 */
#define NEAR_BITS 51
#define NEAR_SHIFT 0x1.8p52
#define NEAR_SHIFT_BITS 0x4338000000000000L

static inline f64 near_real(i64 x)
{
    return f64_of_bits((u64)(x + NEAR_SHIFT_BITS)) - NEAR_SHIFT;
}

static inline i64 near_whole(f64 x)
{
    return (i64)bits_of_f64(x + NEAR_SHIFT) - NEAR_SHIFT_BITS;
}

/* Cut off; rounded first, since trunc() is no vector's everywhere. */
static inline f64 near_cut(f64 x)
{
    f64 rounded = x + NEAR_SHIFT - NEAR_SHIFT;
    f64 beyond = fabs(rounded) > fabs(x) ? 1 : 0;
    return rounded - (x < 0 ? -beyond : beyond);
}

/* Whether all numbers of two registers are near. */
static i32 near_rows(const struct machine *m, i32 b, i32 c)
{
    u64 far = 0;
    EACH far |= ((u64)B(I64) + (1UL << NEAR_BITS)) >> (NEAR_BITS + 1) |
                ((u64)C(I64) + (1UL << NEAR_BITS)) >> (NEAR_BITS + 1);
    return far == 0;
}

static inline i64 near_quotient(i64 x, i64 y)
{
    f64 quotient = near_cut(near_real(x) / near_real(y == 0 ? 1 : y));
    return y == 0 ? 0 : near_whole(quotient);
}

static inline i64 near_remainder(i64 x, i64 y)
{
    f64 from = near_real(x), by = near_real(y == 0 ? 1 : y);
    return near_whole(from - near_cut(from / by) * by);
}

/* Those of a tile by vectors where all are near; one by one where few are live. */
#define BY_DISTANCE(near, far)                                               \
    {                                                                        \
        NO_D;                                                                \
        if (few_live(m, k)) {                                                \
            EACH_LISTED(A(I64) = far(B(I64), C(I64));)                       \
        } else if (near_rows(m, b, c)) {                                     \
            EACH A(I64) = near(B(I64), C(I64));                              \
        } else {                                                             \
            EACH A(I64) = far(B(I64), C(I64));                               \
        }                                                                    \
    }
OP(DIV_I64) BY_DISTANCE(near_quotient, divide_I64)
OP(MOD_I64) BY_DISTANCE(near_remainder, remainder_I64)

#endif

#define FLOATING(T)                                                          \
    OP(ADD_##T) { NO_K; NO_D; EACH A(T) = B(T) + C(T); }                     \
    OP(SUB_##T) { NO_K; NO_D; EACH A(T) = B(T) - C(T); }                     \
    OP(MUL_##T) { NO_K; NO_D; EACH A(T) = B(T) * C(T); }                     \
    OP(DIV_##T)                                                              \
    {                                                                        \
        NO_K; NO_D;                                                          \
        EACH A(T) = C(T) == 0 ? 0                                            \
                              : quotient_##T(B(T), C(T) == 0 ? 1 : C(T));    \
    }                                                                        \
    OP(IS_NAN_##T) { NO_K; NO_C; NO_D; EACH A(I32) = B(T) != B(T); }

FLOATING(F32)
FLOATING(F64)

/* --------------------------------------------- arithmetic that may fail -- */

/* Notes that instruction k failed for a row, if it did for none before that. */
static void fault(struct machine *m, i32 k, u32 row)
{
    if (row < m->fault) {
        m->fault = row;
        m->fault_at = (u32)k;
    }
}

/* Where `failed` says that a row failed: finds the first one, by what failed
 * of row t. The rows of a refilled tile are in no order. */
#define FAULT_IF(failed, condition)                                          \
    if (failed) {                                                            \
        i32 first_ = VDBQ_TILE - 1;                                          \
        if (REFILLED)                                                        \
            EACH if (LIVE && (condition)) fault(m, k, NUMBER);               \
        EACH first_ = LIVE && (condition) && t < first_ ? t : first_;        \
        if (!REFILLED)                                                       \
            fault(m, k, NUMBER_OF(first_));                                  \
    }

static i32 sum_overflows(i64 x, i64 y)
{
    i64 sum = (i64)((u64)x + (u64)y);
    return ((x ^ sum) & (y ^ sum)) < 0;
}

static i32 difference_overflows(i64 x, i64 y)
{
    i64 less = (i64)((u64)x - (u64)y);
    return ((x ^ y) & (x ^ less)) < 0;
}

static i32 quotient_overflows(i64 x, i64 y)
{
    return (y == -1) & (x != 0) & ((u64)x == (u64)0 - (u64)x);
}

/* Whether a 64-bit product is more than its low half says. */
static i32 product_overflows(i64 x, i64 y)
{
#ifdef __OPENCL_C_VERSION__
    return mul_hi(x, y) != (i64)((u64)x * (u64)y) >> 63;
#else
    i64 product;
    return __builtin_mul_overflow(x, y, &product);
#endif
}

#define CHECKED(name, fails, of)                                             \
    OP(name##_CHECKED_I64)                                                   \
    {                                                                        \
        NO_D;                                                                \
        i32 failed = 0;                                                      \
        DEAR({                                                               \
            i64 x = B(I64);                                                  \
            i64 y = C(I64);                                                  \
            failed |= LIVE & fails(x, y);                                    \
            A(I64) = of;                                                     \
        })                                                                   \
        FAULT_IF(failed, fails(B(I64), C(I64)))                              \
    }

CHECKED(ADD, sum_overflows, (i64)((u64)x + (u64)y))
CHECKED(SUB, difference_overflows, (i64)((u64)x - (u64)y))
CHECKED(MUL, product_overflows, (i64)((u64)x * (u64)y))
CHECKED(DIV, quotient_overflows, divide_I64(x, y))

/* The least integer has no size. */
#define SIZE(T, U)                                                           \
    OP(ABS_##T)                                                              \
    {                                                                        \
        NO_C; NO_D;                                                          \
        i32 failed = 0;                                                      \
        EACH {                                                               \
            T x = B(T), size = x < 0 ? (T)((U)0 - (U)x) : x;                 \
            failed |= LIVE & (size < 0);                                     \
            A(T) = size;                                                     \
        }                                                                    \
        FAULT_IF(failed, A(T) < 0)                                           \
    }

SIZE(I32, u32)
SIZE(I64, u64)

OP(FAIL)
{
    NO_B; NO_C; NO_D;
    i32 failed = 0;
    EACH failed |= LIVE & (A(I32) != 0);
    FAULT_IF(failed, A(I32) != 0)
}

/* Of a year that is not negative. */
static inline i32 date_month_days(u32 year, i32 month)
{
    i32 leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0));
    return month == 2 ? 28 + leap : 30 + ((month + (month > 7)) & 1);
}

/* The same day of another month, or that month's last one before it; outside the
 * years 1 to 9999 any day that is outside. Numbers of 32 bits: vectors. From any
 * date MONTHS_MOST lead beyond these years, and year 0 and 10000 stand for all others. */
#define MONTHS_MOST 1000000000
#define MONTHS_PAST 1200000000 /* makes every month positive: whole years */

static inline i32 date_add_months(i32 days, i32 months)
{
    struct date date = date_of(days);
    i32 some = months < -MONTHS_MOST  ? -MONTHS_MOST
               : months > MONTHS_MOST ? MONTHS_MOST
                                      : months;
    u32 moved = (u32)((i32)date.year * 12 + date.month - 1 + some) + MONTHS_PAST;
    i32 past = (i32)(moved / 12) - MONTHS_PAST / 12;
    i32 month = (i32)(moved % 12) + 1;
    u32 year = past < 0 ? 0 : past > 10000 ? 10000 : (u32)past;
    i32 last = date_month_days(year, month);
    i32 day = date.day < last ? date.day : last;
    u32 from = year + 400 - (month <= 2);
    u32 march = (u32)(month > 2 ? month - 3 : month + 9);
    return (i32)(from * 365 + from / 4 - from / 100 + from / 400 +
                 (153 * march + 2) / 5) + day - 1 - DATE_PERIOD - DATE_EPOCH;
}

static i32 days_fit(i32 days)
{
    return days >= DATE_FIRST && days <= DATE_LAST;
}

OP(ADD_MONTHS_I32)
{
    NO_D;
    i32 failed = 0;
    DEAR({
        i32 days = date_add_months(B(I32), C(I32));
        i32 fits = days_fit(days);
        failed |= LIVE & !fits;
        A(I32) = fits ? days : 0;
    })
    FAULT_IF(failed, !days_fit(date_add_months(B(I32), C(I32))))
}

/* --------------------------------------------------------- mathematics -- */

#define FUNCTION(name, of)                                                   \
    OP(name##_F64) { NO_C; NO_D; DEAR(A(F64) = of(B(F64))); }

FUNCTION(FLOOR, floor)
FUNCTION(CEIL, ceil)
FUNCTION(TRUNC, trunc)
FUNCTION(SQRT, sqrt)
FUNCTION(EXP, math_exp)
FUNCTION(LN, math_ln)
FUNCTION(LOG2, math_log2)
FUNCTION(LOG10, math_log10)
FUNCTION(SIN, math_sin)
FUNCTION(COS, math_cos)
FUNCTION(TAN, math_tan)
FUNCTION(ASIN, math_asin)
FUNCTION(ACOS, math_acos)
FUNCTION(ATAN, math_atan)

OP(ABS_F32) { NO_K; NO_C; NO_D; EACH A(F32) = fabs(B(F32)); }
OP(ABS_F64) { NO_K; NO_C; NO_D; EACH A(F64) = fabs(B(F64)); }
OP(ROUND_F64) { NO_D; DEAR(A(F64) = math_round(B(F64), C(I32))); }
OP(MOD_F64) { NO_D; DEAR(A(F64) = math_remainder(B(F64), C(F64))); }
OP(MUL_REST_F64) { NO_K; NO_D; EACH A(F64) = math_product_rest(B(F64), C(F64)); }
OP(POWER_F64) { NO_D; DEAR(A(F64) = math_power(B(F64), C(F64))); }
OP(ATAN2_F64) { NO_D; DEAR(A(F64) = math_atan2(B(F64), C(F64))); }

/* Rounded down: one less than cut off, where signs differ and it is not
 * whole. */
OP(DIV_FLOOR_I64)
{
    NO_D;
    DEAR({
        I64 x = B(I64);
        I64 y = C(I64);
        I64 rest = remainder_I64(x, y);
        A(I64) = (I64)((u64)divide_I64(x, y) -
                       (u64)(y != 0 && rest != 0 && (rest < 0) != (y < 0)));
    })
}
OP(MOD_FLOOR_I64)
{
    NO_D;
    DEAR({
        I64 y = C(I64);
        I64 rest = y == 0 ? 0 : remainder_I64(B(I64), y);
        A(I64) = rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    })
}

/* ---------------------------------------------------------------- bits -- */

OP(BIT_AND_I64) { NO_K; NO_D; EACH A(I64) = B(I64) & C(I64); }
OP(BIT_OR_I64) { NO_K; NO_D; EACH A(I64) = B(I64) | C(I64); }
OP(BIT_XOR_I64) { NO_K; NO_D; EACH A(I64) = B(I64) ^ C(I64); }

/* Towards the high bits, below 0 the other way. A shift by 64 or more, which
 * no device defines, leaves what so many by one would. */
static inline i64 bits_shifted(i64 x, i64 places)
{
    i64 sign = x < 0 ? -1 : 0;
    return places >= 64    ? 0
           : places >= 0   ? (i64)((u64)x << (places & 63))
           : places > -64  ? x >> (-places & 63)
                           : sign;
}

/* Few enough that their sign can be turned. */
static inline i64 some_places(i64 places)
{
    return places > 64 ? 64 : places < -64 ? -64 : places;
}

OP(SHIFT_LEFT_I64)
{
    NO_D;
    DEAR(A(I64) = bits_shifted(B(I64), some_places(C(I64)));)
}
OP(SHIFT_RIGHT_I64)
{
    NO_D;
    DEAR(A(I64) = bits_shifted(B(I64), -some_places(C(I64)));)
}

/* Numbers that follow one another give bits that have nothing in common. */
OP(SHUFFLE_I64)
{
    NO_K; NO_D;
    EACH {
        u64 bits = hash_end(hash_mix(hash_mix((u64)C(I64), (u64)B(I64)), 0));
        A(I64) = (I64)bits;
    }
}

/* --------------------------------------------------------------- dates -- */

/* The parts that are asked for most are loops of their own: vectors. */
OP(DATE_PART_I32)
{
    NO_D;
    if (c == DATE_YEAR) {
        DEAR(A(I32) = (i32)date_of(B(I32)).year;)
    } else if (c == DATE_MONTH) {
        DEAR(A(I32) = date_of(B(I32)).month;)
    } else if (c == DATE_DAY) {
        DEAR(A(I32) = date_of(B(I32)).day;)
    } else {
        DEAR(A(I32) = date_part(B(I32), c);)
    }
}

/* --------------------------------------------------------------- casts -- */

/* What always fits, or is rounded to the nearest. */
#define WIDEN(TO, FROM)                                                      \
    OP(CAST_##TO##_##FROM)                                                   \
    {                                                                        \
        NO_K; NO_D; UNUSED(a);                                               \
        EACH C(TO) = (TO)B(FROM);                                            \
    }
/* What fails outside of (low, high); fractions are cut off. */
#define NARROW(TO, FROM, low, high)                                          \
    OP(CAST_##TO##_##FROM)                                                   \
    {                                                                        \
        NO_D; UNUSED(a);                                                     \
        i32 failed = 0;                                                      \
        EACH {                                                               \
            FROM x = B(FROM);                                                \
            i32 fits = x > (low) && x < (high);                              \
            failed |= LIVE & !fits;                                          \
            C(TO) = fits ? (TO)x : (TO)0;                                    \
        }                                                                    \
        FAULT_IF(failed, !(B(FROM) > (low) && B(FROM) < (high)))             \
    }

WIDEN(I64, I32)
WIDEN(F32, I32)
WIDEN(F32, I64)
WIDEN(F64, I32)
WIDEN(F64, I64)
WIDEN(F64, F32)
NARROW(I32, I64, -2147483649L, 2147483648L)
NARROW(I32, F32, -2147483904.0f, 2147483648.0f)
NARROW(I32, F64, -2147483649.0, 2147483648.0)
NARROW(I64, F32, -9223373136366403584.0f, 9223372036854775808.0f)
NARROW(I64, F64, -9223372036854777856.0, 9223372036854775808.0)

static i32 fits_f32(f64 x)
{
    const f64 limit = 3.4028235677973366e38; /* rounds to infinity */
    i32 infinite = x - x != 0; /* or not a number */
    return infinite || (x > -limit && x < limit);
}

OP(CAST_F32_F64)
{
    NO_D;
    UNUSED(a);
    i32 failed = 0;
    EACH {
        f64 x = B(F64);
        i32 fits = fits_f32(x);
        failed |= LIVE & !fits;
        C(F32) = fits ? (f32)x : 0;
    }
    FAULT_IF(failed, !fits_f32(B(F64)))
}

/* -------------------------------------------------------- truth values -- */

#define TRUTHS(T)                                                            \
    OP(IS_EQ_##T) { NO_K; NO_D; EACH A(I32) = B(T) == C(T); }                \
    OP(IS_LT_##T) { NO_K; NO_D; EACH A(I32) = B(T) < C(T); }                 \
    OP(IS_LE_##T) { NO_K; NO_D; EACH A(I32) = B(T) <= C(T); }                \
    OP(CHOOSE_##T) { NO_K; EACH A(T) = D(I32) ? B(T) : C(T); }

TRUTHS(I32)
TRUTHS(I64)
TRUTHS(F32)
TRUTHS(F64)

OP(BOTH_I32) { NO_K; NO_D; EACH A(I32) = (B(I32) != 0) & (C(I32) != 0); }
OP(EITHER_I32) { NO_K; NO_D; EACH A(I32) = (B(I32) != 0) | (C(I32) != 0); }
OP(NEGATE_I32) { NO_K; NO_C; NO_D; EACH A(I32) = B(I32) == 0; }

/* --------------------------------------------------------------- jumps -- */

/* A live row for which the condition holds goes on at c if d is 1, and else
 * nowhere. */
#if VDBQ_GROUP > 1
#define JUMP_IF(condition)                                                   \
    i32 *restrict pc = m->pc;                                                \
    i32 to = d ? c : NOWHERE;                                                \
    EACH pc[t] = ((pc[t] <= k) & (condition)) ? to : pc[t];
#else
#define JUMP_IF(condition)                                                   \
    i32 *restrict pc = m->pc;                                                \
    i32 to = d ? c : NOWHERE, stay = 0;                                      \
    live_rows(m, k);                                                         \
    if (m->listed)                                                           \
        EACH_LISTED(i32 at = pc[t];                                          \
                    i32 live = at <= k;                                      \
                    i32 goes = live & (condition);                           \
                    pc[t] = goes ? to : at;                                  \
                    m->kept[stay] = (u32)t;                                  \
                    stay += live & !goes;)                                   \
    else                                                                     \
        EACH {                                                               \
            i32 live = pc[t] <= k, goes = live & (condition);                \
            pc[t] = goes ? to : pc[t];                                       \
            stay += live & !goes;                                            \
        }                                                                    \
    m->live = stay;                                                          \
    m->wakes = to < m->wakes ? to : m->wakes;
#endif
#define COMPARE(T)                                                           \
    OP(EQ_##T) { JUMP_IF(A(T) == B(T)) }                                     \
    OP(NEQ_##T) { JUMP_IF(A(T) != B(T)) }                                    \
    OP(LT_##T) { JUMP_IF(A(T) < B(T)) }                                      \
    OP(LE_##T) { JUMP_IF(A(T) <= B(T)) }                                     \
    OP(GT_##T) { JUMP_IF(A(T) > B(T)) }                                      \
    OP(GE_##T) { JUMP_IF(A(T) >= B(T)) }

COMPARE(I32)
COMPARE(I64)
COMPARE(F32)
COMPARE(F64)

OP(AND_I32) { JUMP_IF((A(I32) != 0) & (B(I32) != 0)) }
OP(OR_I32) { JUMP_IF((A(I32) != 0) | (B(I32) != 0)) }
OP(NOT_I32) { NO_B; JUMP_IF(A(I32) == 0) }

OP(INVALID)
{
    NO_OPERANDS;
#if VDBQ_GROUP == 1
    if (live_rows(m, k) == 0)
        return;
    m->live = 0;
    m->listed = 0;
#endif
    EACH m->pc[t] = LIVE ? NOWHERE : m->pc[t];
}

OP(CONVERGE)
{
    NO_OPERANDS;
    UNUSED(m);
    NO_K;
}

/* --------------------------------------------------------------- bound -- */

#include "order.h"

/* The rows of a sort that asks for the first ones are behind its bound, once
 * it has so many: those that are as the last of them, too, if they come later. */
#define BEHIND(T, ORDER)                                                     \
    OP(BEHIND_##T)                                                           \
    {                                                                        \
        NO_B;                                                                \
        GLOBAL const struct launch_head *launch =                            \
            (GLOBAL const struct launch_head *)m->control;                   \
        const u64 bound = launch->bound, flip = launch->bound_flip;          \
        if (launch->bounded == 0)                                            \
            return;                                                          \
        JUMP_IF((order_code(ORDER(A(T))) ^ flip) >= bound)                   \
    }
#define AS_IT_IS(value) (value)

BEHIND(I32, AS_IT_IS)
BEHIND(I64, AS_IT_IS)
BEHIND(F32, order_f32)
BEHIND(F64, order_f64)

#undef AS_IT_IS

/* -------------------------------------------------------------- result -- */

#include "sum.h"
#include "result.cl"

OP(RESULT)
{
    NO_OPERANDS;
    result_begin(m, k);
    for (u32 i = 0; i < m->output_count; i++) {
        GLOBAL const struct output *output = m->outputs + i;
        result_values(m, k, output->register_, output->width, 1, output);
        if (output->null_register >= 0)
            result_nulls(m, k, output->null_register, output);
    }
    result_end(m);
}
