/* SPDX-License-Identifier: MIT */
/*
 * Lists the live rows of a tile, where one item runs over all of it. Part of
 * cl/ops.cl.
 */

/* The numbers of the bits that are set in a byte, a byte each; what stands
 * behind them means nothing. */
CONSTANT u64 places_of_bits[256] = {
    0x0UL, 0x0UL, 0x1UL, 0x100UL, 0x2UL, 0x200UL, 0x201UL, 0x20100UL, 0x3UL,
    0x300UL, 0x301UL, 0x30100UL, 0x302UL, 0x30200UL, 0x30201UL, 0x3020100UL,
    0x4UL, 0x400UL, 0x401UL, 0x40100UL, 0x402UL, 0x40200UL, 0x40201UL,
    0x4020100UL, 0x403UL, 0x40300UL, 0x40301UL, 0x4030100UL, 0x40302UL,
    0x4030200UL, 0x4030201UL, 0x403020100UL, 0x5UL, 0x500UL, 0x501UL,
    0x50100UL, 0x502UL, 0x50200UL, 0x50201UL, 0x5020100UL, 0x503UL, 0x50300UL,
    0x50301UL, 0x5030100UL, 0x50302UL, 0x5030200UL, 0x5030201UL, 0x503020100UL,
    0x504UL, 0x50400UL, 0x50401UL, 0x5040100UL, 0x50402UL, 0x5040200UL,
    0x5040201UL, 0x504020100UL, 0x50403UL, 0x5040300UL, 0x5040301UL,
    0x504030100UL, 0x5040302UL, 0x504030200UL, 0x504030201UL, 0x50403020100UL,
    0x6UL, 0x600UL, 0x601UL, 0x60100UL, 0x602UL, 0x60200UL, 0x60201UL,
    0x6020100UL, 0x603UL, 0x60300UL, 0x60301UL, 0x6030100UL, 0x60302UL,
    0x6030200UL, 0x6030201UL, 0x603020100UL, 0x604UL, 0x60400UL, 0x60401UL,
    0x6040100UL, 0x60402UL, 0x6040200UL, 0x6040201UL, 0x604020100UL, 0x60403UL,
    0x6040300UL, 0x6040301UL, 0x604030100UL, 0x6040302UL, 0x604030200UL,
    0x604030201UL, 0x60403020100UL, 0x605UL, 0x60500UL, 0x60501UL, 0x6050100UL,
    0x60502UL, 0x6050200UL, 0x6050201UL, 0x605020100UL, 0x60503UL, 0x6050300UL,
    0x6050301UL, 0x605030100UL, 0x6050302UL, 0x605030200UL, 0x605030201UL,
    0x60503020100UL, 0x60504UL, 0x6050400UL, 0x6050401UL, 0x605040100UL,
    0x6050402UL, 0x605040200UL, 0x605040201UL, 0x60504020100UL, 0x6050403UL,
    0x605040300UL, 0x605040301UL, 0x60504030100UL, 0x605040302UL,
    0x60504030200UL, 0x60504030201UL, 0x6050403020100UL, 0x7UL, 0x700UL,
    0x701UL, 0x70100UL, 0x702UL, 0x70200UL, 0x70201UL, 0x7020100UL, 0x703UL,
    0x70300UL, 0x70301UL, 0x7030100UL, 0x70302UL, 0x7030200UL, 0x7030201UL,
    0x703020100UL, 0x704UL, 0x70400UL, 0x70401UL, 0x7040100UL, 0x70402UL,
    0x7040200UL, 0x7040201UL, 0x704020100UL, 0x70403UL, 0x7040300UL,
    0x7040301UL, 0x704030100UL, 0x7040302UL, 0x704030200UL, 0x704030201UL,
    0x70403020100UL, 0x705UL, 0x70500UL, 0x70501UL, 0x7050100UL, 0x70502UL,
    0x7050200UL, 0x7050201UL, 0x705020100UL, 0x70503UL, 0x7050300UL,
    0x7050301UL, 0x705030100UL, 0x7050302UL, 0x705030200UL, 0x705030201UL,
    0x70503020100UL, 0x70504UL, 0x7050400UL, 0x7050401UL, 0x705040100UL,
    0x7050402UL, 0x705040200UL, 0x705040201UL, 0x70504020100UL, 0x7050403UL,
    0x705040300UL, 0x705040301UL, 0x70504030100UL, 0x705040302UL,
    0x70504030200UL, 0x70504030201UL, 0x7050403020100UL, 0x706UL, 0x70600UL,
    0x70601UL, 0x7060100UL, 0x70602UL, 0x7060200UL, 0x7060201UL, 0x706020100UL,
    0x70603UL, 0x7060300UL, 0x7060301UL, 0x706030100UL, 0x7060302UL,
    0x706030200UL, 0x706030201UL, 0x70603020100UL, 0x70604UL, 0x7060400UL,
    0x7060401UL, 0x706040100UL, 0x7060402UL, 0x706040200UL, 0x706040201UL,
    0x70604020100UL, 0x7060403UL, 0x706040300UL, 0x706040301UL,
    0x70604030100UL, 0x706040302UL, 0x70604030200UL, 0x70604030201UL,
    0x7060403020100UL, 0x70605UL, 0x7060500UL, 0x7060501UL, 0x706050100UL,
    0x7060502UL, 0x706050200UL, 0x706050201UL, 0x70605020100UL, 0x7060503UL,
    0x706050300UL, 0x706050301UL, 0x70605030100UL, 0x706050302UL,
    0x70605030200UL, 0x70605030201UL, 0x7060503020100UL, 0x7060504UL,
    0x706050400UL, 0x706050401UL, 0x70605040100UL, 0x706050402UL,
    0x70605040200UL, 0x70605040201UL, 0x7060504020100UL, 0x706050403UL,
    0x70605040300UL, 0x70605040301UL, 0x7060504030100UL, 0x70605040302UL,
    0x7060504030200UL, 0x7060504030201UL, 0x706050403020100UL,
};

