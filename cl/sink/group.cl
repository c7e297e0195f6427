/* SPDX-License-Identifier: MIT */
/*
 * Rows are added to groups, in the shape of a GPU: all items add to one table of
 * records (cl/group.h) in the device's memory, by atomic operations whose order
 * does not matter. Where the table is small a work-group adds to one of its own
 * in local memory first, of which it has some copies: neighbouring items add to
 * different ones.
 *
 * In the device's memory a sum of 64-bit integers has its carries at once. A
 * work-group's own has none: the lowest bits of values (m->low_bits), and as
 * many above them, are summed apart in 32 bits each, for which a copy gets few
 * enough rows; what remains above these is mostly 0. So no addition waits for what
 * was there. The first row of a record is told by its number in the launch.
 *
 * A launch either has groups or result rows, for its program is made so: the
 * opcodes below do nothing, and a specialised program for groups calls what is
 * behind them, of the memory where its table is. Part of cl/result.cl.
 */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define NOTHING                                                              \
    {                                                                        \
        NO_OPERANDS;                                                         \
        UNUSED(m);                                                           \
        NO_K;                                                                \
    }
OP(GROUP) NOTHING
OP(KEY_I32) NOTHING
OP(KEY_I64) NOTHING
OP(COUNT) NOTHING
OP(SUM_I32) NOTHING
OP(SUM_I64) NOTHING
OP(SUM_F32) NOTHING
OP(SUM_F64) NOTHING
OP(BEST_I32) NOTHING
OP(BEST_I64) NOTHING
OP(BEST_F32) NOTHING
OP(BEST_F64) NOTHING
OP(BITS_I32) NOTHING
OP(BITS_I64) NOTHING
OP(GROUPED) NOTHING

/* ----------------------------------------------------------- memories -- */

#define LAUNCH ((GLOBAL const struct launch_head *)m->control)

/* Whose table it is: a work-group's `own`, or the `common` one. */
#define MEMORY_own LOCAL
#define MEMORY_common GLOBAL

/* A record, `at` bytes from the table's start on. */
#define AT_own(at) ((volatile LOCAL u64 *)(m->own + (at)))
#define AT_common(at) ((volatile GLOBAL u64 *)(m->result + (at)))

/* The copy that an item adds to, from the table's start on. */
#define COPY_own (m->item & (LAUNCH->table_copies - 1)) * LAUNCH->copy_bytes
#define COPY_common 0

/* So many of the lowest bits. */
#define LOW_MASK(bits) ((1u << (bits)) - 1)

#include "add.cl"

static u32 add_common(volatile GLOBAL u64 *to, u64 value)
{
    return value != 0 && atom_add(to, value) + value < value;
}

/* Adds to a count. What a work-group counts of a launch fits 32 bits. */
static void count_own(volatile LOCAL u64 *to, u32 more)
{
    if (more != 0)
        atomic_add((volatile LOCAL u32 *)to, more);
}

static void count_common(volatile GLOBAL u64 *to, u32 more)
{
    if (more != 0)
        atom_add(to, (u64)more);
}

/* Adds to a sum of 32-bit integers, or of some at once. */
static void add_narrow_own(struct machine *m, volatile LOCAL u64 *to, i64 value)
{
    volatile LOCAL u32 *words = (volatile LOCAL u32 *)to;
    const u32 bits = m->low_bits;
    u32 high = (u32)(value >> bits);
    atomic_add(words, (u32)value & LOW_MASK(bits));
    if (high != 0)
        atomic_add(words + 1, high);
}

static void add_narrow_common(struct machine *m, volatile GLOBAL u64 *to,
                              i64 value)
{
    UNUSED(m);
    add_common(to, (u64)value);
}

/* Adds to a sum of 64-bit integers; or of some at once, whose bits above 64 `high`
 * has. */
static void add_wide_own(struct machine *m, volatile LOCAL u64 *to, i64 value,
                         i64 high)
{
    volatile LOCAL u32 *words = (volatile LOCAL u32 *)to;
    const u32 bits = m->low_bits;
    i64 above = value >> 2 * bits;
    if (high != value >> 63)
        above += (high - (value >> 63)) << (64 - 2 * bits);
    atomic_add(words, (u32)value & LOW_MASK(bits));
    atomic_add(words + 1, (u32)(value >> bits) & LOW_MASK(bits));
    if (above != 0)
        add_own(to + 1, (u64)above);
}

static void add_wide_common(struct machine *m, volatile GLOBAL u64 *to, i64 value,
                            i64 high)
{
    u64 above = (u64)high + add_common(to, (u64)value);
    UNUSED(m);
    if (above != 0)
        add_common(to + 1, above);
}

