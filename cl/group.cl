/* SPDX-License-Identifier: MIT */
/*
 * Grouping on a device: result rows of the machine are taken into the records
 * of a table (cl/group.h), by atomic operations whose order does not matter:
 * integers are added, with their carries, and the greater of two codes stays.
 *
 * Set by the host: VDBQ_GROUP, work-items of a group (1 on a CPU, where
 * nothing waits), and VDBQ_LOCAL where a work-group adds to a table of its own
 * in local memory first.
 *
 * Rows are taken in three steps. vdbq_group_find makes the slots of codes, and
 * notes which `top` a group's sums of floats need and which row is its first.
 * vdbq_group_raise gives the sums that `top`. vdbq_group_add does the rest.
 */
#include "group.h"
#include "order.h"

#ifndef VDBQ_GROUP
#define VDBQ_GROUP 1
#endif

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#pragma OPENCL FP_CONTRACT OFF
#define GLOBAL __global
#define LOCAL __local
#define CONTROL GLOBAL const struct group_control *restrict
#define ROWS GLOBAL const u8 *restrict
#define RECORD volatile GLOBAL u8 *

/* Rows that an item takes at a time, one behind the group's others. */
#define ITEM_ROWS 8
#define EACH for (u32 t = 0; t < ITEM_ROWS; t++)
#define NO_SLOT 0xffffffffU
#define PROBES_MAX 256

#if VDBQ_GROUP > 1
#define WAIT barrier(CLK_LOCAL_MEM_FENCE)
#else
#define WAIT
#endif

/* -------------------------------------------------------------- values -- */

static int is_null(ROWS rows, GLOBAL const struct group_column *column,
                   u64 row)
{
    return column->nullable && rows[column->nulls + row] != 0;
}

static i32 value_i32(ROWS rows, GLOBAL const struct group_column *column,
                     u64 row)
{
    return ((GLOBAL const i32 *)(rows + column->values))[row];
}

static i64 value_i64(ROWS rows, GLOBAL const struct group_column *column,
                     u64 row)
{
    return ((GLOBAL const i64 *)(rows + column->values))[row];
}

/* A float, wider where it is a short one. */
static f64 value_real(ROWS rows, GLOBAL const struct group_column *column,
                      u64 row)
{
    if (column->type == TYPE_F64)
        return as_double(value_i64(rows, column, row));
    return (f64)as_float(value_i32(rows, column, row));
}

/* The value's place in the order of its type. */
static u64 value_order(ROWS rows, GLOBAL const struct group_column *column,
                       u64 row)
{
    if (column->type == TYPE_I64)
        return order_of_i64(value_i64(rows, column, row));
    if (column->type == TYPE_F64)
        return order_of_f64(as_double(value_i64(rows, column, row)));
    if (column->type == TYPE_F32)
        return order_of_f32(as_float(value_i32(rows, column, row)));
    return order_of_i64((i64)value_i32(rows, column, row));
}

/* Whether an aggregate takes the row's value in. */
static int is_kept(ROWS rows, GLOBAL const struct group_aggregate *aggregate,
                   u64 row)
{
    if (aggregate->has_filter &&
        (is_null(rows, &aggregate->filter, row) ||
         value_i32(rows, &aggregate->filter, row) == 0))
        return 0;
    return !aggregate->has_value || aggregate->kind == GROUP_EARLIEST ||
           !is_null(rows, &aggregate->value, row);
}

/* --------------------------------------------------------------- slots -- */

/* The code of a row's keys; `*null`: its only key is NULL, which has none. */
static u64 row_code(CONTROL control, ROWS rows, u64 row, int *null)
{
    u64 code = 0;
    *null = 0;
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct group_key *key = &control->key[i];
        u64 own = key->size;
        if (!is_null(rows, &key->column, row))
            own = value_order(rows, &key->column, row) - key->base;
        else if (key->size == 0)
            *null = 1;
        code += own * key->stride;
    }
    return code;
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
                     int null)
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

/* --------------------------------------------------- what comes first -- */

/* The sum's state behind the rows passed over: exec/sum.h. */
struct group_sum {
    i64 limbs[3];
    u32 top;
    u32 special;
};

