/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of integers that wraps: the planner uses these opcodes where it proved
 * that they do not, and the checked ones elsewhere. Part of cl/ops.cl.
 */

#define WRAPPING(T, U)                                                       \
    OP(ADD_##T) { NO_K; NO_D; EACH A(T) = (T)((U)B(T) + (U)C(T)); }          \
    OP(SUB_##T) { NO_K; NO_D; EACH A(T) = (T)((U)B(T) - (U)C(T)); }          \
    OP(MUL_##T) { NO_K; NO_D; EACH A(T) = (T)((U)B(T) * (U)C(T)); }

WRAPPING(I32, u32)
WRAPPING(I64, u64)

/* ----------------------------------------------------------- quotients -- */

/* Cut off. A CPU divides no vectors of integers, but those of doubles, and a double
 * is exact enough for 32 bits: a quotient that is not whole is at least 2^-31 away
 * from the next whole number. */
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