#define GREATER(WHOSE)                                                       \
    static void greater_##WHOSE(volatile MEMORY_##WHOSE u64 *to, u64 code)   \
    {                                                                        \
        if (*to < code)                                                      \
            atom_max(to, code);                                              \
    }

GREATER(own)
GREATER(common)

/* Notes a row of the launch as a record's first one, if it is. */
static void first_own(struct machine *m, volatile LOCAL u64 *record, u32 row)
{
    volatile LOCAL u32 *first = (volatile LOCAL u32 *)record;
    UNUSED(m);
    if (*first < ~row)
        atomic_max(first, ~row);
}

static void first_common(struct machine *m, volatile GLOBAL u64 *record, u32 row)
{
    greater_common(record, ~(LAUNCH->number + row));
}

/* ------------------------------------------------------------- opcodes -- */

/* Of row t: whether its flag in register b is set. */
#define FLAGGED (b >= 0 && m->r[b].I32[t] != 0)

#define SINK(name, WHOSE)                                                    \
    static void sink_##WHOSE##_##name(struct machine *m, i32 k, i32 a,       \
                                      i32 b, i32 c, i32 d)

/* Moves a row to its key's code. Values of no known code have another's: the
 * file was not what its facts say. */
#define KEY(T, UNSIGNED)                                                     \
    {                                                                        \
        NO_K, NO_D;                                                          \
        GLOBAL const struct launch_key *key = LAUNCH->keys + c;              \
        const UNSIGNED base = (UNSIGNED)key->base;                           \
        const u32 size = key->size, stride = key->stride;                    \
        EACH {                                                               \
            UNSIGNED more = (UNSIGNED)A(T) - base;                           \
            u32 code = more < size ? (u32)more : size - 1;                   \
            m->slot[t] += (FLAGGED ? size : code) * stride;                  \
        }                                                                    \
    }

/* Adds a tile's rows to the sum of the only group at once: halves need no carries
 * meanwhile. NARROW: the sum fits 64 bits. */
#define SUM_ONLY(T, WHOSE, NARROW)                                           \
    {                                                                        \
        u64 low = 0;                                                         \
        i64 high = 0;                                                        \
        u32 nulls = 0;                                                       \
        EACH {                                                               \
            u32 null = LIVE & FLAGGED, added = LIVE & !null;                 \
            i64 value = added ? (i64)A(T) : 0;                               \
            nulls += null;                                                   \
            low += NARROW ? (u64)value : (u32)value;                         \
            high += NARROW ? 0 : value >> 32;                                \
        }                                                                    \
        volatile MEMORY_##WHOSE u64 *record =                                \
            AT_##WHOSE(m->slot[0] + (u32)c);                                 \
        u64 sum = low + ((u64)high << 32);                                   \
        count_##WHOSE(record, nulls);                                        \
        if (NARROW)                                                          \
            add_narrow_##WHOSE(m, record + 1, (i64)low);                     \
        else                                                                 \
            add_wide_##WHOSE(m, record + 1, (i64)sum,                        \
                             (high >> 32) + (sum < low)); \
    }
/* ... to those of their groups. */
#define SUM_EACH(T, WHOSE, NARROW)                                           \
    EACH {                                                                   \
        volatile MEMORY_##WHOSE u64 *record =                                \
            AT_##WHOSE(m->slot[t] + (u32)c);                                 \
        i64 value = (i64)A(T);                                               \
        if (!LIVE)                                                           \
            continue;                                                        \
        if (FLAGGED)                                                         \
            count_##WHOSE(record, 1);                                        \
        else if (NARROW)                                                     \
            add_narrow_##WHOSE(m, record + 1, value);                        \
        else                                                                 \
            add_wide_##WHOSE(m, record + 1, value, value >> 63);             \
    }
#define SUM(T, WHOSE, NARROW)                                                \
    {                                                                        \
        NO_K;                                                                \
        if (d & ADD_ONLY_GROUP)                                              \
            SUM_ONLY(T, WHOSE, NARROW)                                       \
        else                                                                 \
            SUM_EACH(T, WHOSE, NARROW)                                       \
    }

/* Keeps the greatest code, of the least value the complement. */
#define BEST_ONLY(T, WHOSE, ORDER)                                           \
    {                                                                        \
        u64 best = 0;                                                        \
        u32 nulls = 0;                                                       \
        EACH {                                                               \
            u32 null = LIVE & FLAGGED, added = LIVE & !null;                 \
            u64 code = added ? order_code(ORDER(A(T))) ^ flip : 0;           \
            nulls += null;                                                   \
            best = code > best ? code : best;                                \
        }                                                                    \
        volatile MEMORY_##WHOSE u64 *record =                                \
            AT_##WHOSE(m->slot[0] + (u32)c);                                 \
        count_##WHOSE(record, nulls);                                        \
        greater_##WHOSE(record + 1, best);                                   \
    }