static void find_top(RECORD record,
                     GLOBAL const struct group_aggregate *aggregate, f64 value)
{
    volatile GLOBAL struct group_sum *sum =
        (volatile GLOBAL struct group_sum *)(record + aggregate->at + 8);
    volatile GLOBAL u32 *next =
        (volatile GLOBAL u32 *)(record + aggregate->raise_at);
    u64 bits = as_ulong(value);
    u32 exponent = (u32)(bits >> 52) & 0x7ff;
    u32 top = (exponent + 1) / 32;
    if (exponent == 0x7ff)
        atomic_or(&sum->special, (bits << 12) != 0 ? 4U
                                 : (bits >> 63)    ? 2U
                                                   : 1U);
    else if (exponent > 30 + 32 * sum->top && top > *next)
        atomic_max(next, top);
}

/* The first row of EARLIEST, by its number's complement. */
static void find_earliest(RECORD record,
                          GLOBAL const struct group_aggregate *aggregate,
                          u64 before)
{
    volatile GLOBAL u64 *state =
        (volatile GLOBAL u64 *)(record + aggregate->at);
    if (state[1] < before)
        atom_max(state + 1, before);
}

static void find_row(CONTROL control, ROWS rows, RECORD record, u64 row,
                     u64 number)
{
    for (u32 i = 0; i < control->aggregates; i++) {
        GLOBAL const struct group_aggregate *aggregate =
            &control->aggregate[i];
        if (aggregate->kind < GROUP_REAL || aggregate->kind == GROUP_BEST ||
            !is_kept(rows, aggregate, row))
            continue;
        if (aggregate->kind == GROUP_REAL)
            find_top(record, aggregate,
                     value_real(rows, &aggregate->value, row));
        else
            find_earliest(record, aggregate, ~number);
    }
}

/* Rows [first, first + count) of the buffer, which are numbered from `number`
 * on. Writes the slot of each. */
__kernel __attribute__((reqd_work_group_size(VDBQ_GROUP, 1, 1))) void
vdbq_group_find(CONTROL control, ROWS rows, GLOBAL u8 *records,
                volatile GLOBAL u64 *codes, GLOBAL u32 *slots,
                volatile GLOBAL struct group_state *state, u64 first,
                u64 count, u64 number)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        int null;
        u64 code = row_code(control, rows, first + i, &null);
        u32 slot = (u32)code;
        if (control->hashed) {
            slot = code_slot(control, codes, code, null);
            slots[i] = slot;
        }
        if (slot == NO_SLOT) {
            state->full = 1;
            return;
        }
        find_row(control, rows, record_at(control, records, slot), first + i,
                 number + i);
    }
}

/* Lets the lowest limbs go where a sum's `top` rises: exec/sum.c. */
static void raise(RECORD record, GLOBAL const struct group_aggregate *aggregate)
{
    volatile GLOBAL struct group_sum *sum =
        (volatile GLOBAL struct group_sum *)(record + aggregate->at + 8);
    u32 top = *(volatile GLOBAL u32 *)(record + aggregate->raise_at);
    u32 rise = top > sum->top ? top - sum->top : 0;
    if (rise == 0)
        return;
    sum->limbs[2] = rise < 3 ? sum->limbs[2 - rise] : 0;
    sum->limbs[1] = rise < 2 ? sum->limbs[0] : 0;
    sum->limbs[0] = 0;
    sum->top = top;
}

__kernel __attribute__((reqd_work_group_size(VDBQ_GROUP, 1, 1))) void
vdbq_group_raise(CONTROL control, GLOBAL u8 *records,
                 volatile GLOBAL struct group_state *state, u64 slots)
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

static void greater(volatile TABLE u64 *to, u64 value)
{
    if (*to < value)
        atom_max(to, value);
}

/* What an item takes in of an aggregate before it adds it to a state. */
struct taken {
    u64 skipped;
    u64 words[3];
};

