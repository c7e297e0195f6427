/* SPDX-License-Identifier: MIT */
/*
 * Refilled tiles: where a filter leaves few rows, most items of a work-group would
 * run what comes behind it for none. So the program is cut in two. What the first
 * part leaves waits in local memory until there are as many rows as all tiles of the
 * group have; then the rest runs over these, of which each item has as many
 * ("lane refill": Funke and Teubner, Data-Parallel Query Processing on Non-Uniform
 * Data, VLDB 2020). Only rows that are added to groups are so mixed: their order
 * does not matter.
 *
 * A row that waits is some words: its number in the launch, and the registers that
 * the rest reads. Words of one kind lie side by side. Columns are then read row by
 * row. Part of cl/column.cl.
 */
#if VDBQ_GROUP > 1 && defined(VDBQ_SPECIALISED)

/* So many steps are run before the group looks how many rows wait: for that its items
 * wait for one another. There is room for what these steps add to fewer rows than make
 * a tile of each item. */
#define WAIT_STEPS 2
#define WAITING_ROWS ((WAIT_STEPS + 1) * VDBQ_GROUP * VDBQ_TILE)

/* ---------------------------------------------------------- first part -- */

/* Finds places for the live rows. */
static void wait_begin(struct machine *m, i32 k)
{
    u32 count = 0;
    EACH count += LIVE;
    m->waiting_at = count > 0 ? atomic_add(&m->shared->waiting, count) : 0;
}

/* Keeps a word of each live row. */
#define WAIT_WORD(word, value)                                               \
    {                                                                        \
        LOCAL u32 *to = m->waiting + (word) * WAITING_ROWS + m->waiting_at;  \
        EACH if (LIVE) *to++ = (value);                                      \
    }

static void wait_number(struct machine *m, i32 k)
{
    WAIT_WORD(0, m->number[t])
}

static void wait_32(struct machine *m, i32 k, i32 a, u32 word)
{
    WAIT_WORD(word, (u32)A(I32))
}

static void wait_64(struct machine *m, i32 k, i32 a, u32 word)
{
    WAIT_WORD(word, (u32)A(I64))
    WAIT_WORD(word + 1, (u32)((u64)A(I64) >> 32))
}

/* ---------------------------------------------------------------- rest -- */

/* Of row t: where its words are. */
#define WAITS (m->waiting_at + (u32)t * VDBQ_GROUP)
#define TAKE_WORD(word) \
    (t < m->rows ? m->waiting[(word) * WAITING_ROWS + WAITS] : 0)

/* Takes the last of `count` rows that wait, but no more than fill the tiles. All
 * items call it. */
static void refill_begin(struct machine *m, u32 count, i32 first)
{
    const u32 most = VDBQ_GROUP * VDBQ_TILE;
    u32 from = count > most ? count - most : 0, left = count - from;
    if (m->item == 0)
        m->shared->waiting = from;
    m->refilled = 1;
    m->waiting_at = from + m->item;
    m->rows = left > m->item
                  ? (i32)((left - m->item + VDBQ_GROUP - 1) / VDBQ_GROUP)
                  : 0;
    EVERY m->pc[t] = t < m->rows ? first : NOWHERE;
    EVERY m->number[t] = TAKE_WORD(0);
}

static void take_32(struct machine *m, i32 a, u32 word)
{
    EVERY A(I32) = (I32)TAKE_WORD(word);
}

static void take_64(struct machine *m, i32 a, u32 word)
{
    EVERY A(I64) = (I64)((u64)TAKE_WORD(word + 1) << 32 | TAKE_WORD(word));
}

/* ------------------------------------------------------------- columns -- */

/* Of row t: its number in the morsel. */
#define PICKED (m->number[t] - m->first_step * (VDBQ_GROUP * VDBQ_TILE))

static u32 code_at(GLOBAL const u32 *words, u32 row, u32 bits)
{
    u32 at = row / PACKED_LANES * bits, lane = row % PACKED_LANES;
    u32 shift = at % 32, mask = 0xffffffffu >> (32 - bits);
    return CODE(words[PACKED_WORD(row, bits)],
                words[(at + bits - 1) / 32 * PACKED_LANES + lane]);
}

