/* SPDX-License-Identifier: MIT */
/*
 * Rows are added to the records of their groups: to those of the table, or
 * with VDBQ_LOCAL to a work-group's own, which are added to the table at the
 * end. Part of cl/group.cl.
 */

#ifdef VDBQ_LOCAL
#define TABLE LOCAL
#else
#define TABLE GLOBAL
#endif

#include "sink/add.cl"

/* Adds to an integer of 64 bits; whether it carried over. */
static u32 add(volatile TABLE u64 *to, u64 value)
{
#ifdef VDBQ_LOCAL
    return add_own(to, value);
#else
    return atom_add(to, value) + value < value;
#endif
}

static void add_wide(volatile TABLE u64 *to, u64 low, u64 high)
{
    high += add(to, low);
    if (high != 0)
        add(to + 1, high);
}

/* Adds values of a tile's rows, without a carry. */
static void add_all(volatile TABLE u64 *const *to, const u64 *value, u32 mask)
{
#ifdef VDBQ_LOCAL
    u32 high[ITEM_ROWS];
    EACH_OF(mask)
    {
        u32 low = (u32)value[t];
        high[t] = (u32)(value[t] >> 32) +
                  (atomic_add((volatile LOCAL u32 *)to[t], low) + low < low);
    }
    EACH_OF(mask)
    if (high[t] != 0)
        atomic_add((volatile LOCAL u32 *)to[t] + 1, high[t]);
#else
    EACH_OF(mask) atom_add(to[t], value[t]);
#endif
}

/* Counts a row; what a work-group counts of a launch fits 32 bits. */
static void count_row(volatile TABLE u64 *to)
{
#ifdef VDBQ_LOCAL
    atomic_inc((volatile LOCAL u32 *)to);
#else
    atom_add(to, 1UL);
#endif
}

static void greater(volatile TABLE u64 *to, u64 value)
{
    if (*to < value)
        atom_max(to, value);
}

/* Keeps bits that a value has: those of any, or of an odd number of values. */
static void keep_bits(volatile TABLE u64 *to, u64 bits, u32 odd)
{
#ifdef VDBQ_LOCAL
    keep_bits_own(to, bits, odd);
#else
    keep_bits_common(to, bits, odd);
#endif
}

/* The digits of a value for a sum of that `top`; of no number, 0. */
static void digits_of(f64 value, u32 top, u64 *digits)
{
    digits[0] = digits[1] = digits[2] = 0;
    if (sum_special(bits_of_f64(value)) == 0)
        sum_digits(value * sum_scale(top), digits);
}

/* The rows of a mask whose value is the group's first of its kind. */
static u32 new_rows(GLOBAL const struct group_aggregate *aggregate,
                    volatile GLOBAL u32 *bits, const u32 *slot,
                    const u64 *value, u32 mask)
{
    u32 words[ITEM_ROWS], rows = 0;
    u64 bit[ITEM_ROWS];
    EACH bit[t] = (mask >> t & 1)
                      ? aggregate->bits + slot[t] * aggregate->size +
                            value_code(aggregate->value.type, value[t]) -
                            aggregate->base
                      : aggregate->bits;
    EACH words[t] = bits[bit[t] / 32];
    EACH_OF(mask)
    {
        u32 own = 1U << (bit[t] & 31);
        if ((words[t] & own) == 0 &&
            (atomic_or(&bits[bit[t] / 32], own) & own) == 0)
            rows |= 1U << t;
    }
    return rows;
}

/* EARLIEST: the row that was found gives its value. */
static void take_earliest(CONTROL control, ROWS rows, GLOBAL u8 *records,
                          GLOBAL const struct group_aggregate *aggregate,
                          const u32 *slot, const u64 *value, u64 row, u32 mask,
                          u64 number)
{
    u32 nulls = null_rows(rows, &aggregate->value, row, mask);
    EACH_OF(mask)
    {
        volatile GLOBAL u64 *state =
            (volatile GLOBAL u64 *)(record_at(control, records, slot[t]) +
                                    aggregate->at);
        if (state[1] != ~(number + t * VDBQ_GROUP))
            continue;
        state[2] = nulls >> t & 1;
        state[3] = TYPE_IS_WIDE(aggregate->value.type) ? value[t]
                                                  : (u64)(u32)value[t];
    }
}

