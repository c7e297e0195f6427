/* SPDX-License-Identifier: MIT */
/*
 * Rows are added to groups, in the shape of a GPU: all items add to one table of
 * records (cl/group.h) in the device's memory, by atomic operations whose order
 * does not matter. Where the table is small a work-group adds to one of its own
 * in local memory first, of which it has some copies: neighbouring items add to
 * different ones. A sum of 64-bit integers has its carries at once.
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

#define ADDERS(WHOSE)                                                        \
    static void add_wide_##WHOSE(volatile MEMORY_##WHOSE u64 *to, u64 low, u64 high) \
    {                                                                        \
        high += add_##WHOSE(to, low);                                        \
        if (high != 0)                                                       \
            add_##WHOSE(to + 1, high);                                       \
    }                                                                        \
    static void greater_##WHOSE(volatile MEMORY_##WHOSE u64 *to, u64 code)   \
    {                                                                        \
        if (*to < code)                                                      \
            atom_max(to, code);                                              \
    }

ADDERS(own)
ADDERS(common)

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
            add_##WHOSE(record + 1, low);                                    \
        else                                                                 \
            add_wide_##WHOSE(record + 1, sum,                                \
                             (u64)(high >> 32) + (sum < low));               \
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
            add_##WHOSE(record + 1, (u64)value);                             \
        else                                                                 \
            add_wide_##WHOSE(record + 1, (u64)value, (u64)(value >> 63));    \
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
        const u64 flip = (d & ADD_LEAST) ? 0xffffffffffffffffUL : 0;         \
        NO_K;                                                                \
        if (d & ADD_ONLY_GROUP)                                              \
            BEST_ONLY(T, WHOSE, ORDER)                                       \
        else                                                                 \
            BEST_EACH(T, WHOSE, ORDER)                                       \
    }

/* Counts the rows of groups, and notes the first ones: those of a tile follow
 * one another. */
#define GROUPED(WHOSE)                                                       \
    {                                                                        \
        const u64 first =                                                    \
            LAUNCH->number +                                                 \
            ((u64)m->step * VDBQ_GROUP + m->item) * VDBQ_TILE;               \
        u32 live = 0;                                                        \
        NO_K;                                                                \
        EACH live |= (u32)LIVE << t;                                         \
        m->counted += popcount(live);                                        \
        if ((d & ADD_ONLY_GROUP) && live != 0) {                             \
            volatile MEMORY_##WHOSE u64 *record = AT_##WHOSE(m->slot[0]);    \
            u32 least = popcount((live & (0u - live)) - 1);                  \
            greater_##WHOSE(record, ~(first + least));                       \
            count_##WHOSE(record + 1, popcount(live));                       \
        }                                                                    \
        if ((d & ADD_ONLY_GROUP) == 0)                                       \
            EACH {                                                           \
                volatile MEMORY_##WHOSE u64 *record =                        \
                    AT_##WHOSE(m->slot[t]);                                  \
                if ((live >> t & 1) == 0)                                    \
                    continue;                                                \
                greater_##WHOSE(record, ~(first + (u32)t));                  \
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
    SINK(GROUPED, WHOSE) { UNUSED(a), NO_B, NO_C; GROUPED(WHOSE) }

SINKS(own)
SINKS(common)

/* ------------------------------------------------------ out of a group -- */

/* Adds what the copies of a record hold, `at` bytes from its table's start on, to
 * the device's; a specialised program calls what its own record needs. */
#define EACH_COPY(statement)                                                 \
    for (u32 i_ = 0; i_ < LAUNCH->table_copies; i_++) {                      \
        const volatile LOCAL u64 *from =                                     \
            AT_own(i_ * LAUNCH->copy_bytes + at);                            \
        statement                                                            \
    }

/* The rows of a record: whether there are some. */
static u32 flush_head(struct machine *m, u32 at)
{
    u64 before = 0, rows = 0;
    EACH_COPY(before = from[0] > before ? from[0] : before;
              rows += from[1];)
    if (rows == 0)
        return 0;
    greater_common(AT_common(at), before);
    atom_add(AT_common(at) + 1, rows);
    return 1;
}

static void flush_COUNT(struct machine *m, u32 at)
{
    u64 count = 0;
    EACH_COPY(count += from[0];)
    add_common(AT_common(at), count);
}

static void flush_SUM_I32(struct machine *m, u32 at)
{
    u64 sum = 0;
    flush_COUNT(m, at);
    EACH_COPY(sum += from[1];)
    add_common(AT_common(at) + 1, sum);
}

static void flush_SUM_I64(struct machine *m, u32 at)
{
    u64 low = 0, high = 0;
    flush_COUNT(m, at);
    EACH_COPY(low += from[1];
              high += from[2] + (low < from[1]);)
    add_wide_common(AT_common(at) + 1, low, high);
}

static void flush_best(struct machine *m, u32 at)
{
    u64 best = 0;
    flush_COUNT(m, at);
    EACH_COPY(best = from[1] > best ? from[1] : best;)
    greater_common(AT_common(at) + 1, best);
}

#define flush_BEST_I32 flush_best
#define flush_BEST_I64 flush_best
#define flush_BEST_F32 flush_best
#define flush_BEST_F64 flush_best