/* Values that are coded, of integers. U is the type T without a sign. */
#define REFILLED_CODED(T, U)                                                 \
    static void refilled_packed_##T(struct machine *m, i32 k, i32 a,         \
                                    GLOBAL const struct column_input *input) \
    {                                                                        \
        GLOBAL const u32 *words =                                            \
            (GLOBAL const u32 *)(m->data + input->values);                   \
        const u32 row = input->row, bits = input->bits;                      \
        const U base = (U)input->base;                                       \
        EACH A(T) =                                                          \
            LIVE ? (T)(base + code_at(words, row + PICKED, bits)) : 0;       \
    }                                                                        \
    static void refilled_runs_##T(struct machine *m, i32 k, i32 a,           \
                                  GLOBAL const struct column_input *input)   \
    {                                                                        \
        const u32 runs = (u32)input->base, row = input->row;                 \
        GLOBAL const u8 *area = m->data + input->values;                     \
        GLOBAL const struct run_head *heads =                                \
            (GLOBAL const struct run_head *)(area +                          \
                                             RUNS_VALUES(runs, sizeof(T)));  \
        EACH {                                                               \
            u32 at = row + PICKED;                                           \
            u32 starts = pick_u32(LIVE, &heads->starts, 2 * (at / RUN_ROWS)); \
            u32 before = pick_u32(LIVE, &heads->before, 2 * (at / RUN_ROWS)); \
            u32 run = run_of(starts, before, at % RUN_ROWS, runs);           \
            A(T) = pick_##T(LIVE, (GLOBAL const T *)area, run);              \
        }                                                                    \
    }

REFILLED_CODED(I32, u32)
REFILLED_CODED(I64, u64)
/* Floats never are. */
#define refilled_packed_F32(m, k, a, input)
#define refilled_packed_F64(m, k, a, input)
#define refilled_runs_F32(m, k, a, input)
#define refilled_runs_F64(m, k, a, input)

#define REFILLED_LOAD(T, BITS)                                               \
    static void refilled_##T(struct machine *m, i32 k, i32 a, u32 encoding,  \
                             GLOBAL const struct column_input *input)        \
    {                                                                        \
        GLOBAL const T *values = (GLOBAL const T *)(m->data + input->values); \
        const i64 base = input->base;                                        \
        if (encoding == ENCODING_PLAIN)                                      \
            EACH A(T) = pick_##T(LIVE, values, PICKED);                      \
        if (encoding == ENCODING_SEQUENCE)                                   \
            EACH A(T) = (T)(base + (i64)PICKED);                             \
        if (encoding == ENCODING_CONSTANT)                                   \
            EACH A(BITS) = (BITS)base;                                       \
        if (encoding == ENCODING_PACKED)                                     \
            refilled_packed_##T(m, k, a, input);                             \
        if (encoding == ENCODING_RUNS)                                       \
            refilled_runs_##T(m, k, a, input);                               \
    }

REFILLED_LOAD(I32, I32)
REFILLED_LOAD(I64, I64)
REFILLED_LOAD(F32, I32)
REFILLED_LOAD(F64, I64)

/* NULL flags, a byte or a bit each. */
static void refilled_null(struct machine *m, i32 k, i32 a, i32 bytes,
                          GLOBAL const u8 *flags)
{
    EACH {
        u32 byte = pick_u8(LIVE, flags, bytes ? PICKED : PICKED / 8);
        A(I32) = bytes ? byte != 0 : byte >> PICKED % 8 & 1;
    }
}

#else
#define refilled_I32(m, k, a, encoding, input)
#define refilled_I64(m, k, a, encoding, input)
#define refilled_F32(m, k, a, encoding, input)
#define refilled_F64(m, k, a, encoding, input)
#define refilled_null(m, k, a, bytes, flags)
#endif
