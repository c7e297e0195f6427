/* SPDX-License-Identifier: MIT */
/*
 * Grouping on a device: result rows of the machine are taken into the records
 * of a table (cl/group.h), by atomic operations whose order does not matter:
 * integers are added, with their carries, and the greater of two codes stays.
 *
 * Set by the host: VDBQ_LOCAL where a work-group adds to a table of its own in
 * local memory first.
 *
 * Rows are taken in three steps. vdbq_group_find makes the slots of codes, and
 * notes which `top` a group's sums of floats need and which row is its first.
 * vdbq_group_raise gives the sums that `top`. vdbq_group_add does the rest.
 */
#include "group.h"
#include "kernel.cl"
#include "order.cl"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define CONTROL GLOBAL const struct group_control *restrict
#define ROWS GLOBAL const u8 *restrict
#define RECORD volatile GLOBAL u8 *

/* An item takes rows in tiles: of each VDBQ_GROUP rows one, so that the items
 * of a group read neighbours. A mask has a bit for each row of a tile; what
 * is read of all rows is read before any of it is used. */
#define ITEM_ROWS 8
#define EACH for (u32 t = 0; t < ITEM_ROWS; t++)
#define EACH_OF(mask) EACH if (((mask) >> t & 1) != 0)
#define NO_SLOT 0xffffffffU
#define PROBES_MAX 256

/* -------------------------------------------------------------- values -- */

#define IS_WIDE(type) ((type) == TYPE_I64 || (type) == TYPE_F64)

/* The values of a tile's rows from `row` on: integers, or bits. */
static void load(ROWS rows, GLOBAL const struct group_column *column, u64 row,
                 u32 mask, u64 *value)
{
    if (IS_WIDE(column->type)) {
        GLOBAL const u64 *from =
            (GLOBAL const u64 *)(rows + column->values) + row;
        EACH value[t] = (mask >> t & 1) ? from[t * VDBQ_GROUP] : 0;
    } else {
        GLOBAL const i32 *from =
            (GLOBAL const i32 *)(rows + column->values) + row;
        EACH value[t] =
            (u64)(i64)((mask >> t & 1) ? from[t * VDBQ_GROUP] : 0);
    }
}

/* The rows of a mask where the column is NULL. */
static u32 null_rows(ROWS rows, GLOBAL const struct group_column *column,
                     u64 row, u32 mask)
{
    GLOBAL const u8 *from = rows + column->nulls + row;
    u32 nulls = 0;
    if (!column->nullable)
        return 0;
    EACH nulls |= (u32)((mask >> t & 1) && from[t * VDBQ_GROUP] != 0) << t;
    return nulls;
}

/* The rows of a mask that an aggregate takes in. */
static u32 kept_rows(ROWS rows, GLOBAL const struct group_aggregate *aggregate,
                     u64 row, u32 mask)
{
    if (aggregate->has_filter) {
        u64 value[ITEM_ROWS];
        load(rows, &aggregate->filter, row, mask, value);
        mask &= ~null_rows(rows, &aggregate->filter, row, mask);
        EACH mask &= ~((u32)(value[t] == 0) << t);
    }
    if (aggregate->has_value && aggregate->kind != GROUP_EARLIEST)
        mask &= ~null_rows(rows, &aggregate->value, row, mask);
    return mask;
}

/* A value's place in the order of its type. */
static u64 order_of(u32 type, u64 value)
{
    if (type == TYPE_F64)
        return order_of_f64(as_double(value));
    if (type == TYPE_F32)
        return order_of_f32(as_float((u32)value));
    return order_of_i64((i64)value);
}

/* A float, wider where it is a short one. */
static f64 real_of(u32 type, u64 value)
{
    return type == TYPE_F64 ? as_double(value) : (f64)as_float((u32)value);
}

/* --------------------------------------------------------------- slots -- */

/* The codes of rows' keys; the rows whose only key is NULL, which has none. */
static u32 row_codes(CONTROL control, ROWS rows, u64 row, u32 mask, u64 *code)
{
    u32 without = 0;
    EACH code[t] = 0;
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct group_key *key = &control->key[i];
        u32 type = key->column.type;
        u32 nulls = null_rows(rows, &key->column, row, mask);
        u64 base = key->base, size = key->size, stride = key->stride;
        u64 value[ITEM_ROWS];
        load(rows, &key->column, row, mask, value);
        EACH code[t] += ((nulls >> t & 1) ? size
                                          : order_of(type, value[t]) - base) *
                        stride;
        if (size == 0)
            without = nulls;
    }
    return without;
}