static void add_taken(volatile TABLE u8 *record,
                      GLOBAL const struct group_aggregate *aggregate,
                      const struct taken *taken)
{
    volatile TABLE u64 *state = (volatile TABLE u64 *)(record + aggregate->at);
    if (taken->skipped != 0)
        add(state, taken->skipped);
    switch (aggregate->kind) {
    case GROUP_NARROW:
        if (taken->words[0] != 0)
            add(state + 1, taken->words[0]);
        break;
    case GROUP_WIDE:
        if ((taken->words[0] | taken->words[1]) != 0)
            add_wide(state + 1, taken->words[0], taken->words[1]);
        break;
    case GROUP_REAL:
        for (u32 i = 0; i < 3; i++)
            if (taken->words[i] != 0)
                add(state + 1 + i, taken->words[i]);
        break;
    case GROUP_BEST:
        greater(state + 1, taken->words[0]);
        break;
    default:
        break;
    }
}

/* 1.5 * 2^52 units, and their bits: exec/sum.h. */
#define ROUND_0 0x1.8p52
#define ROUND_1 0x1.8p20
#define ROUND_2 0x1.8p-12

static void take_real(f64 value, u32 top, struct taken *taken)
{
    f64 left = value * as_double((u64)(2046 - 32 * top) << 52), rounded;
    if (((as_ulong(value) >> 52) & 0x7ff) == 0x7ff)
        return;
    rounded = left + ROUND_0;
    taken->words[0] += as_ulong(rounded) - as_ulong(ROUND_0);
    left -= rounded - ROUND_0;
    rounded = left + ROUND_1;
    taken->words[1] += as_ulong(rounded) - as_ulong(ROUND_1);
    left -= rounded - ROUND_1;
    rounded = left + ROUND_2;
    taken->words[2] += as_ulong(rounded) - as_ulong(ROUND_2);
}

/* Whether a value is the group's first of its kind. */
static int is_new(ROWS rows, GLOBAL const struct group_aggregate *aggregate,
                  volatile GLOBAL u32 *bits, u64 slot, u64 row)
{
    u64 bit = aggregate->bits + slot * aggregate->size +
              value_order(rows, &aggregate->value, row) - aggregate->base;
    u32 mask = 1U << (bit & 31);
    if ((bits[bit / 32] & mask) != 0)
        return 0;
    return (atomic_or(&bits[bit / 32], mask) & mask) == 0;
}

/* Takes a row's value in. `record` is the table's in device memory. */
static void take(ROWS rows, GLOBAL const struct group_aggregate *aggregate,
                 RECORD record, volatile GLOBAL u32 *bits, u64 slot, u64 row,
                 u64 number, struct taken *taken)
{
    volatile GLOBAL u64 *state =
        (volatile GLOBAL u64 *)(record + aggregate->at);
    GLOBAL const struct group_column *value = &aggregate->value;
    i64 wide;
    u64 order;
    if (!is_kept(rows, aggregate, row) ||
        (aggregate->distinct && !is_new(rows, aggregate, bits, slot, row))) {
        taken->skipped++;
        return;
    }
    switch (aggregate->kind) {
    case GROUP_NARROW:
        taken->words[0] += (u64)(i64)value_i32(rows, value, row);
        break;
    case GROUP_WIDE:
        wide = value_i64(rows, value, row);
        taken->words[0] += (u64)wide;
        taken->words[1] +=
            (u64)(wide >> 63) + (taken->words[0] < (u64)wide);
        break;
    case GROUP_REAL:
        take_real(value_real(rows, value, row),
                  ((volatile GLOBAL struct group_sum *)(state + 1))->top,
                  taken);
        break;
    case GROUP_BEST:
        order = value_order(rows, value, row) ^ aggregate->flip;
        taken->words[0] = order > taken->words[0] ? order : taken->words[0];
        break;
    case GROUP_EARLIEST:
        if (state[1] != ~number)
            break;
        state[2] = (u64)is_null(rows, value, row);
        state[3] = value->type == TYPE_I64 || value->type == TYPE_F64
                       ? (u64)value_i64(rows, value, row)
                       : (u64)(u32)value_i32(rows, value, row);
        break;
    default:
        break;
    }
}

#define NOTHING { 0, { 0, 0, 0 } }

/* Where a slot's record is added to. */
static volatile TABLE u8 *target(CONTROL control, volatile TABLE u8 *table,
                                 u64 slot)
{
    return table + slot * control->width;
}

/* Takes in an item's rows [row, row + ITEM_ROWS * VDBQ_GROUP), one of each
 * VDBQ_GROUP; all are of the only group. */
