/* SPDX-License-Identifier: MIT */
/*
 * Columns of the rows that the program runs over, from where the launch's
 * inputs say. Of operand d a specialised program has what is known before a
 * launch (LOAD_... of cl/launch.h); an interpreted one has 0. Part of
 * cl/ops.cl.
 */

/* Whether some row of the tile is live, so that its column is worth the way
 * to memory. */
static i32 some_live(struct machine *m, i32 k)
{
#if VDBQ_GROUP > 1
    i32 live = 0;
    EVERY live |= LIVE;
    return live;
#else
    return live_rows(m, k) > 0;
#endif
}

/* Whether a load is to be made: at once where the program is made so, since
 * then it need not wait for what decides who is live. */
static i32 wanted(struct machine *m, i32 k, i32 d)
{
    return (d & LOAD_EAGER) != 0 || some_live(m, k);
}

/* How the values of an input are stored. */
static u32 encoding_of(GLOBAL const struct column_input *input, i32 d)
{
    u32 known = (u32)d & LOAD_ENCODING;
    return known != 0 ? known - 1 : input->encoding;
}

/* values[at] where `there`, else 0: what is not there costs no way to memory.
 * (H200, SSB: a load of something else instead, so that there is no branch,
 * makes probes 10 to 15 % slower.) */
#define PICK(T)                                                              \
    static T pick_##T(i32 there, GLOBAL const T *values, u64 at)             \
    {                                                                        \
        return there ? values[at] : 0;                                       \
    }

PICK(u8)
PICK(u32)
PICK(u64)
PICK(I32)
PICK(I64)
PICK(F32)
PICK(F64)

/* Has the next tile's values, `width` bytes each, come from memory while this
 * one is worked on; what lies behind the last tile's is not touched. */
static void fetch_next(const struct machine *m, GLOBAL const u8 *values,
                       u32 width)
{
    u32 bytes = VDBQ_TILE * width;
    if (m->rows == VDBQ_TILE)
        for (u32 at = bytes; at < 2 * bytes; at += 64)
            FETCH(values + at);
}

#if VDBQ_GROUP > 1
/* Has the values of the group's next step come, `bits` a row: what this item is to
 * read of them, so many bytes, lies as far behind what it reads now. */
static void fetch_ahead(const struct machine *m, GLOBAL const u8 *values, u32 bits,
                        u32 bytes)
{
    const u32 sector = 32;
    if (m->ahead)
        for (u32 at = 0; at < bytes; at += sector)
            FETCH_AHEAD(values + VDBQ_GROUP * VDBQ_TILE / 8 * bits + at);
}
#define FETCH_CODES(from) fetch_ahead(m, (GLOBAL const u8 *)(from), bits, 1);
#else
#define FETCH_CODES(from)
#endif

/* What lies side by side for the rows of a tile: a GPU loads it in one go, with
 * rows that do not exist, for the area that the first one lies in ends at a
 * multiple of 64 bytes. WORD is OpenCL's name of the type. */
#if VDBQ_GROUP > 1 && (VDBQ_TILE == 2 || VDBQ_TILE == 4 || VDBQ_TILE == 8)
#define JOIN_WORDS(x, y) x##y
#define JOIN(x, y) JOIN_WORDS(x, y)
#define LOAD_TILE(WORD, from, to)                                            \
    JOIN(vstore, VDBQ_TILE)(*(GLOBAL const JOIN(WORD, VDBQ_TILE) *)(from), 0, \
                            to)
#define PLAIN(T, WORD)                                                       \
    fetch_ahead(m, (GLOBAL const u8 *)values, 8 * sizeof *values,            \
                VDBQ_TILE * sizeof *values);                                 \
    LOAD_TILE(WORD, values, m->r[a].T);
#define PACKED_WORDS(name, from)                                             \
    u32 name[VDBQ_TILE];                                                     \
    LOAD_TILE(uint, from, name);
#else
#define PLAIN(T, WORD)                                                       \
    fetch_next(m, (GLOBAL const u8 *)values, sizeof *values);                \
    EACH_EXISTING A(T) = values[t];
#define PACKED_WORDS(name, from) GLOBAL const u32 *restrict name = from;
#endif

/* A code (packed_code() of cl/tablet.h): a GPU shifts two words at once. */
#if VDBQ_GROUP > 1
#define CODE(first, last)                                                    \
    ((u32)(((u64)(last) << 32 | (first)) >> shift) & mask)
