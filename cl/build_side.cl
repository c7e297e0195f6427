/* SPDX-License-Identifier: MIT */
/*
 * Opcodes over build rows: they are found by a key and read by their numbers.
 * Part of cl/ops.cl.
 */

/* Finds the rows of the tile's keys in a dense index. Its slots are counted in
 * 31 bits, and its base is of the keys' type T; U is T without a sign. */
#define PROBE_DENSE(T, U)                                                    \
    static void probe_dense_##T(struct machine *restrict m, i32 k, i32 a,    \
                                i32 b, GLOBAL const u32 *restrict slots,     \
                                U base, U count)                             \
    {                                                                        \
        EACH {                                                               \
            U at = (U)B(T) - base;                                           \
            A(I32) = (i32)pick_u32(LIVE && at < count, slots,             \
                                    (u64)(i32)at) - 1;                       \
        }                                                                    \
    }

PROBE_DENSE(I32, u32)
PROBE_DENSE(I64, u64)

/* The row of a key, from a hashed index, whose slots are sought from the one
 * behind the first on; that and the key of its row were looked at already. A
 * slot whose tag fits has the key, if it is of 32 bits; else the key itself
 * tells. */
static i32 find_hashed(GLOBAL const u64 *slots, GLOBAL const i64 *keys,
                       u64 mask, i64 key, u32 tag, i32 wide)
{
    for (u64 at = hash_key((u64)key) + 1;; at++) {
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
                                     wide);                                  \
        }                                                                    \
    }
#define LATE (-2) /* the row is sought in further slots */
#define TAG_I32(key) (u32)(key)
#define TAG_I64(key) hash_tag((u64)(key))

PROBE_HASHED(I32, TAG_I32, 0)
PROBE_HASHED(I64, TAG_I64, 1)

#define PROBE(T, U)                                                          \
    OP(PROBE_##T)                                                            \
    {                                                                        \
        NO_C;                                                                \
        struct key_index index = m->indexes[d];                              \
        GLOBAL const u8 *slots = m->build_side + index.slots;                     \
        if (!some_live(m, k))                                                \
            return;                                                          \
        if (index.kind == INDEX_DENSE)                                       \
            probe_dense_##T(m, k, a, b, (GLOBAL const u32 *)slots,           \
                            (U)index.base, (U)index.count);                  \
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
        EACH {                                                               \
            i32 row = D(I32);                                                \
            A(T) = pick_##T(row >= 0 && LIVE, values, (u64)row);          \
        }                                                                    \
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
    EACH {
        u32 code = (u32)A(I32);
        i32 there = D(I32) >= 0 && LIVE && code < count;
        A(I32) = pick_I32(there, values, code);
    }
}

OP(COLUMN_AT_NULL)
{
    NO_C;
    u64 nulls = m->build_inputs[b].nulls;
    GLOBAL const u8 *flags = m->build_side + nulls;
    EACH {
        i32 row = D(I32), there = row >= 0 && nulls != 0 && LIVE;
        A(I32) = row < 0 || pick_u8(there, flags, (u64)row) != 0;
    }
}