static void add_one(CONTROL control, ROWS rows, GLOBAL u8 *records,
                    volatile GLOBAL u32 *bits, volatile TABLE u8 *table,
                    u64 row, u64 end, u64 number)
{
    volatile TABLE u64 *head = (volatile TABLE u64 *)table;
    u64 count = 0;
    EACH count += row + t * VDBQ_GROUP < end;
    if (count == 0)
        return;
    greater(head, ~number);
    add(head + 1, count);
    for (u32 i = 0; i < control->aggregates; i++) {
        GLOBAL const struct group_aggregate *aggregate =
            &control->aggregate[i];
        struct taken taken = NOTHING;
        EACH if (row + t * VDBQ_GROUP < end)
            take(rows, aggregate, records, bits, 0, row + t * VDBQ_GROUP,
                 number + t * VDBQ_GROUP, &taken);
        add_taken(table, aggregate, &taken);
    }
}

/* ... of any group. */
static void add_each(CONTROL control, ROWS rows, GLOBAL u8 *records,
                     volatile GLOBAL u32 *bits, volatile TABLE u8 *table,
                     const u32 *slot, u64 row, u64 number)
{
    EACH if (slot[t] != NO_SLOT) {
        volatile TABLE u64 *head =
            (volatile TABLE u64 *)target(control, table, slot[t]);
        greater(head, ~(number + t * VDBQ_GROUP));
        add(head + 1, 1);
    }
    for (u32 i = 0; i < control->aggregates; i++) {
        GLOBAL const struct group_aggregate *aggregate =
            &control->aggregate[i];
        EACH if (slot[t] != NO_SLOT) {
            struct taken taken = NOTHING;
            take(rows, aggregate, record_at(control, records, slot[t]), bits,
                 slot[t], row + t * VDBQ_GROUP, number + t * VDBQ_GROUP,
                 &taken);
            add_taken(target(control, table, slot[t]), aggregate, &taken);
        }
    }
}

/* Adds all rows of the work-group to a table. */
static void add_rows(CONTROL control, ROWS rows, GLOBAL u8 *records,
                     GLOBAL const u32 *restrict slots,
                     volatile GLOBAL u32 *bits, volatile TABLE u8 *table,
                     u64 first, u64 count, u64 number)
{
    u64 tile = ITEM_ROWS * VDBQ_GROUP;
    for (u64 start = get_group_id(0) * tile; start < count;
         start += get_num_groups(0) * tile) {
        u64 at = start + get_local_id(0);
        u32 slot[ITEM_ROWS];
        int null;
        if (control->keys == 0) {
            add_one(control, rows, records, bits, table, first + at,
                    first + count, number + at);
            continue;
        }
        EACH {
            u64 row = at + t * VDBQ_GROUP;
            slot[t] = row >= count     ? NO_SLOT
                      : control->hashed ? slots[row]
                                        : (u32)row_code(control, rows,
                                                        first + row, &null);
        }
        add_each(control, rows, records, bits, table, slot, first + at,
                 number + at);
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

__kernel __attribute__((reqd_work_group_size(VDBQ_GROUP, 1, 1))) void
vdbq_group_add(CONTROL control, ROWS rows, GLOBAL u8 *records,
               GLOBAL const u32 *restrict slots, volatile GLOBAL u32 *bits,
               volatile GLOBAL struct group_state *state, u64 first, u64 count,
               u64 number)
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
__kernel __attribute__((reqd_work_group_size(VDBQ_GROUP, 1, 1))) void
vdbq_group_grow(CONTROL control, GLOBAL const u8 *restrict old_records,
                GLOBAL const u64 *restrict old_codes, GLOBAL u8 *records,
                volatile GLOBAL u64 *codes,
                volatile GLOBAL struct group_state *state, u64 old_slots)
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
__kernel __attribute__((reqd_work_group_size(VDBQ_GROUP, 1, 1))) void
vdbq_group_out(CONTROL control, GLOBAL const u8 *restrict records,
               GLOBAL const u64 *restrict codes, GLOBAL u64 *restrict out,
               volatile GLOBAL struct group_state *state, u64 slots, u64 room)
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
