/* SPDX-License-Identifier: MIT */
/*
 * Opcodes over build rows: they are found by a key and read by their numbers.
 * Part of cl/ops.cl.
 */

/* Few rows are found one by one. */
#if VDBQ_GROUP > 1
#define FIND_FEW(found)
#else
#define FIND_FEW(found)                                                      \
    if (few_live(m, k)) {                                                    \
        EACH_LISTED(A(I32) = found;)                                         \
        return;                                                              \
    }
#endif

/* Finds the rows of the tile's keys in a dense index, or their ranks in a bitmap
 * index. Slots of the first and keys of the second are counted in 31 bits, and the
 * base is of the keys' type T; U is T without a sign. */
#ifdef __OPENCL_C_VERSION__
#define PROBE_DENSE(T, U)                                                    \
    static void probe_dense_##T(struct machine *restrict m, i32 k, i32 a,    \
                                i32 b, GLOBAL const u32 *restrict slots,     \
                                U base, U count)                             \
    {                                                                        \
        DEAR({                                                               \
            U at = (U)B(T) - base;                                           \
            A(I32) = (i32)pick_u32(LIVE && at < count, slots,                \
                                   (u64)(i32)at) - 1;                        \
        })                                                                   \
    }
#define PROBE_RANKS(T, U)                                                    \
    static void probe_ranks_##T(struct machine *restrict m, i32 k, i32 a,    \
                                i32 b, GLOBAL const u64 *restrict slots,     \
                                U base, U count)                             \
    {                                                                        \
        DEAR({                                                               \
            U at = (U)B(T) - base;                                           \
            u64 slot = pick_u64(LIVE && at < count, slots,                   \
                                (u64)(i32)(at / BITMAP_KEYS));               \
            u32 bits = (u32)slot;                                            \
            u32 bit = 1u << (u32)(at % BITMAP_KEYS);                         \
            u32 rank = (u32)(slot >> 32) + (u32)popcount(bits & (bit - 1));  \
            A(I32) = (bits & bit) != 0 ? (i32)rank : -1;                     \
        })                                                                   \
    }
#else
/* The host's CPU guesses branches, and mostly wrong where keys differ, so none
 * depends on a key: what is -1 where a condition does not hold is made by an OR,
 * since all bits of -1 are set. Few keys are found in one go; else all places come
 * first, as gcc makes vectors of simple loops alone. */

#define OUTLINE __attribute__((noinline))

/* How many bits are set. Compilers that know popcount() make no vectors of it for a
 * CPU that counts words one at a time, and they know its usual last step as well,
 * which is a multiplication. */
static u32 count_bits(u32 bits)
{
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f;
    bits += bits >> 8;
    return (bits + (bits >> 16)) & 63;
}

/* values[at], or the first one where `at` is -1: there is memory for it even where
 * there are no values. */
#define VALUE_AT(values, at) (values)[(at) & ~((at) >> 31)]

/* The row of the key at place `at` of a dense index; of place -1, -1, whatever the
 * first value is. */
static i32 dense_row(const u32 *restrict slots, i32 at)
{
    return (i32)(VALUE_AT(slots, at) - 1) | at >> 31;
}

/* The slot of a bitmap index with the bit of place `at`; and a slot's bits such that
 * this one is the highest, and those of lesser keys lie below. */
#define BITMAP_SLOT(slots, at) VALUE_AT(slots, (at) >> BITMAP_SHIFT)
#define BITS_UP_TO(slot, at) \
    ((u32)(slot) << (BITMAP_KEYS - 1 - (u32)(at) % BITMAP_KEYS))

/* A rank where the highest of the bits is set and the place is one; else -1. */
static i32 rank_if(u32 rank, u32 bits, i32 at)
{
    i32 there = (i32)bits >> 31 & ~(at >> 31);
    return (i32)(rank & (u32)there) | ~there;
}

/* The rank of the key at place `at`; -1: it is not there. */
static i32 bitmap_rank(const u64 *restrict slots, i32 at)
{
    u64 slot = BITMAP_SLOT(slots, at);
    u32 bits = BITS_UP_TO(slot, at);
    return rank_if((u32)(slot >> 32) + (u32)popcount(bits << 1), bits, at);
}

/* Likewise of all places, which r[a] has. That these are functions of their own
 * tells gcc that slots and registers lie apart. */
static OUTLINE void dense_places(struct machine *restrict m, i32 a,
                                 const u32 *restrict slots)
{
    EACH A(I32) = dense_row(slots, A(I32));
}