/* Takes a tile's rows into the only group: all of the tile, then at once. */
static void add_one(GLOBAL const struct group_aggregate *aggregate,
                    RECORD record, volatile TABLE u64 *state, const u64 *value,
                    u32 mask)
{
    u64 low = 0, high = 0, best = 0, sum[3] = { 0, 0, 0 }, digits[3];
    u32 type = aggregate->value.type, top;
    switch (aggregate->kind) {
    case GROUP_NARROW:
        EACH_OF(mask) low += value[t];
        add(state + 1, low);
        break;
    case GROUP_WIDE:
        EACH_OF(mask)
        {
            low += value[t];
            high += (u64)((i64)value[t] >> 63) + (low < value[t]);
        }
        add_wide(state + 1, low, high);
        break;
    case GROUP_REAL:
        top = sum_at(record, aggregate)->top;
        EACH_OF(mask)
        {
            digits_of(real_of(type, value[t]), top, digits);
            for (u32 k = 0; k < 3; k++)
                sum[k] += digits[k];
        }
        for (u32 k = 0; k < 3; k++)
            add(state + 1 + k, sum[k]);
        break;
    case GROUP_BEST:
        EACH_OF(mask)
        {
            u64 code = value_code(type, value[t]) ^ aggregate->flip;
            best = code > best ? code : best;
        }
        greater(state + 1, best);
        break;
    case GROUP_BITS:
        EACH_OF(mask)
        {
            u64 bits = value[t] ^ aggregate->flip;
            low |= bits;
            high ^= bits;
        }
        keep_bits(state + 1, aggregate->odd ? high : low, aggregate->odd);
        break;
    default:
        break;
    }
}

/* ... each into its group's record. */
static void add_each(CONTROL control,
                     GLOBAL const struct group_aggregate *aggregate,
                     GLOBAL u8 *records, volatile TABLE u8 *table,
                     const u32 *slot, const u64 *value, u32 mask)
{
    volatile TABLE u64 *to[ITEM_ROWS];
    u64 digits[3][ITEM_ROWS];
    u32 type = aggregate->value.type, top[ITEM_ROWS];
    EACH to[t] = (volatile TABLE u64 *)(table + slot[t] * control->width +
                                        aggregate->at) +
                 1;
    switch (aggregate->kind) {
    case GROUP_NARROW:
        add_all(to, value, mask);
        break;
    case GROUP_WIDE:
        EACH_OF(mask) add_wide(to[t], value[t], (u64)((i64)value[t] >> 63));
        break;
    case GROUP_REAL:
        EACH_OF(mask)
        top[t] = sum_at(record_at(control, records, slot[t]), aggregate)->top;
        EACH_OF(mask)
        {
            u64 own[3];
            digits_of(real_of(type, value[t]), top[t], own);
            for (u32 k = 0; k < 3; k++)
                digits[k][t] = own[k];
        }
        for (u32 k = 0; k < 3; k++) {
            add_all(to, digits[k], mask);
            EACH to[t]++;
        }
        break;
    case GROUP_BEST:
        EACH_OF(mask)
        greater(to[t], value_code(type, value[t]) ^ aggregate->flip);
        break;
    case GROUP_BITS:
        EACH_OF(mask)
        keep_bits(to[t], value[t] ^ aggregate->flip, aggregate->odd);
        break;
    default:
        break;
    }
}

/* Counts a tile's rows, and notes the first ones of groups. */
static void add_heads(CONTROL control, volatile TABLE u8 *table,
                      const u32 *slot, u32 mask, u64 number)
{
    if (control->keys == 0) {
        volatile TABLE u64 *head = (volatile TABLE u64 *)table;
        if (mask != 0)
            greater(head, ~number);
        add(head + 1, popcount(mask));
        return;
    }
    EACH_OF(mask)
    {
        volatile TABLE u64 *head =
            (volatile TABLE u64 *)(table + slot[t] * control->width);
        greater(head, ~(number + t * VDBQ_GROUP));
        count_row(head + 1);
    }
}

/* Takes a tile's rows into an aggregate. */
static void add_tile(CONTROL control, ROWS rows, GLOBAL u8 *records,
                     volatile GLOBAL u32 *bits, volatile TABLE u8 *table,
                     u32 i, const u32 *slot, u64 row, u32 mask, u64 number)
{
    GLOBAL const struct group_aggregate *aggregate = &control->aggregate[i];
    u32 kept = kept_rows(rows, aggregate, row, mask);
    u64 value[ITEM_ROWS];
    if (aggregate->has_value &&
        (aggregate->kind != GROUP_ROWS || aggregate->distinct))
        load(rows, &aggregate->value, row, kept, value);
    if (aggregate->distinct)
        kept = new_rows(aggregate, bits, slot, value, kept);
    if (aggregate->kind == GROUP_EARLIEST) {
        take_earliest(control, rows, records, aggregate, slot, value, row,
                      kept, number);
    } else if (control->keys == 0) {
        volatile TABLE u64 *state =
            (volatile TABLE u64 *)(table + aggregate->at);
        if (kept != mask)
            add(state, popcount(mask & ~kept));
        add_one(aggregate, records, state, value, kept);
    } else {
        EACH_OF(mask & ~kept)
        count_row((volatile TABLE u64 *)(table + slot[t] * control->width +
                                         aggregate->at));
        add_each(control, aggregate, records, table, slot, value, kept);
    }
}