#else
#define CODE(first, last) packed_code(first, last, shift, mask)
#endif

/* The word in which the code of a row begins. */
#define PACKED_WORD(row, bits)                                               \
    ((row) / PACKED_LANES * (bits) / 32 * PACKED_LANES + (row) % PACKED_LANES)

/* The codes of PACKED_LANES neighbouring rows, or of some of them, each with
 * the base added: `count` rows from `row` on. U is the type T without a sign. */
#define UNPACK(T, U)                                                         \
    static void unpack_lanes_##T(T *restrict to, i32 count, u32 row,         \
                                 GLOBAL const u32 *restrict words, u32 bits, \
                                 U base)                                     \
    {                                                                        \
        u32 at = row / PACKED_LANES * bits, lane = row % PACKED_LANES;       \
        u32 shift = at % 32, mask = 0xffffffffu >> (32 - bits);              \
        PACKED_WORDS(first, words + PACKED_WORD(row, bits))                  \
        PACKED_WORDS(last, words + (at + bits - 1) / 32 * PACKED_LANES +     \
                               lane)                                         \
        if (VDBQ_GROUP == 1 && shift + bits <= 32)                           \
            VECTORS for (i32 i = 0; i < count; i++)                          \
                to[i] = (T)(base + (first[i] >> shift & mask));              \
        else                                                                 \
            VECTORS for (i32 i = 0; i < count; i++)                          \
                to[i] = (T)(base + CODE(first[i], last[i]));                 \
    }                                                                        \
    static void packed_##T(struct machine *restrict m, i32 a,                \
                           GLOBAL const struct column_input *input)          \
    {                                                                        \
        GLOBAL const u32 *words =                                            \
            (GLOBAL const u32 *)(m->data + input->values);                   \
        const u32 row = input->row + (u32)m->row, bits = input->bits;        \
        const U base = (U)input->base;                                       \
        FETCH_CODES(words + PACKED_WORD(row, bits))                          \
        UNPACK_TILE(unpack_lanes_##T, m->r[a].T)                             \
    }
/* A tile starts at a multiple of its size, so it is some whole runs of
 * lanes, or a part of one: a lane's word is there for all of them, whether
 * the row exists or not. Tiles of any other size go row by row. */
#if VDBQ_TILE % PACKED_LANES == 0
#define UNPACK_TILE(lanes, to)                                               \
    for (i32 t = 0, rows = m->rows; t < rows; t += PACKED_LANES)             \
        lanes((to) + t, PACKED_LANES, row + (u32)t, words, bits, base);
#elif PACKED_LANES % VDBQ_TILE == 0
#define UNPACK_TILE(lanes, to) lanes(to, VDBQ_TILE, row, words, bits, base);
#else
#define UNPACK_TILE(lanes, to)                                               \
    EACH_EXISTING lanes((to) + t, 1, row + (u32)t, words, bits, base);
#endif

UNPACK(I32, u32)
UNPACK(I64, u64)
/* Floats are never packed. */
#define packed_F32(m, a, input) UNUSED(m)
#define packed_F64(m, a, input) UNUSED(m)

/* Decodes a column of runs (cl/tablet.h).
 *
 * Where a tile is whole groups of RUN_ROWS rows, as on a CPU, all rows of a
 * group get the value of the run that goes on, then those from each start on
 * that of the next: the loops over rows have no condition but a comparison, so
 * that they become vectors. Else every row counts the starts up to it. */
#if VDBQ_TILE % RUN_ROWS == 0
#define FILL_RUNS(T)                                                         \
    static void fill_runs_##T(T *restrict to, GLOBAL const T *values,        \
                              u32 starts, u32 run, u32 runs)                 \
    {                                                                        \
        T value = values[run_clamp(run + (starts & 1) - 1, runs)];           \
        run += starts & 1;                                                   \
        VECTORS for (i32 i = 0; i < RUN_ROWS; i++)                           \
            to[i] = value;                                                   \
        for (starts &= ~1u; starts != 0; starts &= starts - 1) {             \
            i32 first = (i32)bits_count((starts & (0u - starts)) - 1);       \
            value = values[run_clamp(run++, runs)];                          \
            VECTORS for (i32 i = 0; i < RUN_ROWS; i++)                       \
                to[i] = i >= first ? value : to[i];                          \
        }                                                                    \
    }