#define BEST_EACH(T, WHOSE, ORDER)                                           \
    EACH {                                                                   \
        volatile MEMORY_##WHOSE u64 *record =                                \
            AT_##WHOSE(m->slot[t] + (u32)c);                                 \
        u64 code = order_code(ORDER(A(T))) ^ flip;                           \
        if (!LIVE)                                                           \
            continue;                                                        \
        if (FLAGGED)                                                         \
            count_##WHOSE(record, 1);                                        \
        else                                                                 \
            greater_##WHOSE(record + 1, code);                               \
    }
#define BEST(T, WHOSE, ORDER)                                                \
    {                                                                        \
        const u64 flip = (d & ADD_TURNED) ? 0xffffffffffffffffUL : 0;         \
        NO_K;                                                                \
        if (d & ADD_ONLY_GROUP)                                              \
            BEST_ONLY(T, WHOSE, ORDER)                                       \
        else                                                                 \
            BEST_EACH(T, WHOSE, ORDER)                                       \
    }

/* Keeps the bits that any value has, or an odd number of values; of those that all
 * have, the ones that any lacks. */
#define BITS_ONLY(T, WHOSE)                                                  \
    {                                                                        \
        u64 any = 0, odd = 0;                                                \
        u32 nulls = 0;                                                       \
        EACH {                                                               \
            u32 null = LIVE & FLAGGED, added = LIVE & !null;                 \
            u64 bits = added ? (u64)(i64)A(T) ^ turn : 0;                    \
            nulls += null;                                                   \
            any |= bits;                                                     \
            odd ^= bits;                                                     \
        }                                                                    \
        volatile MEMORY_##WHOSE u64 *record =                                \
            AT_##WHOSE(m->slot[0] + (u32)c);                                 \
        count_##WHOSE(record, nulls);                                        \
        keep_bits_##WHOSE(record + 1, (d & ADD_ODD) ? odd : any, d & ADD_ODD); \
    }
#define BITS_EACH(T, WHOSE)                                                  \
    EACH {                                                                   \
        volatile MEMORY_##WHOSE u64 *record =                                \
            AT_##WHOSE(m->slot[t] + (u32)c);                                 \
        u64 bits = (u64)(i64)A(T) ^ turn;                                    \
        if (!LIVE)                                                           \
            continue;                                                        \
        if (FLAGGED)                                                         \
            count_##WHOSE(record, 1);                                        \
        else                                                                 \
            keep_bits_##WHOSE(record + 1, bits, d & ADD_ODD);                \
    }
#define BITS(T, WHOSE)                                                       \
    {                                                                        \
        const u64 turn = (d & ADD_TURNED) ? 0xffffffffffffffffUL : 0;        \
        NO_K;                                                                \
        if (d & ADD_ONLY_GROUP)                                              \
            BITS_ONLY(T, WHOSE)                                              \
        else                                                                 \
            BITS_EACH(T, WHOSE)                                              \
    }

/* The number of the first live row: those of a tile follow one another, but where
 * it is refilled. */
static u32 first_number(const struct machine *m, u32 live)
{
    u32 before = popcount((live & (0u - live)) - 1);
    u32 least = 0xffffffff;
    if (!REFILLED)
        return NUMBER_OF(before);
    EACH {
        u32 number = (live >> t & 1) != 0 ? m->number[t] : 0xffffffff;
        least = number < least ? number : least;
    }
    return least;
}

/* Counts the rows of groups, and notes the first ones. */
#define GROUPED(WHOSE)                                                       \
    {                                                                        \
        u32 live = 0;                                                        \
        NO_K;                                                                \
        EACH live |= (u32)LIVE << t;                                         \
        m->counted += popcount(live);                                        \
        if ((d & ADD_ONLY_GROUP) && live != 0) {                             \
            volatile MEMORY_##WHOSE u64 *record = AT_##WHOSE(m->slot[0]);    \
            first_##WHOSE(m, record, first_number(m, live));                 \
            count_##WHOSE(record + 1, popcount(live));                       \
        }                                                                    \
        if ((d & ADD_ONLY_GROUP) == 0)                                       \
            EACH {                                                           \
                volatile MEMORY_##WHOSE u64 *record =                        \
                    AT_##WHOSE(m->slot[t]);                                  \
                if ((live >> t & 1) == 0)                                    \
                    continue;                                                \
                first_##WHOSE(m, record, m->number[t]);                      \
                count_##WHOSE(record + 1, 1);                                \
            }                                                                \
    }

