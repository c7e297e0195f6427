/* SPDX-License-Identifier: MIT */
/*
 * Rows are added to groups, in the shape of a CPU: an item takes one of the tables
 * in the result memory, has it alone until it ends, and nothing that it adds is
 * atomic. What a record has is said in cl/group.h; the halves of a sum of 64-bit
 * integers are kept apart, so that nothing is carried.
 *
 * The table has a record for each code that the keys can have, and some copies
 * of all of these: neighbouring rows are added to different ones, so that no
 * row waits for what the one before it stored. Behind the copies comes one more
 * record, to which rows are added that are not live: nobody reads it.
 *
 * A launch need not have tables: then all these opcodes do nothing, and rows
 * become result rows. Part of cl/result.cl.
 */

#define LAUNCH ((GLOBAL const struct launch_head *)m->control)
#define IF_GROUPED                                                           \
    if (m->table == 0)                                                       \
        return;

/* The flags of table i. */
static volatile GLOBAL u32 *table_flags(struct machine *m, u32 i)
{
    return (volatile GLOBAL u32 *)m->result + 1 + i;
}

/* Gives an item a table that nobody has. There are as many as cores: where all are
 * taken one comes free soon. */
static void table_begin(struct machine *m)
{
    const u32 bytes = LAUNCH->table_bytes;
    u32 i = 0, flags;
    m->table = 0;
    if (bytes == 0)
        return;
    const u32 count = *(GLOBAL const u32 *)m->result;
    for (;;) {
        flags = atomic_or(table_flags(m, i), TABLE_TAKEN);
        if ((flags & TABLE_TAKEN) == 0)
            break;
        i = i + 1 < count ? i + 1 : 0;
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    m->table = m->result + LAUNCH->tables + (u64)i * bytes;
    m->table_number = i;
    for (u32 w = 0; w < bytes / 8 && flags == 0; w++)
        ((GLOBAL u64 *)m->table)[w] = 0;
}

/* Leaves the table to others. */
static void table_end(struct machine *m)
{
    if (m->table == 0)
        return;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(table_flags(m, m->table_number), TABLE_USED);
}

/* Rows of a tile for each that is not live where the live ones are listed: those
 * that go to one record wait for one another. */
enum { DEAD_SHARE = 8 };

OP(GROUP)
{
    NO_B, NO_C, NO_D;
    IF_GROUPED
    if (a == 0)
        return; /* the only group has no copies */
    const u32 last = LAUNCH->table_copies - 1, bytes = LAUNCH->copy_bytes;
    const u32 nowhere = LAUNCH->table_copies * bytes;
    u32 *restrict slot = m->slot;
    if (live_rows(m, k) < m->rows - m->rows / DEAD_SHARE)
        list_rows(m, k);
    DEAR(slot[t] = LIVE ? ((u32)t & last) * bytes : nowhere;)
}

/* Of row t: whether its flag in register b is set; and if there need be no such
 * register. A loop that vectors are to be made of asks before it whether there is
 * one: a compiler for CPUs makes them of no loop that asks for each row. */
#define FLAG (m->r[b].I32[t] != 0)
#define FLAGGED (b >= 0 && FLAG)

#define CODES(T, UNSIGNED, flagged)                                          \
    DEAR({                                                                   \
        UNSIGNED more = (UNSIGNED)A(T) - base;                               \
        u32 code = more < size ? (u32)more : size - 1;                       \
        code = (flagged) ? size : code;                                      \
        slot[t] += LIVE ? code * stride : 0;                                 \
    })
/* Moves a row to its key's code. Values of no known code have another's: the
 * file was not what its facts say. */
#define KEY(T, UNSIGNED)                                                     \
    {                                                                        \
        NO_D;                                                                \
        IF_GROUPED                                                           \
        GLOBAL const struct launch_key *key = LAUNCH->keys + c;              \
        const UNSIGNED base = (UNSIGNED)key->base;                           \
        const u32 size = key->size, stride = key->stride;                    \
        u32 *restrict slot = m->slot;                                        \
        if (b < 0) {                                                         \
            CODES(T, UNSIGNED, 0)                                            \
        } else {                                                             \
            CODES(T, UNSIGNED, FLAG)                                         \
        }                                                                    \
    }

OP(KEY_I32) KEY(I32, u32)
OP(KEY_I64) KEY(I64, u64)

/* The words of a record from `at` on: of row t, and of the only group. */
#define RECORD(at) ((GLOBAL u64 *)(m->table + (at) + m->slot[t]))
#define ONLY_RECORD(at) ((GLOBAL u64 *)(m->table + (at)))
/* Over the live rows of a tile, in any order, for the only group: those that are
 * listed already, or all at once. */
#define EACH_AT_ONCE(statement)                                              \
    if (m->listed && k < m->wakes)                                           \
        EACH_LISTED(statement)                                               \
    else                                                                     \
        EACH { statement }
/* Over the rows of a tile, one after the other; where they are listed, over the
 * live ones. */
#define EACH_ROW(statement)                                                  \
    if (few_live(m, k) || m->listed)                                         \
        EACH_LISTED(statement;)                                              \
    else {                                                                   \
        UNROLL_4                                                             \
        for (i32 t = 0, end_ = m->rows; t < end_; t++) {                     \
            statement;                                                       \
        }                                                                    \
    }
/* Over the rows of a tile for the only group, with `added`: whether row t's value
 * is. (Rows that are not live have a record of their own where there are more.) */
#define EACH_ADDED(statement)                                                \
    if (b < 0) {                                                             \
        EACH_AT_ONCE(i32 added = LIVE; statement)                            \
    } else {                                                                 \
        EACH_AT_ONCE(i32 added = LIVE & !FLAG; statement)                    \
    }

/* Counts the rows that have a flag, for many groups: they are listed, for mostly
 * they are few, and the records of the others need not be touched. */
static void count_each_flagged(struct machine *m, i32 k, i32 b, i32 c)
{
    union live_flags flags;
    u32 list[VDBQ_TILE + 8], any = 0;
    EVERY any |= LIVE & FLAG;
    if (!any)
        return;
    flags.eight[VDBQ_TILE / 8] = 0;
    EVERY flags.each[t] = LIVE & FLAG;
    u32 count = list_flags(&flags, (u32)m->rows, list);
    for (u32 i = 0; i < count; i++) {
        u32 t = list[i];
        *RECORD(c) += 1;
    }
}

/* Counts the rows that are passed over: their value is NULL. */
static void count_flagged(struct machine *m, i32 k, i32 b, i32 c, i32 d)
{
    if (b < 0)
        return;
    if (d & ADD_ONLY_GROUP) {
        u32 count = 0;
        EACH_AT_ONCE(count += LIVE & FLAG;)
        *ONLY_RECORD(c) += count;
    } else
        count_each_flagged(m, k, b, c);
}

OP(COUNT)
{
    UNUSED(a);
    IF_GROUPED
    count_flagged(m, k, b, c, d);
}

OP(SUM_I32)
{
    IF_GROUPED
    count_flagged(m, k, b, c, d);
    if (d & ADD_ONLY_GROUP) {
        i64 sum = 0;
        EACH_ADDED(sum += added ? A(I32) : 0;)
        ONLY_RECORD(c)[1] += (u64)sum;
    } else
        EACH_ROW(RECORD(c)[1] += FLAGGED ? 0 : (u64)(i64)A(I32))
}

OP(SUM_I64)
{
    IF_GROUPED
    count_flagged(m, k, b, c, d);
    if (d & ADD_ONLY_GROUP) {
        u64 low = 0, high = 0;
        EACH_ADDED(i64 value = added ? A(I64) : 0;
                   low += (u32)value;
                   high += (u64)(value >> 32);)
        ONLY_RECORD(c)[1] += low;
        ONLY_RECORD(c)[2] += high;
    } else
        EACH_ROW(i64 value = FLAGGED ? 0 : A(I64);
                 GLOBAL u64 *record = RECORD(c);
                 record[1] += (u32)value;
                 record[2] += (u64)(value >> 32))
}

/* Where a sum of floats is in a record (cl/sum.h), whose value is NULL in the rows
 * that the word before it counts. */
#define SUM_IN(record) ((GLOBAL struct sum *)((record) + 1))

/* Adds a value to a sum that has no room for it, or lacks it for what is no
 * number. */
static void add_apart(GLOBAL struct sum *at, f64 value)
{
    struct sum sum = *at;
    sum_add(&sum, value);
    *at = sum;
}

/* Adds a value. No more than SUM_DIGITS_MAX come before the host takes the table. */
static void add_real(GLOBAL struct sum *sum, f64 value)
{
    u64 digits[3];
    if (!sum_fits(bits_of_f64(value), sum->top)) {
        add_apart(sum, value);
        return;
    }
    sum_digits(value * sum_scale(sum->top), digits);
    for (u32 i = 0; i < 3; i++)
        sum->limbs[i] += (i64)digits[i];
}

/* The only group's: the digits of a tile, or where a value has no room, value
 * by value. */
#define REAL_ONLY(T)                                                         \
    {                                                                        \
        GLOBAL struct sum *sum = SUM_IN(ONLY_RECORD(c));                     \
        const f64 scale = sum_scale(sum->top);                               \
        u64 high = 0, middle = 0, low = 0, beyond = 0;                       \
        EACH_ADDED(f64 left = (f64)A(T) * scale;                             \
                   left = added ? left : 0;                                  \
                   beyond |= fabs(left) < 0x1p31 ? 0 : 1;                    \
                   high += sum_digit(&left, SUM_ROUND_0)                     \
                           - bits_of_f64(SUM_ROUND_0);                       \
                   middle += sum_digit(&left, SUM_ROUND_1)                   \
                             - bits_of_f64(SUM_ROUND_1);                     \
                   low += sum_digit(&left, SUM_ROUND_2)                      \
                          - bits_of_f64(SUM_ROUND_2);)                       \
        if (beyond) {                                                        \
            EACH_ROW(add_real(sum, (LIVE & !FLAGGED) ? (f64)A(T) : 0))       \
            return;                                                          \
        }                                                                    \
        sum->limbs[0] += (i64)high;                                          \
        sum->limbs[1] += (i64)middle;                                        \
        sum->limbs[2] += (i64)low;                                           \
    }
/* The first of the live rows, of which there are some. */
static u32 first_live(const struct machine *m, i32 k)
{
    u32 t = 0;
    while (m->pc[t] > k)
        t++;
    return t;
}

/* The digits of the values of a tile, of NULL 0, and whether all are `within`. */
#define DIGITS(T, flagged)                                                   \
    EACH {                                                                   \
        f64 left = (flagged) ? 0 : (f64)A(T) * scale;                        \
        within &= fabs(left) < 0x1p31;                                       \
        high[t] = sum_digit(&left, SUM_ROUND_0) - bits_of_f64(SUM_ROUND_0);  \
        middle[t] = sum_digit(&left, SUM_ROUND_1)                            \
                    - bits_of_f64(SUM_ROUND_1);                              \
        low[t] = sum_digit(&left, SUM_ROUND_2) - bits_of_f64(SUM_ROUND_2);   \
    }
/* Adds row t's value, by its digits if its sum is of the tile's top and it `fits`. */
#define ADD_DIGITS(T, fits)                                                  \
    GLOBAL struct sum *sum = SUM_IN(RECORD(c));                              \
    f64 value = FLAGGED ? 0 : (f64)A(T);                                     \
    if (sum->top == top && (fits)) {                                         \
        sum->limbs[0] += (i64)high[t];                                       \
        sum->limbs[1] += (i64)middle[t];                                     \
        sum->limbs[2] += (i64)low[t];                                        \
    } else                                                                   \
        add_real(sum, value);
/* Those of many groups, of rows of which there are some: mostly their sums are as
 * high as that of the tile's first row, for which the digits are made, and have
 * room for all values. */
#define REAL_EACH(T)                                                         \
    {                                                                        \
        u64 high[VDBQ_TILE], middle[VDBQ_TILE], low[VDBQ_TILE];              \
        const u32 first = m->slot[first_live(m, k)];                         \
        const u32 top = SUM_IN((GLOBAL u64 *)(m->table + c + first))->top;   \
        const f64 scale = sum_scale(top);                                    \
        i32 within = 1;                                                      \
        if (b < 0)                                                           \
            DIGITS(T, 0)                                                     \
        else                                                                 \
            DIGITS(T, FLAG)                                                  \
        if (within)                                                          \
            EACH_ROW(ADD_DIGITS(T, 1))                                       \
        else                                                                 \
            EACH_ROW(ADD_DIGITS(T, sum_fits(bits_of_f64(value), top)))       \
    }
#define REAL(T)                                                              \
    {                                                                        \
        IF_GROUPED                                                           \
        count_flagged(m, k, b, c, d);                                        \
        if (d & ADD_ONLY_GROUP) {                                            \
            REAL_ONLY(T)                                                     \
        } else if (few_live(m, k)) {                                         \
            EACH_LISTED(if (!FLAGGED)                                        \
                            add_real(SUM_IN(RECORD(c)), (f64)A(T));)         \
        } else                                                               \
            REAL_EACH(T)                                                     \
    }

OP(SUM_F32) REAL(F32)
OP(SUM_F64) REAL(F64)

/* Keeps the greatest code, of the least value the complement: WIDE has the orders
 * of T, the first of them LEAST. */
#define BEST(T, WIDE, LEAST, ORDER)                                          \
    {                                                                        \
        IF_GROUPED                                                           \
        count_flagged(m, k, b, c, d);                                        \
        const WIDE flip = (d & ADD_TURNED) ? -1 : 0;                          \
        if (d & ADD_ONLY_GROUP) {                                            \
            GLOBAL u64 *record = ONLY_RECORD(c);                             \
            WIDE best = LEAST;                                               \
            i32 any = 0;                                                     \
            EACH_ADDED(WIDE all = -(WIDE)added;                              \
                       WIDE order = ((ORDER(A(T)) ^ flip) & all)             \
                                    | (LEAST & ~all);                        \
                       best = order > best ? order : best;                   \
                       any |= added;)                                        \
            if (any && order_code(best) > record[1])                         \
                record[1] = order_code(best);                                \
        } else                                                               \
            EACH_ROW(u64 code = order_code(ORDER(A(T)) ^ flip);              \
                     code = FLAGGED ? 0 : code;                              \
                     GLOBAL u64 *record = RECORD(c);                         \
                     record[1] = code > record[1] ? code : record[1])        \
    }
#define AS_IT_IS(value) (value)

#define LEAST_I32 (-2147483647 - 1)
#define LEAST_I64 (-9223372036854775807L - 1)

OP(BEST_I32) BEST(I32, i32, LEAST_I32, AS_IT_IS)
OP(BEST_I64) BEST(I64, i64, LEAST_I64, AS_IT_IS)
OP(BEST_F32) BEST(F32, i32, LEAST_I32, order_f32)
OP(BEST_F64) BEST(F64, i64, LEAST_I64, order_f64)

#undef AS_IT_IS

/* Keeps bits of those that are there and of others. */
#define BITS_OF(there, others) ((d & ADD_ODD) ? (there) ^ (others) : (there) | (others))

/* Keeps the bits that any value has, or an odd number of values; of those that all
 * have, the ones that any lacks. */
#define BITS(T)                                                              \
    {                                                                        \
        IF_GROUPED                                                           \
        count_flagged(m, k, b, c, d);                                        \
        const u64 turn = (d & ADD_TURNED) ? ~0UL : 0;                        \
        if (d & ADD_ONLY_GROUP) {                                            \
            u64 bits = 0;                                                    \
            EACH_ADDED(u64 own = ((u64)(i64)A(T) ^ turn) & -(u64)added;      \
                       bits = BITS_OF(bits, own);)                           \
            GLOBAL u64 *record = ONLY_RECORD(c);                             \
            record[1] = BITS_OF(record[1], bits);                            \
        } else                                                               \
            EACH_ROW(u64 own = FLAGGED ? 0 : (u64)(i64)A(T) ^ turn;          \
                     GLOBAL u64 *record = RECORD(c);                         \
                     record[1] = BITS_OF(record[1], own))                    \
    }

OP(BITS_I32) BITS(I32)
OP(BITS_I64) BITS(I64)

/* Notes that a row of a group has that number. */
static inline void note_first(GLOBAL u64 *record, u64 number)
{
    if (record[0] < ~number)
        record[0] = ~number;
}

/* Counts the rows, and notes the first ones of groups. */
OP(GROUPED)
{
    UNUSED(a), NO_B, NO_C;
    IF_GROUPED
    const u64 first = LAUNCH->number + (u64)m->step * VDBQ_TILE;
    const u64 count = (u64)live_rows(m, k);
    if (d & ADD_ONLY_GROUP) {
        GLOBAL u64 *record = ONLY_RECORD(0);
        if (count > 0)
            note_first(record, first + first_live(m, k));
        record[1] += count;
    } else
        EACH_ROW(GLOBAL u64 *record = RECORD(0);
                 record[1]++;
                 note_first(record, first + (u64)t))
}