static u64 hash_of(u64 code)
{
    code ^= code >> 32;
    code *= 0x9e3779b97f4a7c15UL;
    code ^= code >> 29;
    code *= 0xbf58476d1ce4e5b9UL;
    return code ^ code >> 32;
}

/* The slot of a code, taken where it has none; NO_SLOT: there is no room. */
static u32 code_slot(CONTROL control, volatile GLOBAL u64 *codes, u64 code,
                     u32 null)
{
    u64 mask = control->slots - 1, at = hash_of(code) & mask;
    if (null)
        return (u32)control->slots + 1;
    if (code == GROUP_EMPTY)
        return (u32)control->slots;
    for (u32 i = 0; i < PROBES_MAX; i++) {
        u64 there = codes[at];
        if (there == GROUP_EMPTY)
            there = atom_cmpxchg(&codes[at], GROUP_EMPTY, code);
        if (there == GROUP_EMPTY || there == code)
            return (u32)at;
        at = (at + 1) & mask;
    }
    return NO_SLOT;
}

static RECORD record_at(CONTROL control, GLOBAL u8 *records, u64 slot)
{
    return records + slot * control->width;
}

/* The rows of a tile that exist, from `row` on. */
static u32 tile_mask(u64 row, u64 count)
{
    u32 mask = 0;
    EACH mask |= (u32)(row + t * VDBQ_GROUP < count) << t;
    return mask;
}

/* Over the tiles of the work-group: `row` is an item's first one. */
#define TILE_ROWS (ITEM_ROWS * VDBQ_GROUP)
#define EACH_TILE                                                             \
    for (u64 row = get_group_id(0) * TILE_ROWS + get_local_id(0),             \
             end_ = count + get_local_id(0);                                  \
         row < end_; row += get_num_groups(0) * TILE_ROWS)

/* --------------------------------------------------- what comes first -- */

/* The sum's state behind the rows passed over: exec/sum.h. */
struct group_sum {
    i64 limbs[3];
    u32 top;
    u32 special;
};

static volatile GLOBAL struct group_sum *
sum_at(RECORD record, GLOBAL const struct group_aggregate *aggregate)
{
    return (volatile GLOBAL struct group_sum *)(record + aggregate->at + 8);
}

/* Notes that a sum needs a `top`. */
static void need_top(RECORD record,
                     GLOBAL const struct group_aggregate *aggregate, u32 top)
{
    volatile GLOBAL u32 *next =
        (volatile GLOBAL u32 *)(record + aggregate->raise_at);
    if (top > sum_at(record, aggregate)->top && top > *next)
        atomic_max(next, top);
}

/* The `top` that a value needs; of one that is no number 0, and its kind is
 * noted. */
static u32 top_of(RECORD record,
                  GLOBAL const struct group_aggregate *aggregate, f64 value)
{
    u64 bits = as_ulong(value);
    u32 exponent = (u32)(bits >> 52) & 0x7ff;
    if (exponent == 0x7ff) {
        atomic_or(&sum_at(record, aggregate)->special,
                  (bits << 12) != 0 ? 4U
                  : (bits >> 63)    ? 2U
                                    : 1U);
        return 0;
    }
    return (exponent + 1) / 32;
}

/* The tops of a tile's rows. With a table in local memory they are collected
 * there, one a slot and aggregate. */
static void find_tops(CONTROL control, ROWS rows, GLOBAL u8 *records, u32 i,
                      const u32 *slot, u64 row, u32 mask,
                      volatile LOCAL u32 *tops)
{
    GLOBAL const struct group_aggregate *aggregate = &control->aggregate[i];
    u64 value[ITEM_ROWS];
    mask = kept_rows(rows, aggregate, row, mask);
    load(rows, &aggregate->value, row, mask, value);
    EACH_OF(mask)
    {
        RECORD record = record_at(control, records, slot[t]);
        u32 top = top_of(record, aggregate,
                         real_of(aggregate->value.type, value[t]));
#ifdef VDBQ_LOCAL
        u32 at = slot[t] * control->aggregates + i;
        if (top > tops[at])
            atomic_max(&tops[at], top);
#else
        need_top(record, aggregate, top);
#endif
    }
}