/* Adds all rows of the work-group to a table. */
static void add_rows(CONTROL control, ROWS rows, GLOBAL u8 *records,
                     GLOBAL const u32 *restrict slots,
                     volatile GLOBAL u32 *bits, volatile TABLE u8 *table,
                     u64 first, u64 count, u64 number)
{
    EACH_TILE
    {
        u32 mask = tile_mask(row, count), slot[ITEM_ROWS];
        if (control->hashed) {
            EACH slot[t] = (mask >> t & 1) ? slots[row + t * VDBQ_GROUP] : 0;
        } else {
            u64 code[ITEM_ROWS];
            row_codes(control, rows, first + row, mask, code);
            EACH slot[t] = (mask >> t & 1) ? (u32)code[t] : 0;
        }
        add_heads(control, table, slot, mask, number + row);
        for (u32 i = 0; i < control->aggregates; i++)
            add_tile(control, rows, records, bits, table, i, slot,
                     first + row, mask, number + row);
    }
}

#ifdef VDBQ_LOCAL

/* Adds what a work-group counted to a record in device memory. */
static void flush_record(CONTROL control, RECORD to,
                         const volatile LOCAL u64 *from)
{
    volatile GLOBAL u64 *head = (volatile GLOBAL u64 *)to;
    if (from[1] == 0)
        return;
    if (head[0] < from[0])
        atom_max(head, from[0]);
    atom_add(head + 1, from[1]);
    for (u32 i = 0; i < control->aggregates; i++) {
        GLOBAL const struct group_aggregate *aggregate =
            &control->aggregate[i];
        volatile GLOBAL u64 *state =
            (volatile GLOBAL u64 *)(to + aggregate->at);
        const volatile LOCAL u64 *own = from + aggregate->at / 8;
        u32 words = aggregate->kind == GROUP_NARROW ? 1
                    : aggregate->kind == GROUP_REAL ? 3
                                                    : 0;
        if (own[0] != 0)
            atom_add(state, own[0]);
        for (u32 k = 1; k <= words; k++)
            if (own[k] != 0)
                atom_add(state + k, own[k]);
        if (aggregate->kind == GROUP_BEST && state[1] < own[1])
            atom_max(state + 1, own[1]);
        if (aggregate->kind == GROUP_BITS)
            keep_bits_common(state + 1, own[1], aggregate->odd);
        if (aggregate->kind == GROUP_WIDE && (own[1] | own[2]) != 0) {
            u64 low = own[1];
            u64 high = own[2] + (atom_add(state + 1, low) + low < low);
            if (high != 0)
                atom_add(state + 2, high);
        }
    }
}

#endif

/* Copies the states that stand for those of other aggregates, too: programs add to
 * the first one alone (cl/sink/group.cl). */
KERNEL void vdbq_group_spread(CONTROL control, GLOBAL u8 *records, u64 slots)
{
    for (u64 slot = get_global_id(0); slot < slots;
         slot += get_global_size(0))
        for (u32 i = 0; i < control->aggregates; i++) {
            GLOBAL const struct group_aggregate *aggregate =
                &control->aggregate[i];
            RECORD record = record_at(control, records, slot);
            RECORD from = record + control->aggregate[aggregate->same].at;
            u32 words = aggregate->kind == GROUP_ROWS   ? 1
                        : aggregate->kind == GROUP_BEST ? 2
                        : aggregate->kind == GROUP_BITS ? 2
                                                        : 3;
            for (u32 k = 0; aggregate->same < i && k < words; k++)
                ((volatile GLOBAL u64 *)(record + aggregate->at))[k] =
                    ((volatile GLOBAL u64 *)from)[k];
        }
}

KERNEL void vdbq_group_add(CONTROL control, ROWS rows, GLOBAL u8 *records,
                           GLOBAL const u32 *restrict slots,
                           volatile GLOBAL u32 *bits,
                           volatile GLOBAL struct group_state *state,
                           u64 first, u64 count, u64 number)
{
#ifdef VDBQ_LOCAL
    LOCAL u64 room[GROUP_LOCAL_BYTES / 8];
    u32 words = (u32)control->slots * control->width / 8;
    u32 all = words * control->copies, item = (u32)get_local_id(0);
    for (u32 i = item; i < all; i += VDBQ_GROUP)
        room[i] = 0;
    WAIT;
    add_rows(control, rows, records, slots, bits,
             (volatile LOCAL u8 *)(room +
                                   words * (item & (control->copies - 1))),
             first, count, number);
    WAIT;
    for (u32 i = item; i < control->slots * control->copies; i += VDBQ_GROUP)
        flush_record(control,
                     record_at(control, records, i % control->slots),
                     room + (i * control->width) / 8);
#else
    if (state->full == 0)
        add_rows(control, rows, records, slots, bits, records, first, count,
                 number);
#endif
}