#define RUNS_TILE(T)                                                         \
    for (i32 t = 0, rows = m->rows; t < rows; t += RUN_ROWS) {               \
        GLOBAL const struct run_head *head = heads + (row + t) / RUN_ROWS;   \
        fill_runs_##T(m->r[a].T + t, values, head->starts, head->before,     \
                      runs);                                                 \
    }
#else
#define FILL_RUNS(T)
#if RUN_ROWS % VDBQ_TILE == 0
#define RUN_HEAD heads[row / RUN_ROWS] /* one for the whole tile */
#else
#define RUN_HEAD heads[(row + t) / RUN_ROWS]
#endif
#define RUNS_TILE(T)                                                         \
    EACH_EXISTING A(T) = values[run_of(RUN_HEAD.starts, RUN_HEAD.before,     \
                                       (row + t) % RUN_ROWS, runs)];
#endif

#define RUNS(T)                                                              \
    FILL_RUNS(T)                                                             \
    static void runs_##T(struct machine *restrict m, i32 a,                  \
                         GLOBAL const struct column_input *input)            \
    {                                                                        \
        u32 runs = (u32)input->base, row = input->row + (u32)m->row;         \
        GLOBAL const u8 *area = m->data + input->values;                     \
        GLOBAL const T *values = (GLOBAL const T *)area;                     \
        GLOBAL const struct run_head *heads =                                \
            (GLOBAL const struct run_head *)(area +                          \
                                             RUNS_VALUES(runs, sizeof(T)));  \
        RUNS_TILE(T)                                                         \
    }

RUNS(I32)
RUNS(I64)
/* Floats never are. */
#define runs_F32(m, a, input) UNUSED(m)
#define runs_F64(m, a, input) UNUSED(m)

/* The decoders that every type has. BITS is the integer that is as wide as T:
 * a constant is copied as bits. */
#define DECODERS(T, BITS, WORD)                                              \
    static void plain_##T(struct machine *m, i32 a,                          \
                          GLOBAL const struct column_input *input)           \
    {                                                                        \
        GLOBAL const T *values =                                             \
            (GLOBAL const T *)(m->data + input->values) + m->row;            \
        PLAIN(T, WORD)                                                       \
    }                                                                        \
    static void sequence_##T(struct machine *m, i32 a,                       \
                             GLOBAL const struct column_input *input)        \
    {                                                                        \
        i64 first = input->base + (i64)m->row;                               \
        EACH A(T) = (T)(first + t);                                          \
    }                                                                        \
    static void constant_##T(struct machine *m, i32 a,                       \
                             GLOBAL const struct column_input *input)        \
    {                                                                        \
        BITS same = (BITS)input->base;                                       \
        EACH A(BITS) = same;                                                 \
    }

DECODERS(I32, I32, int)
DECODERS(I64, I64, long)
DECODERS(F32, I32, float)
DECODERS(F64, I64, double)

#define DECODE_I32(NAME, name, number)                                       \
    if (encoding == number) name##_I32(m, a, input);
#define DECODE_I64(NAME, name, number)                                       \
    if (encoding == number) name##_I64(m, a, input);
#define DECODE_F32(NAME, name, number)                                       \
    if (encoding == number) name##_F32(m, a, input);
#define DECODE_F64(NAME, name, number)                                       \
    if (encoding == number) name##_F64(m, a, input);

#include "sink/refill.cl"

#define LOAD(T)                                                              \
    static OP_INLINING void load_##T(struct machine *m, i32 k, i32 a, i32 d, \
                                     GLOBAL const struct column_input *input) \
    {                                                                        \
        u32 encoding = encoding_of(input, d);                                \
        if (REFILLED) {                                                      \
            refilled_##T(m, k, a, encoding, input);                          \
            return;                                                          \
        }                                                                    \
        if (!wanted(m, k, d))                                                \
            return;                                                          \
        VDBQ_ENCODINGS(DECODE_##T)                                           \
    }

LOAD(I32)
LOAD(I64)
LOAD(F32)
LOAD(F64)

/* The value of a word; a word that a table does not have has 0. */
#define LOOK_UP(T)                                                           \
    static void look_up_##T(struct machine *restrict m, i32 k, i32 a, i32 b, \
                            u64 at)                                          \
    {                                                                        \
        GLOBAL const struct lookup *table =                                  \
            (GLOBAL const struct lookup *)(m->control + at);                 \
        GLOBAL const T *restrict values = (GLOBAL const T *)(table + 1);     \
        u32 count = table->count;                                            \
        UNUSED(k);                                                           \
        DEAR({                                                               \
            u32 word = (u32)B(I32);                                          \
            A(T) = pick_##T(word < count, values, word);                     \
        })                                                                   \
    }