static OUTLINE void rank_places(struct machine *restrict m, i32 a,
                                const u64 *restrict slots)
{
    u32 bits[VDBQ_TILE], before[VDBQ_TILE];
    EACH {
        i32 at = A(I32);
        u64 slot = BITMAP_SLOT(slots, at);
        bits[t] = BITS_UP_TO(slot, at);
        before[t] = (u32)(slot >> 32);
    }
    EACH A(I32) = rank_if(before[t] + count_bits(bits[t] << 1), bits[t], A(I32));
}

/* A key's place, or -1. */
#define PLACE(T, U)                                                          \
    static i32 place_##T(T key, U base, U count)                             \
    {                                                                        \
        U at = (U)key - base;                                                \
        return (i32)at | -(i32)(at >= count);                                \
    }

PLACE(I32, u32)
PLACE(I64, u64)

#define PROBE_DENSE(T, U)                                                    \
    static void probe_dense_##T(struct machine *restrict m, i32 k, i32 a,    \
                                i32 b, const u32 *restrict slots, U base,    \
                                U count)                                     \
    {                                                                        \
        FIND_FEW(dense_row(slots, place_##T(B(T), base, count)))             \
        EACH A(I32) = LIVE ? place_##T(B(T), base, count) : -1;              \
        dense_places(m, a, slots);                                           \
    }
#define PROBE_RANKS(T, U)                                                    \
    static void probe_ranks_##T(struct machine *restrict m, i32 k, i32 a,    \
                                i32 b, const u64 *restrict slots, U base,    \
                                U count)                                     \
    {                                                                        \
        FIND_FEW(bitmap_rank(slots, place_##T(B(T), base, count)))           \
        EACH A(I32) = LIVE ? place_##T(B(T), base, count) : -1;              \
        rank_places(m, a, slots);                                            \
    }
#endif

PROBE_DENSE(I32, u32)
PROBE_DENSE(I64, u64)
PROBE_RANKS(I32, u32)
PROBE_RANKS(I64, u64)

/* Likewise in a dense index with a filter, which few of the keys pass: only their
 * slots are read. */
#if VDBQ_GROUP > 1
#define PROBE_NEAR(T, U)                                                     \
    static void probe_near_##T(struct machine *restrict m, i32 k, i32 a,     \
                               i32 b, i32 tested,                            \
                               GLOBAL const u32 *restrict slots, U base,     \
                               U count)                                      \
    {                                                                        \
        GLOBAL const u32 *restrict filter = slots + count;                   \
        EACH {                                                               \
            U at = (U)B(T) - base;                                           \
            u32 word = pick_u32(LIVE && at < count, filter, at / 32);        \
            A(I32) = (i32)(word >> (u32)(at % 32) & 1);                      \
        }                                                                    \
        EACH {                                                               \
            i32 there = A(I32);                                              \
            u32 entry = tested ? (u32)there                                  \
                               : pick_u32(there != 0, slots,                 \
                                          (u64)(i32)((U)B(T) - base));       \
            A(I32) = (i32)entry - 1;                                         \
        }                                                                    \
    }

PROBE_NEAR(I32, u32)
PROBE_NEAR(I64, u64)
#define IF_NEAR(T, U)                                                        \
    if (index.kind == INDEX_DENSE && index.filtered)                         \
        probe_near_##T(m, k, a, b, c == PROBE_TESTED,                        \
                       (GLOBAL const u32 *)slots, (U)index.base,             \
                       (U)index.count);                                      \
    else
#else
#define IF_NEAR(T, U)
#endif

/* Finds the rows of the tile's keys in a bitmap index: first their ranks, then,
 * unless these are the rows, the rows of those that are there; where these are
 * only tested, 0 for all that are there. `count` keys have a bit, of which the
 * slots start with 32; base and U are as above. */
#define PROBE_BITMAP(T, U)                                                   \
    static void probe_tested_##T(struct machine *restrict m, i32 k, i32 a,   \
                                 i32 b, GLOBAL const u32 *restrict words,    \
                                 U base, U count)                            \
    {                                                                        \
        DEAR({                                                               \
            U at = (U)B(T) - base;                                           \
            u32 bits = pick_u32(LIVE && at < count, words,                   \
                                (u64)(i32)((u32)(at / BITMAP_KEYS) * 2));    \
            A(I32) = (i32)(bits >> (u32)(at % BITMAP_KEYS) & 1) - 1;         \
        })                                                                   \
    }                                                                        \
    static void probe_bitmap_##T(struct machine *restrict m, i32 k, i32 a,   \
                                 i32 b, GLOBAL const u64 *restrict slots,    \
                                 U base, U count, i32 in_order)              \
    {                                                                        \
        GLOBAL const I32 *restrict rows = (GLOBAL const I32 *)(              \
            slots + ((u64)count + BITMAP_KEYS - 1) / BITMAP_KEYS);           \
        probe_ranks_##T(m, k, a, b, slots, base, count);                     \
        if (in_order)                                                        \
            return;                                                          \
        DEAR({                                                               \
            i32 rank = A(I32);                                               \
            I32 row = pick_I32(rank >= 0, rows, (u64)rank);                  \
            A(I32) = rank >= 0 ? row : -1;                                   \
        })                                                                   \
    }