#define SINKS(WHOSE)                                                         \
    SINK(GROUP, WHOSE)                                                       \
    {                                                                        \
        NO_K, NO_OPERANDS;                                                   \
        const u32 copy = COPY_##WHOSE;                                       \
        EACH m->slot[t] = copy;                                              \
    }                                                                        \
    SINK(KEY_I32, WHOSE) KEY(I32, u32)                                       \
    SINK(KEY_I64, WHOSE) KEY(I64, u64)                                       \
    SINK(COUNT, WHOSE)                                                       \
    {                                                                        \
        NO_K, UNUSED(a), NO_D;                                               \
        EACH count_##WHOSE(AT_##WHOSE(m->slot[t] + (u32)c), LIVE & FLAGGED); \
    }                                                                        \
    SINK(SUM_I32, WHOSE) SUM(I32, WHOSE, 1)                                  \
    SINK(SUM_I64, WHOSE) SUM(I64, WHOSE, 0)                                  \
    SINK(BEST_I32, WHOSE) BEST(I32, WHOSE, AS_IT_IS)                         \
    SINK(BEST_I64, WHOSE) BEST(I64, WHOSE, AS_IT_IS)                         \
    SINK(BEST_F32, WHOSE) BEST(F32, WHOSE, order_f32)                        \
    SINK(BEST_F64, WHOSE) BEST(F64, WHOSE, order_f64)                        \
    SINK(BITS_I32, WHOSE) BITS(I32, WHOSE)                                   \
    SINK(BITS_I64, WHOSE) BITS(I64, WHOSE)                                   \
    SINK(GROUPED, WHOSE) { UNUSED(a), NO_B, NO_C; GROUPED(WHOSE) }

SINKS(own)
SINKS(common)

/* ------------------------------------------------------ out of a group -- */

/* Adds what the copies of a record hold, `at` bytes from its table's start on, to
 * the device's; a specialised program calls what its own record needs. */
#define EACH_COPY(statement)                                                 \
    for (u32 bytes_ = LAUNCH->copy_bytes, end_ = LAUNCH->table_copies * bytes_, \
             at_ = 0;                                                        \
         at_ < end_; at_ += bytes_) {                                        \
        const volatile LOCAL u64 *from = AT_own(at_ + at);                   \
        statement                                                            \
    }

/* The rows of a record: whether there are some. */
static u32 flush_head(struct machine *m, u32 at)
{
    u32 before = 0;
    u64 rows = 0;
    EACH_COPY(before = (u32)from[0] > before ? (u32)from[0] : before;
              rows += from[1];)
    if (rows == 0)
        return 0;
    first_common(m, AT_common(at), ~before);
    atom_add(AT_common(at) + 1, rows);
    return 1;
}

static void flush_COUNT(struct machine *m, u32 at, i32 d)
{
    u64 count = 0;
    NO_D;
    EACH_COPY(count += from[0];)
    add_common(AT_common(at), count);
}

static void flush_SUM_I32(struct machine *m, u32 at, i32 d)
{
    u64 low = 0, high = 0;
    flush_COUNT(m, at, d);
    EACH_COPY(low += (u32)from[1];
              high += (u64)(i64)(i32)(from[1] >> 32);)
    add_common(AT_common(at) + 1, low + (high << m->low_bits));
}

static void flush_SUM_I64(struct machine *m, u32 at, i32 d)
{
    u64 low = 0, middle = 0, above = 0;
    const u32 bits = m->low_bits;
    flush_COUNT(m, at, d);
    EACH_COPY(low += (u32)from[1];
              middle += from[1] >> 32;
              above += from[2];)
    low += middle << bits;
    middle = above << 2 * bits;
    add_wide_common(m, AT_common(at) + 1, (i64)(low + middle),
                    ((i64)above >> (64 - 2 * bits)) + (low + middle < low));
}

static void flush_best(struct machine *m, u32 at, i32 d)
{
    u64 best = 0;
    flush_COUNT(m, at, d);
    EACH_COPY(best = from[1] > best ? from[1] : best;)
    greater_common(AT_common(at) + 1, best);
}

#define flush_BEST_I32 flush_best
#define flush_BEST_I64 flush_best
#define flush_BEST_F32 flush_best
#define flush_BEST_F64 flush_best

static void flush_bits(struct machine *m, u32 at, i32 d)
{
    u64 any = 0, odd = 0;
    flush_COUNT(m, at, d);
    EACH_COPY(any |= from[1];
              odd ^= from[1];)
    keep_bits_common(AT_common(at) + 1, (d & ADD_ODD) ? odd : any, d & ADD_ODD);
}

#define flush_BITS_I32 flush_bits
#define flush_BITS_I64 flush_bits
