/* SPDX-License-Identifier: MIT */
/*
 * Step one of the two-step result (Bakkum & Chakradhar, section 4): a step's
 * rows get places next to one another, in the order of rows, and a descriptor
 * says where. Part of cl/ops.cl.
 */
#if VDBQ_GROUP > 1

/* The state of a step of another group, as soon as it knows its count. */
static u32 state_of(volatile GLOBAL const u32 *other)
{
    u32 state;
    do
        state = *other;
    while (state == 0);
    return state;
}

/*
 * sum_up_to(): the counts of the items before this one, and with them.
 * rows_before(): the rows that the steps before this one kept. Each of some items looks
 * at one of them, the first at the nearest; those up to the nearest of which the end
 * is known add up. All groups do so at once, instead of one after another
 * (Merrill & Garland, Single-pass Parallel Prefix Scan with Decoupled
 * Look-back).
 */
#if WARP > 1

/* Within a warp by its own words, then with those of the warps before. */
static u32 sum_up_to(struct machine *m, u32 count)
{
    u32 lane = m->item % WARP, warp = m->item / WARP, sum = count;
    LOCAL u32 *sums = m->shared->sums;
    for (u32 by = 1; by < WARP; by *= 2) {
        u32 before = warp_before(sum, by);
        sum += lane >= by ? before : 0;
    }
    if (lane == WARP - 1)
        sums[warp] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = 0; i < VDBQ_GROUP / WARP - 1; i++)
        sum += i < warp ? sums[i] : 0;
    return sum;
}

/* The first warp looks. */
static u32 rows_before(struct machine *m)
{
    if (m->item < WARP) {
        u32 sum = 0, ends = 0;
        for (u32 end = m->step; ends == 0; end -= WARP) {
            u32 state = STATE_END; /* of what is before the first step */
            if (m->item < end)
                state = state_of(m->states + (end - 1 - m->item));
            ends = warp_where(state & STATE_END);
            if ((ends & ((1u << m->item) - 1)) == 0)
                sum += state & STATE_ROWS;
        }
        sum = warp_sum(sum);
        if (m->item == 0)
            m->shared->before = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return m->shared->before;
}

#else

/* Every round each item adds three neighbours, four times as far away as in
 * the last; two buffers make one barrier a round enough. */
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

/* The first VDBQ_LOOK_BACK items look. */
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

#endif

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
    LOCAL T *packed = (LOCAL T *)m->packed;                                  \
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

#if VDBQ_GROUP == 1
#include "sink/item.cl"
#else
#include "sink/group.cl"
#endif
