/* SPDX-License-Identifier: MIT */
/*
 * Step one of the two-step result (Bakkum & Chakradhar, section 4): a step's
 * rows get places next to one another, in the order of rows, and a descriptor
 * says where. Part of cl/ops.cl.
 */
#if VDBQ_GROUP > 1

/* The counts of the items before this one, and with them. Every round each
 * item adds three neighbours, four times as far away as in the last; two
 * buffers make one barrier a round enough. */
static u32 sum_up_to(struct machine *m, u32 count)
{
    u32 item = m->item, sum = count;
    LOCAL u32 *sums = m->shared->sums, *others = sums + VDBQ_GROUP;
    for (u32 reach = 1; reach < VDBQ_GROUP; reach *= 4) {
        LOCAL u32 *now = sums;
        now[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += item >= reach ? now[item - reach] : 0;
        sum += item >= 2 * reach ? now[item - 2 * reach] : 0;
        sum += item >= 3 * reach ? now[item - 3 * reach] : 0;
        sums = others;
        others = now;
    }
    return sum;
}

/* The state of a step of another group, as soon as it knows its count. */
static u32 state_of(volatile GLOBAL const u32 *other)
{
    u32 state;
    do
        state = *other;
    while (state == 0);
    return state;
}

/* The rows that the steps before this one kept. Each of some items looks at
 * one of them, the first at the nearest; those up to the nearest of which the
 * end is known add up. All groups do so at once, instead of one after another
 * (Merrill & Garland, Single-pass Parallel Prefix Scan with Decoupled
 * Look-back). */
static u32 rows_before(struct machine *m)
{
    volatile LOCAL u32 *nearest = &m->shared->nearest;
    volatile LOCAL u32 *sum = &m->shared->before;
    u32 item = m->item, end = m->step;
    if (item == 0)
        *sum = 0;
    for (;;) {
        u32 state = STATE_END; /* of what is before the first step */
        if (item == 0)
            *nearest = VDBQ_LOOK_BACK;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < VDBQ_LOOK_BACK) {
            if (item < end)
                state = state_of(m->states + (end - 1 - item));
            if (state & STATE_END)
                atomic_min(nearest, item);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        u32 last = *nearest, rows = state & STATE_ROWS;
        if (item <= last && rows > 0)
            atomic_add(sum, rows);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (last < VDBQ_LOOK_BACK)
            return *sum;
        end -= VDBQ_LOOK_BACK;
    }
}

/* Takes the next places for the step's rows, whichever they are: nobody waits
 * for the steps before it. */
static u32 any_place(struct machine *m)
{
    if (m->item == VDBQ_GROUP - 1)
        m->shared->before = atomic_add(&m->progress->rows, m->shared->count);
    barrier(CLK_LOCAL_MEM_FENCE);
    return m->shared->before;
}

/* Finds the place of the step's rows, of which the items up to this one keep
 * `sum`. The group's last item tells other groups; a state is exchanged, since
 * a plain store takes its time to be seen (H200: twice the time in all). */
static void take_places(struct machine *m, u32 sum)
{
    GLOBAL const struct launch_head *launch =
        (GLOBAL const struct launch_head *)m->control;
    volatile GLOBAL u32 *mine = m->states + m->step;
    i32 any = (i32)launch->any_order, last = m->item == VDBQ_GROUP - 1;
    if (last)
        m->shared->count = sum;
    if (last && !any)
        atomic_xchg(mine, STATE_COUNT + sum);
    m->place = any ? any_place(m) : rows_before(m);
    if (last && !any)
        atomic_xchg(mine, STATE_END + m->place + sum);
    if (last && !any && m->step == launch->steps - 1)
        m->progress->rows = m->place + sum;
}

/* Counts the rows to output, and finds their places. */
static void result_begin(struct machine *m, i32 k)
{
    u32 count = 0;
    EACH count += LIVE;
    u32 sum = sum_up_to(m, count);
    m->place_in_step = sum - count;
    take_places(m, sum);
}

#else

/* Finds the rows to output; their places follow those of the last tile. Where
 * these are all rows or none, as often, there is no need to list them. */
static void result_begin(struct machine *m, i32 k)
{
    i32 count;
    m->kept_count = 0;
    if (m->table != 0)
        return; /* groups have the rows */
    count = live_rows(m, k);
    if (count > 0 && count < m->rows)
        list_rows(m, k);
    m->kept_count = count;
    m->descriptors[m->step].start = m->place;
    m->descriptors[m->step].count = (u32)count;
}

#endif

/* Writes VALUE(t) of each kept row t to `to`, one behind the other. On a GPU the
 * tile is in registers, whose numbers must be known, so the rows that are not
 * kept are passed over; the group packs its rows in local memory first, so
 * that neighbouring items write to neighbouring places. Some write less than
 * the values: what OF() makes of them. */
#if VDBQ_GROUP > 1
#define PACK_KEPT(T, VALUE)                                                  \
    LOCAL T *packed = (LOCAL T *)m->shared->packed;                          \
    for (i32 t = 0, i = (i32)m->place_in_step; t < VDBQ_TILE; t++)           \
        if (LIVE)                                                            \
            packed[i++] = VALUE(t);                                          \
    barrier(CLK_LOCAL_MEM_FENCE);
#define WRITE_PACKED(to, OF)                                                 \
    for (u32 i = m->item, count = m->shared->count; i < count;               \
         i += VDBQ_GROUP)                                                    \
        (to)[i] = OF(packed[i]);
#define AS_IT_IS(value) value
#define WRITE_KEPT(T, to, VALUE)                                             \
    {                                                                        \
        PACK_KEPT(T, VALUE)                                                  \
        WRITE_PACKED(to, AS_IT_IS)                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                        \
    }
#define U8_MORE(value) (u8)(value - base)
#define U16_MORE(value) (u16)(value - base)
#define U32_MORE(value) (u32)(value - base)
#define WRITE_VALUES(T, to, VALUE)                                           \
    {                                                                        \
        const u64 base = (u64)output->base;                                  \
        const u32 narrow = may_narrow ? output->narrow : 0;                  \
        PACK_KEPT(T, VALUE)                                                  \
        if (narrow == 0)                                                     \
            WRITE_PACKED(to, AS_IT_IS)                                       \
        else if (narrow == 1)                                                \
            WRITE_PACKED((GLOBAL u8 *)values + m->place, U8_MORE)            \
        else if (narrow == 2)                                                \
            WRITE_PACKED((GLOBAL u16 *)values + m->place, U16_MORE)          \
        else                                                                 \
            WRITE_PACKED((GLOBAL u32 *)values + m->place, U32_MORE)          \
        barrier(CLK_LOCAL_MEM_FENCE);                                        \
    }
#else
#define WRITE_VALUES WRITE_KEPT
#define WRITE_KEPT(T, to, VALUE)                                             \
    if (m->kept_count == m->rows) {                                          \
        VECTORS for (i32 i = 0, kept_ = m->rows; i < kept_; i++)             \
            to[i] = VALUE(i);                                                \
    } else {                                                                 \
        UNROLL_4                                                             \
        for (i32 i = 0, kept_ = m->kept_count; i < kept_; i++)               \
            to[i] = VALUE(m->kept[i]);                                       \
    }
#endif
#define I32_OF(t) m->r[r].I32[t]
#define I64_OF(t) m->r[r].I64[t]
#define FLAG_OF(t) (u8)(m->r[r].I32[t] != 0)

/* Writes register r as a result column of `width` bytes a value. A specialised
 * program knows the width, and whether the column may be narrow. */
static void result_values(struct machine *m, i32 k, i32 r, u32 width,
                          i32 may_narrow, GLOBAL const struct output *output)
{
    GLOBAL u8 *values = m->result + output->values;
    NO_K;
    UNUSED(may_narrow);
    if (width == 4) {
        GLOBAL i32 *restrict to = (GLOBAL i32 *)values + m->place;
        WRITE_VALUES(i32, to, I32_OF)
    } else {
        GLOBAL i64 *restrict to = (GLOBAL i64 *)values + m->place;
        WRITE_VALUES(i64, to, I64_OF)
    }
}

/* Writes register r as the NULL bytes of a result column. */
static void result_nulls(struct machine *m, i32 k, i32 r,
                         GLOBAL const struct output *output)
{
    GLOBAL u8 *restrict to = m->result + output->nulls + m->place;
    NO_K;
    WRITE_KEPT(u8, to, FLAG_OF)
}

/* The rows after these go behind them. */
static void result_end(struct machine *m)
{
#if VDBQ_GROUP == 1
    m->place += (u32)m->kept_count;
#else
    UNUSED(m);
#endif
}

/* -------------------------------------------------------------- groups -- */

/*
 * Rows are added to groups, in the shape of a CPU: an item has a table of its
 * own in the result memory, and nothing is atomic. What a record has is said in
 * cl/group.h; the halves of a sum of 64-bit integers are kept apart, so that
 * nothing is carried.
 *
 * The table has a record for each code that the keys can have, and some copies
 * of all of these: neighbouring rows are added to different ones, so that no
 * row waits for what the one before it stored. Behind the copies comes one more
 * record, to which rows are added that are not live: nobody reads it.
 *
 * A launch need not have tables: then all these opcodes do nothing, and rows
 * become result rows. On a GPU none has.
 */
#if VDBQ_GROUP == 1

#define LAUNCH ((GLOBAL const struct launch_head *)m->control)
#define IF_GROUPED                                                           \
    if (m->table == 0)                                                       \
        return;

/* Gives an item its table, which is empty. */
static void table_begin(struct machine *m, u32 group)
{
    GLOBAL u64 *table =
        (GLOBAL u64 *)(m->result + LAUNCH->tables +
                       (u64)group * LAUNCH->table_bytes);
    m->table = 0;
    if (LAUNCH->table_bytes == 0)
        return;
    for (u32 i = 0, words = LAUNCH->table_bytes / 8; i < words; i++)
        table[i] = 0;
    m->table = (GLOBAL u8 *)table;
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

/* Adds a value. An item adds no more than SUM_DIGITS_MAX. */
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
/* Those of many groups, of rows of which there are some: mostly their sums are as
 * high as that of the tile's first row, for which the digits are made. */
#define REAL_EACH(T)                                                         \
    {                                                                        \
        u64 high[VDBQ_TILE], middle[VDBQ_TILE], low[VDBQ_TILE];              \
        const i32 t0 = (i32)m->kept[0];                                      \
        const u32 top =                                                      \
            SUM_IN((GLOBAL u64 *)(m->table + c + m->slot[t0]))->top;         \
        const f64 scale = sum_scale(top);                                    \
        EACH {                                                               \
            f64 left = (f64)A(T) * scale;                                    \
            high[t] = sum_digit(&left, SUM_ROUND_0)                          \
                      - bits_of_f64(SUM_ROUND_0);                            \
            middle[t] = sum_digit(&left, SUM_ROUND_1)                        \
                        - bits_of_f64(SUM_ROUND_1);                          \
            low[t] = sum_digit(&left, SUM_ROUND_2)                           \
                     - bits_of_f64(SUM_ROUND_2);                             \
        }                                                                    \
        EACH_LISTED(GLOBAL struct sum *sum = SUM_IN(RECORD(c));              \
                    u64 bits = bits_of_f64((f64)A(T));                       \
                    if (FLAGGED)                                             \
                        continue;                                            \
                    if (sum->top != top || !sum_fits(bits, top)) {           \
                        add_real(sum, (f64)A(T));                            \
                        continue;                                            \
                    }                                                        \
                    sum->limbs[0] += (i64)high[t];                           \
                    sum->limbs[1] += (i64)middle[t];                         \
                    sum->limbs[2] += (i64)low[t];)                           \
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
        } else {                                                             \
            list_rows(m, k);                                                 \
            REAL_EACH(T)                                                     \
        }                                                                    \
    }

OP(SUM_F32) REAL(F32)
OP(SUM_F64) REAL(F64)

/* Keeps the greatest code, of the least value the complement: WIDE has the orders
 * of T, the first of them LEAST. */
#define BEST(T, WIDE, LEAST, ORDER)                                          \
    {                                                                        \
        IF_GROUPED                                                           \
        count_flagged(m, k, b, c, d);                                        \
        const WIDE flip = (d & ADD_LEAST) ? -1 : 0;                          \
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

/* The first of the live rows, of which there are some. */
static u32 first_live(const struct machine *m, i32 k)
{
    u32 t = 0;
    while (m->pc[t] > k)
        t++;
    return t;
}

/* Counts the rows, and notes the first ones of groups: numbers grow. */
OP(GROUPED)
{
    UNUSED(a), NO_B, NO_C;
    IF_GROUPED
    const u64 first = (u64)m->step * VDBQ_TILE;
    const u64 count = (u64)live_rows(m, k);
    if (d & ADD_ONLY_GROUP) {
        GLOBAL u64 *record = ONLY_RECORD(0);
        if (record[1] == 0 && count > 0)
            record[0] = ~(first + first_live(m, k));
        record[1] += count;
    } else
        EACH_ROW(GLOBAL u64 *record = RECORD(0);
                 if (record[1]++ == 0) record[0] = ~(first + (u64)t))
}

#else

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

#endif