/* The first row of EARLIEST, by its number's complement. */
static void find_earliest(CONTROL control, ROWS rows, GLOBAL u8 *records,
                          u32 i, const u32 *slot, u64 row, u32 mask,
                          u64 number)
{
    GLOBAL const struct group_aggregate *aggregate = &control->aggregate[i];
    mask = kept_rows(rows, aggregate, row, mask);
    EACH_OF(mask)
    {
        volatile GLOBAL u64 *state =
            (volatile GLOBAL u64 *)(record_at(control, records, slot[t]) +
                                    aggregate->at);
        u64 before = ~(number + t * VDBQ_GROUP);
        if (state[1] < before)
            atom_max(state + 1, before);
    }
}

/* Finds the slots of rows; false: some have none. */
static bool find_slots(CONTROL control, ROWS rows,
                       volatile GLOBAL u64 *codes, u64 row, u32 mask,
                       u32 *slot)
{
    u64 code[ITEM_ROWS];
    u32 without = row_codes(control, rows, row, mask, code);
    bool found = true;
    EACH slot[t] = (u32)code[t];
    if (!control->hashed)
        return true;
    EACH_OF(mask)
    {
        slot[t] = code_slot(control, codes, code[t], without >> t & 1);
        found = found && slot[t] != NO_SLOT;
    }
    return found;
}

/* Rows [first, first + count) of the buffer, which are numbered from `number`
 * on. Writes the slot of each where codes are hashed. */
KERNEL void vdbq_group_find(CONTROL control, ROWS rows, GLOBAL u8 *records,
                            volatile GLOBAL u64 *codes, GLOBAL u32 *slots,
                            volatile GLOBAL struct group_state *state,
                            u64 first, u64 count, u64 number)
{
    LOCAL u32 *tops = 0;
#ifdef VDBQ_LOCAL
    LOCAL u32 room[GROUP_LOCAL_BYTES / 4];
    u32 words = (u32)control->slots * control->aggregates;
    tops = room;
    for (u32 i = (u32)get_local_id(0); i < words; i += VDBQ_GROUP)
        tops[i] = 0;
    WAIT;
#endif
    EACH_TILE
    {
        u32 mask = tile_mask(row, count), slot[ITEM_ROWS];
        if (!find_slots(control, rows, codes, first + row, mask, slot)) {
            state->full = 1;
            return;
        }
        if (control->hashed)
            EACH_OF(mask) slots[row + t * VDBQ_GROUP] = slot[t];
        for (u32 i = 0; i < control->aggregates; i++)
            if (control->aggregate[i].kind == GROUP_REAL)
                find_tops(control, rows, records, i, slot, first + row, mask,
                          tops);
            else if (control->aggregate[i].kind == GROUP_EARLIEST)
                find_earliest(control, rows, records, i, slot, first + row,
                              mask, number + row);
    }
#ifdef VDBQ_LOCAL
    WAIT;
    for (u32 i = (u32)get_local_id(0); i < words; i += VDBQ_GROUP)
        if (tops[i] > 0)
            need_top(record_at(control, records, i / control->aggregates),
                     &control->aggregate[i % control->aggregates], tops[i]);
#endif
}

/* Lets the lowest limbs go where a sum's `top` rises: exec/sum.c. */
static void raise(RECORD record, GLOBAL const struct group_aggregate *aggregate)
{
    volatile GLOBAL struct group_sum *sum = sum_at(record, aggregate);
    u32 top = *(volatile GLOBAL u32 *)(record + aggregate->raise_at);
    u32 rise = top > sum->top ? top - sum->top : 0;
    if (rise == 0)
        return;
    sum->limbs[2] = rise < 3 ? sum->limbs[2 - rise] : 0;
    sum->limbs[1] = rise < 2 ? sum->limbs[0] : 0;
    sum->limbs[0] = 0;
    sum->top = top;
}

KERNEL void vdbq_group_raise(CONTROL control, GLOBAL u8 *records,
                             volatile GLOBAL struct group_state *state,
                             u64 slots)
{
    for (u64 slot = get_global_id(0); slot < slots;
         slot += get_global_size(0))
        for (u32 i = 0; i < control->aggregates; i++)
            if (control->aggregate[i].kind == GROUP_REAL)
                raise(record_at(control, records, slot),
                      &control->aggregate[i]);
}

/* ---------------------------------------------------------------- adding -- */

#ifdef VDBQ_LOCAL
#define TABLE LOCAL
#else
#define TABLE GLOBAL
#endif

/* Adds to an integer of 64 bits; whether it carried over. Of memory that a
 * work-group shares, 32 bits are what is added fast. */