LOOK_UP(I32)
LOOK_UP(I64)
LOOK_UP(F64)

/* As look_up_I32(), of flags too, which few words of memory hold. */
static void look_up_flag(struct machine *restrict m, i32 k, i32 a, i32 b, u64 at)
{
    GLOBAL const struct lookup *table =
        (GLOBAL const struct lookup *)(m->control + at);
    GLOBAL const u8 *restrict flags = (GLOBAL const u8 *)(table + 1);
    u32 count = table->count;
    if (table->flags == 0) {
        look_up_I32(m, k, a, b, at);
        return;
    }
    DEAR({
        u32 word = (u32)B(I32);
        A(I32) = pick_u8(word < count, flags, word);
    })
}

/* The numbers of the words whose codes r[a] has. */
static void number_words(struct machine *m, i32 k, i32 a, u64 order_codes)
{
    u32 before = (u32)order_codes;
    if ((order_codes & ORDER_CODES_ADD) != 0)
        EACH A(I32) = (I32)((u32)A(I32) + before);
    else
        look_up_I32(m, k, a, a, order_codes);
}

static void load_word(struct machine *m, i32 k, i32 a, i32 d,
                      GLOBAL const struct column_input *input)
{
    load_I32(m, k, a, d, input);
    if (input->order_codes != 0 && wanted(m, k, d))
        number_words(m, k, a, input->order_codes);
}

/* A row's NULL flag. On a GPU the bits of a tile lie in one byte, and of bytes
 * rows that do not exist have that of the tile's first one: so all loads are
 * made at once. */
#if VDBQ_GROUP > 1 && 8 % VDBQ_TILE == 0
#define FLAG_BYTE flags[m->row + (t < m->rows ? t : 0)]
#define FLAG_BIT (flags[m->row / 8] >> (m->row + t) % 8 & 1)
#else
#define FLAG_BYTE flags[m->row + t]
#define FLAG_BIT (flags[(m->row + t) / 8] >> (m->row + t) % 8 & 1)
#endif

static void load_null(struct machine *m, i32 k, i32 a, i32 d,
                      GLOBAL const struct column_input *input)
{
    u64 nulls = input->nulls;
    GLOBAL const u8 *flags = m->data + (nulls == INPUT_ALL_NULL ? 0 : nulls);
    i32 bytes = encoding_of(input, d) == ENCODING_PLAIN && input->bits == 8;
    if (nulls == 0 || nulls == INPUT_ALL_NULL) {
        EACH A(I32) = nulls != 0;
    } else if (REFILLED) {
        refilled_null(m, k, a, bytes, flags);
    } else if (bytes && wanted(m, k, d)) {
        EACH_EXISTING A(I32) = FLAG_BYTE != 0;
    } else if (wanted(m, k, d)) {
        EACH_EXISTING A(I32) = FLAG_BIT;
    }
}

#include "grid.cl"

/* Column b of the only axis, or of one of a grid. */
#if VDBQ_AXES > 1
#define AXIS_OR_INPUT(axis, load)                                            \
    if (AXES > 1)                                                            \
        axis(m, k, a, b, c);                                                 \
    else                                                                     \
        load(m, k, a, d, m->inputs + b)
#else
#define AXIS_OR_INPUT(axis, load)                                            \
    NO_C;                                                                    \
    load(m, k, a, d, m->inputs + b)
#endif
#define COLUMN(T, axis, load)                                                \
    OP(COLUMN_##T) { AXIS_OR_INPUT(axis, load); }                            \
    OP(ROWID_##T) { AXIS_OR_INPUT(axis, load); }

COLUMN(I32, axis_I32, load_I32)
COLUMN(I64, axis_I64, load_I64)
COLUMN(F32, axis_F32, load_F32)
COLUMN(F64, axis_F64, load_F64)
COLUMN(WORD, axis_word, load_word)

OP(COLUMN_NULL) { AXIS_OR_INPUT(axis_null, load_null); }