PROBE_BITMAP(I32, u32)
PROBE_BITMAP(I64, u64)

/* The row of a key, from a hashed index, whose slots are sought from the
 * first on, or from one behind it if those before and the keys of their rows
 * were looked at already. A slot whose tag fits has the key, if it is of 32
 * bits; else the key itself tells. */
static i32 find_hashed(GLOBAL const u64 *slots, GLOBAL const i64 *keys,
                       u64 mask, i64 key, u32 tag, i32 wide, u64 behind)
{
    for (u64 at = hash_key((u64)key) + behind;; at++) {
        u64 slot = slots[at & mask];
        i32 row = (i32)(u32)slot - 1;
        if (row < 0 || ((u32)(slot >> 32) == tag &&
                        (!wide || keys[row] == key)))
            return row;
    }
}

/* Finds the rows of the tile's keys in a hashed index. The loads do not wait
 * for one another: first come all slots, then the keys of rows whose tags fit,
 * and only then, for few rows, further slots. */
#define PROBE_HASHED(T, TAG, wide)                                           \
    static void probe_hashed_##T(struct machine *restrict m, i32 k, i32 a,   \
                                 i32 b, GLOBAL const u64 *restrict slots,    \
                                 GLOBAL const i64 *restrict keys, u64 mask)  \
    {                                                                        \
        u64 first[VDBQ_TILE];                                                \
        i32 late = 0;                                                        \
        FIND_FEW(find_hashed(slots, keys, mask, B(T), TAG(B(T)), wide, 0))   \
        EACH first[t] =                                                      \
            pick_u64(LIVE, slots, hash_key((u64)(i64)B(T)) & mask);       \
        EACH {                                                               \
            i32 row = (i32)(u32)first[t] - 1;                                \
            i32 fits = (u32)(first[t] >> 32) == TAG(B(T));                   \
            i32 seek = wide && fits && row >= 0;                             \
            if (wide)                                                        \
                fits = seek && pick_I64(seek, keys, (u64)row) ==          \
                                   (i64)B(T);                                \
            row = (fits | (row < 0)) ? row : LATE;                           \
            late |= row == LATE;                                             \
            A(I32) = row;                                                    \
        }                                                                    \
        if (!late)                                                           \
            return;                                                          \
        EACH {                                                               \
            if (A(I32) == LATE)                                              \
                A(I32) = find_hashed(slots, keys, mask, B(T), TAG(B(T)),     \
                                     wide, 1);                               \
        }                                                                    \
    }
#define LATE (-2) /* the row is sought, or is sought in further slots */
#define TAG_I32(key) (u32)(key)
#define TAG_I64(key) hash_tag((u64)(key))

PROBE_HASHED(I32, TAG_I32, 0)
PROBE_HASHED(I64, TAG_I64, 1)

#if VDBQ_GROUP == 1
/* Lists the rows of the tile that are late, if these are few: how many. Who is
 * live is not listed then. */
static i32 list_late(struct machine *m, i32 a)
{
    union live_flags late;
    i32 count = 0;
    late.eight[VDBQ_TILE / 8] = 0;
    EVERY {
        i32 is = (t < m->rows) & (A(I32) == LATE);
        late.each[t] = (u8)is;
        count += is;
    }
    if (count >= m->rows / FEW_SHARE)
        return count;
    list_flags(&late, (u32)m->rows, m->kept);
    m->listed = 0;
    return count;
}

/* Finds the rows of the tile's keys in a hashed index with a filter: few of
 * those that it lets through are sought one by one, where mostly none of the
 * slots is another key's. */
