/* SPDX-License-Identifier: MIT */
/*
 * Opcodes over inner rows: they are found by a key and read by their numbers.
 * Part of cl/ops.cl.
 */

/* The row of a key, from a dense index; -1: there is none. */
static i32 find_dense(GLOBAL const u8 *inner,
                      GLOBAL const struct key_index *index, i64 key)
{
    GLOBAL const u32 *slots = (GLOBAL const u32 *)(inner + index->slots);
    u64 at = (u64)key - (u64)index->base;
    return at < index->count ? (i32)slots[at] - 1 : -1;
}

/* The same from a hashed one, whose slots are sought from the one behind the
 * first on; that and the key of its row were looked at already. A slot whose
 * tag fits has the key, if it is of 32 bits; else the key itself tells. */
static i32 find_hashed(GLOBAL const u64 *slots, GLOBAL const i64 *keys,
                       u64 mask, i64 key, u32 tag, i32 wide)
{
    for (u64 at = key_hash((u64)key) + 1;; at++) {
        u64 slot = slots[at & mask];
        i32 row = (i32)(u32)slot - 1;
        if (row < 0 || ((u32)(slot >> 32) == tag &&
                        (!wide || keys[row] == key)))
            return row;
    }
}

/* The tile's loads do not wait for one another: first come all slots, then the
 * keys of rows whose tags fit, and only then, for few rows, further slots. */
#define PROBE(T, TAG, wide)                                           \
    static void probe_hashed_##T(struct machine *m, i32 k, i32 a, i32 b,     \
                                 GLOBAL const struct key_index *index)       \
    {                                                                        \
        GLOBAL const u64 *slots =                                            \
            (GLOBAL const u64 *)(m->inner + index->slots);                   \
        GLOBAL const i64 *keys =                                             \
            (GLOBAL const i64 *)(m->inner + index->keys);                    \
        u64 mask = index->count - 1, first[VDBQ_TILE];                       \
        i32 fits[VDBQ_TILE];                                                 \
        EACH first[t] =                                                      \
            LIVE ? slots[key_hash((u64)(i64)B(T)) & mask] : 0;               \
        EACH {                                                               \
            i32 row = (i32)(u32)first[t] - 1;                                \
            fits[t] = row < 0 || (u32)(first[t] >> 32) == TAG(B(T));         \
            if (wide && fits[t] && row >= 0)                                 \
                fits[t] = keys[row] == (i64)B(T);                            \
            A(I32) = row;                                                    \
        }                                                                    \
        EACH {                                                               \
            if (!fits[t])                                                    \
                A(I32) = find_hashed(slots, keys, mask, B(T), TAG(B(T)),     \
                                     wide);                                  \
        }                                                                    \
    }                                                                        \
    OP(PROBE_##T)                                                            \
    {                                                                        \
        NO_C;                                                                \
        GLOBAL const struct key_index *index = m->indexes + d;               \
        if (index->kind == INDEX_DENSE) {                                    \
            EACH A(I32) = LIVE ? find_dense(m->inner, index, B(T)) : -1;     \
        } else {                                                             \
            probe_hashed_##T(m, k, a, b, index);                             \
        }                                                                    \
    }
#define TAG_I32(key) (u32)(key)
#define TAG_I64(key) key_tag((u64)(key))

PROBE(I32, TAG_I32, 0)
PROBE(I64, TAG_I64, 1)
OP(PROBE_WORD) { op_PROBE_I32(m, k, a, b, c, d); }

/* Rows that are not live, and those without a row, are not worth the way to
 * memory. */
#define COLUMN_AT(T)                                                         \
    OP(COLUMN_AT_##T)                                                        \
    {                                                                        \
        NO_C;                                                                \
        GLOBAL const T *values =                                             \
            (GLOBAL const T *)(m->inner + m->inner_feeds[b].values);         \
        EACH {                                                               \
            i32 row = D(I32);                                                \
            A(T) = row >= 0 && LIVE ? values[row] : 0;                       \
        }                                                                    \
    }

COLUMN_AT(I32)
COLUMN_AT(I64)
COLUMN_AT(F32)
COLUMN_AT(F64)

/* The number that a code stands for. */
static i32 rank_of(GLOBAL const struct lookup *ranks, i32 code)
{
    GLOBAL const i32 *values = (GLOBAL const i32 *)(ranks + 1);
    return (u32)code < ranks->count ? values[(u32)code] : 0;
}

OP(COLUMN_AT_WORD)
{
    u64 at = m->inner_feeds[b].ranks;
    GLOBAL const struct lookup *ranks =
        (GLOBAL const struct lookup *)(m->control + at);
    op_COLUMN_AT_I32(m, k, a, b, c, d);
    if (at != 0) {
        EACH A(I32) = D(I32) >= 0 && LIVE ? rank_of(ranks, A(I32)) : 0;
    }
}

OP(COLUMN_AT_NULL)
{
    NO_C;
    u64 nulls = m->inner_feeds[b].nulls;
    GLOBAL const u8 *flags = m->inner + nulls;
    EACH {
        i32 row = D(I32);
        A(I32) = row < 0 || (nulls != 0 && LIVE && flags[row] != 0);
    }
}