static u32 add(volatile TABLE u64 *to, u64 value)
{
#ifdef VDBQ_LOCAL
    volatile LOCAL u32 *word = (volatile LOCAL u32 *)to;
    u32 low = (u32)value;
    u64 high = value >> 32;
    if (low != 0)
        high += atomic_add(word, low) + low < low;
    if ((u32)high != 0)
        high += (u64)(atomic_add(word + 1, (u32)high) + (u32)high <
                      (u32)high)
                << 32;
    return (u32)(high >> 32);
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

/* 1.5 * 2^52 units, and their bits: exec/sum.h. */
#define ROUND_0 0x1.8p52
#define ROUND_1 0x1.8p20
#define ROUND_2 0x1.8p-12

/* The digits of a number for a sum of that `top`; of none, 0. */
static void digits_of(f64 value, u32 top, u64 *digits)
{
    f64 left = value * as_double((u64)(2046 - 32 * top) << 52), rounded;
    digits[0] = digits[1] = digits[2] = 0;
    if (((as_ulong(value) >> 52) & 0x7ff) == 0x7ff)
        return;
    rounded = left + ROUND_0;
    digits[0] = as_ulong(rounded) - as_ulong(ROUND_0);
    left -= rounded - ROUND_0;
    rounded = left + ROUND_1;
    digits[1] = as_ulong(rounded) - as_ulong(ROUND_1);
    left -= rounded - ROUND_1;
    rounded = left + ROUND_2;
    digits[2] = as_ulong(rounded) - as_ulong(ROUND_2);
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
                            order_of(aggregate->value.type, value[t]) -
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
        state[3] = IS_WIDE(aggregate->value.type) ? value[t]
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
            u64 order = order_of(type, value[t]) ^ aggregate->flip;
            best = order > best ? order : best;
        }
        greater(state + 1, best);
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
        greater(to[t], order_of(type, value[t]) ^ aggregate->flip);
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
        if (aggregate->kind == GROUP_WIDE && (own[1] | own[2]) != 0) {
            u64 low = own[1];
            u64 high = own[2] + (atom_add(state + 1, low) + low < low);
            if (high != 0)
                atom_add(state + 2, high);
        }
    }
}

#endif

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

/* ------------------------------------------------------------- all slots -- */

/* Puts the groups of a table into a larger one; the codes' `old` slots. */
KERNEL void vdbq_group_grow(CONTROL control,
                            GLOBAL const u8 *restrict old_records,
                            GLOBAL const u64 *restrict old_codes,
                            GLOBAL u8 *records, volatile GLOBAL u64 *codes,
                            volatile GLOBAL struct group_state *state,
                            u64 old_slots)
{
    for (u64 i = get_global_id(0); i < old_slots + 2;
         i += get_global_size(0)) {
        u32 slot = (u32)(control->slots + i - old_slots);
        if (i < old_slots && old_codes[i] == GROUP_EMPTY)
            continue;
        if (i < old_slots)
            slot = code_slot(control, codes, old_codes[i], 0);
        if (slot == NO_SLOT) {
            state->full = 1;
            continue;
        }
        for (u32 k = 0; k < control->width / 8; k++)
            ((GLOBAL u64 *)record_at(control, records, slot))[k] =
                ((GLOBAL const u64 *)(old_records + i * control->width))[k];
    }
}

/* Copies the groups among slots [0, slots), in any order: a struct group_out
 * each, then the record. */
KERNEL void vdbq_group_out(CONTROL control, GLOBAL const u8 *restrict records,
                           GLOBAL const u64 *restrict codes,
                           GLOBAL u64 *restrict out,
                           volatile GLOBAL struct group_state *state,
                           u64 slots, u64 room)
{
    u64 words = control->out / 8;
    for (u64 slot = get_global_id(0); slot < slots;
         slot += get_global_size(0)) {
        GLOBAL const u64 *record =
            (GLOBAL const u64 *)(records + slot * control->width);
        u64 place;
        if (record[1] == 0)
            continue;
        place = atomic_inc(&state->count);
        if (place >= room)
            continue;
        out[place * (words + 2)] = !control->hashed         ? slot
                                   : slot >= control->slots ? GROUP_EMPTY
                                                            : codes[slot];
        out[place * (words + 2) + 1] =
            control->hashed && slot > control->slots;
        for (u64 k = 0; k < words; k++)
            out[place * (words + 2) + 2 + k] = record[k];
    }
}