#ifdef __OPENCL_C_VERSION__
#define PLACES CONSTANT const u8 *
#else
#define PLACES const u8 *
#endif

/* A flag for each row of the tile. */
union live_flags {
    u8 each[VDBQ_TILE + 8];
    u64 eight[VDBQ_TILE / 8 + 1];
};

/* Lists the rows that have a flag, and counts them, eight neighbours at once: the
 * product brings their flags together, as the bits of its highest byte, and the
 * places behind those that have one are written again by the next. Numbers start
 * with their lowest byte, as all over cl/tablet.h. */
static u32 list_flags(const union live_flags *flags, u32 rows, u32 *restrict list)
{
    u32 count = 0;
    for (u32 t = 0; t < rows; t += 8) {
        u32 bits = (u32)(flags->eight[t / 8] * 0x102040810204080UL >> 56);
        PLACES places = (PLACES)(places_of_bits + bits);
        VECTOR_OF_8 for (u32 i = 0; i < 8; i++)
            list[count + i] = t + places[i];
        count += popcount(bits);
    }
    return count;
}

enum { FEW_SHARE = 4 }; /* rows of a tile for each live one that make few */

/* Counts the live rows, and looks where the first of those that sleep wakes. */
static void count_live(struct machine *m, i32 k)
{
    const i32 *restrict pc = m->pc;
    i32 count = 0, next = NOWHERE;
    EVERY {
        i32 sleeps = pc[t] <= k ? NOWHERE : pc[t];
        next = sleeps < next ? sleeps : next;
        count += pc[t] <= k;
    }
    m->live = count;
    m->wakes = next;
    m->listed = 0;
}

/* How many rows of the tile are live. */
static i32 live_rows(struct machine *m, i32 k)
{
    if (k >= m->wakes)
        count_live(m, k);
    return m->live;
}

/* Has the live rows listed; these are counted. */
static void list_rows(struct machine *m, i32 k)
{
    const i32 *restrict pc = m->pc;
    union live_flags live;
    if (m->listed)
        return;
    m->listed = 1;
    if (m->live == 0)
        return;
    live.eight[VDBQ_TILE / 8] = 0;
    EVERY live.each[t] = pc[t] <= k;
    list_flags(&live, (u32)m->rows, m->kept);
}

/* Whether few rows of the tile are live, or none, so that they are listed. */
static i32 few_live(struct machine *m, i32 k)
{
    i32 live = live_rows(m, k);
    if (live > 0 && live >= m->rows / FEW_SHARE)
        return 0;
    list_rows(m, k);
    return 1;
}