#define PROBE_FILTERED(T, TAG, wide)                                         \
    static void probe_filtered_##T(struct machine *restrict m, i32 k, i32 a, \
                                   i32 b, GLOBAL const u64 *restrict slots,  \
                                   GLOBAL const i64 *restrict keys,          \
                                   u64 mask)                                 \
    {                                                                        \
        GLOBAL const u32 *restrict filter =                                  \
            (GLOBAL const u32 *)(slots + mask + 1);                          \
        DEAR({                                                               \
            u64 hash = hash_key((u64)(i64)B(T));                             \
            u32 word = pick_u32(LIVE, filter, (hash & mask) / FILTER_SLOTS); \
            A(I32) = (word >> FILTER_BIT(hash, hash) & 1) != 0 ? LATE : -1;  \
        })                                                                   \
        i32 few = few_live(m, k);                                            \
        i32 count = few ? m->live : list_late(m, a);                         \
        if (!few && count >= m->rows / FEW_SHARE) {                          \
            probe_hashed_##T(m, k, a, b, slots, keys, mask);                 \
            return;                                                          \
        }                                                                    \
        for (i32 i = 0; i < count; i++) {                                    \
            i32 t = (i32)m->kept[i];                                         \
            if (A(I32) == LATE)                                              \
                A(I32) = find_hashed(slots, keys, mask, B(T), TAG(B(T)),     \
                                     wide, 0);                               \
        }                                                                    \
    }

PROBE_FILTERED(I32, TAG_I32, 0)
PROBE_FILTERED(I64, TAG_I64, 1)
#define IF_FILTERED(T)                                                       \
    else if (index.filtered)                                                 \
        probe_filtered_##T(m, k, a, b, (GLOBAL const u64 *)slots,            \
                           (GLOBAL const i64 *)(m->build_side + index.keys), \
                           index.count - 1);
#else
#define IF_FILTERED(T)
#endif

#define PROBE(T, U)                                                          \
    OP(PROBE_##T)                                                            \
    {                                                                        \
        struct key_index index = m->indexes[d];                              \
        GLOBAL const u8 *slots = m->build_side + index.slots;                     \
        if (!some_live(m, k))                                                \
            return;                                                          \
        IF_NEAR(T, U)                                                        \
        if (index.kind == INDEX_DENSE)                                       \
            probe_dense_##T(m, k, a, b, (GLOBAL const u32 *)slots,           \
                            (U)index.base, (U)index.count);                  \
        else if (index.kind == INDEX_BITMAP && c == PROBE_TESTED)            \
            probe_tested_##T(m, k, a, b, (GLOBAL const u32 *)slots,          \
                             (U)index.base, (U)index.count);                 \
        else if (index.kind == INDEX_BITMAP)                                 \
            probe_bitmap_##T(m, k, a, b, (GLOBAL const u64 *)slots,          \
                             (U)index.base, (U)index.count,                  \
                             (i32)index.in_order);                           \
        IF_FILTERED(T)                                                       \
        else                                                                 \
            probe_hashed_##T(m, k, a, b, (GLOBAL const u64 *)slots,          \
                             (GLOBAL const i64 *)(m->build_side + index.keys),    \
                             index.count - 1);                               \
    }

PROBE(I32, u32)
PROBE(I64, u64)
OP(PROBE_WORD) { op_PROBE_I32(m, k, a, b, c, d); }

/* Rows that are not live, and those without a row, are not worth the way to
 * memory. */
#define COLUMN_AT(T)                                                         \
    static void read_at_##T(struct machine *restrict m, i32 k, i32 a, i32 d, \
                            GLOBAL const T *restrict values)                 \
    {                                                                        \
        DEAR({                                                               \
            i32 row = D(I32);                                                \
            A(T) = pick_##T(row >= 0 && LIVE, values, (u64)row);             \
        })                                                                   \
    }                                                                        \
    OP(COLUMN_AT_##T)                                                        \
    {                                                                        \
        NO_C;                                                                \
        u64 values = m->build_inputs[b].values;                              \
        if (some_live(m, k))                                                 \
            read_at_##T(m, k, a, d, (GLOBAL const T *)(m->build_side + values));  \
    }

COLUMN_AT(I32)
COLUMN_AT(I64)
COLUMN_AT(F32)
COLUMN_AT(F64)

OP(COLUMN_AT_WORD)
{
    u64 at = m->build_inputs[b].order_codes;
    GLOBAL const struct lookup *order_codes =
        (GLOBAL const struct lookup *)(m->control + at);
    GLOBAL const i32 *values = (GLOBAL const i32 *)(order_codes + 1);
    op_COLUMN_AT_I32(m, k, a, b, c, d);
    if (at == 0)
        return;
    u32 count = order_codes->count;
    DEAR({
        u32 code = (u32)A(I32);
        i32 there = D(I32) >= 0 && LIVE && code < count;
        A(I32) = pick_I32(there, values, code);
    })
}

OP(COLUMN_AT_NULL)
{
    NO_C;
    u64 nulls = m->build_inputs[b].nulls;
    GLOBAL const u8 *flags = m->build_side + nulls;
    DEAR({
        i32 row = D(I32);
        i32 there = row >= 0 && nulls != 0 && LIVE;
        A(I32) = row < 0 || pick_u8(there, flags, (u64)row) != 0;
    })
}
