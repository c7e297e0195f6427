/* SPDX-License-Identifier: MIT */
/*
 * Sorting on a device. What is sorted are elements of 64 bits: the number of
 * a row, and above it 32 bits of its key, which are sorted DIGIT_BITS at a
 * time, the lowest first. Each work-group has a span of the elements: they
 * are counted by digit, the counts are added up over the spans before, and
 * then each span is moved block by block; elements of one digit keep their
 * order.
 */
#include "types.h"
#include "kernel.cl"
#include "order.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)
#define ITEM_ELEMENTS 8
#define BLOCK (VDBQ_GROUP * ITEM_ELEMENTS)
#define DIGIT_OF(element, shift) ((u32)((element) >> (shift)) & (DIGITS - 1))

SUM_BEFORE(u32)

/* ---------------------------------------------------------------- codes -- */

/* What sort_codes takes of a key: bits of `how` are the type, then: */
#define CODE_DESCENDING 256U
#define CODE_HIGH 512U        /* the upper 32 bits of the code */
#define CODE_NULL 1024U       /* whether it is NULL            */
#define CODE_NULLS_LAST 2048U
#define CODE_FIRST 4096U      /* the elements are to be made   */
#define NO_NULLS 0xffffffffffffffffUL

static u64 code_of(GLOBAL const u8 *restrict rows, u64 values, u32 how,
                   u64 base, u32 row)
{
    u32 type = how & 255U;
    GLOBAL const i64 *wide = (GLOBAL const i64 *)(rows + values);
    GLOBAL const i32 *narrow = (GLOBAL const i32 *)(rows + values);
    i64 value = TYPE_IS_WIDE(type) ? wide[row] : (i64)narrow[row];
    u64 code = value_code(type, (u64)value) - base;
    return (how & CODE_DESCENDING) ? ~code : code;
}

/* Gives elements the bits of a key that are sorted next. */
KERNEL void vdbq_sort_codes(GLOBAL const u8 *restrict rows,
                            GLOBAL u64 *restrict elements, u64 values,
                            u64 nulls, u64 how64, u64 base, u64 mask,
                            u64 count)
{
    u32 how = (u32)how64;
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u32 row = (how & CODE_FIRST) ? (u32)i : (u32)elements[i];
        int null = nulls != NO_NULLS && rows[nulls + row] != 0;
        u64 code;
        if (how & CODE_NULL)
            code = (u64)(null == ((how & CODE_NULLS_LAST) != 0));
        else
            code = null ? 0 : code_of(rows, values, how, base, row);
        if (how & CODE_HIGH)
            code >>= 32;
        elements[i] = (code & mask) << 32 | row;
    }
}

/* ------------------------------------------------------- the first rows -- */

#define BINS 4096

/* Counts rows by the upper bits of their codes. */
KERNEL void vdbq_sort_bins(GLOBAL const u8 *restrict rows,
                           volatile GLOBAL u32 *restrict bins, u64 values,
                           u64 how, u64 base, u64 shift, u64 count)
{
    LOCAL u32 own[BINS];
    for (u32 i = (u32)get_local_id(0); i < BINS; i += VDBQ_GROUP)
        own[i] = 0;
    WAIT;
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u64 code = code_of(rows, values, (u32)how, base, (u32)i);
        atomic_inc(&own[(code >> shift) & (BINS - 1)]);
    }
    WAIT;
    for (u32 i = (u32)get_local_id(0); i < BINS; i += VDBQ_GROUP)
        if (own[i] > 0)
            atomic_add(&bins[i], own[i]);
}

/* Collects the rows of bins [0, last], in any order; bins[0] counts them. */
KERNEL void vdbq_sort_under(GLOBAL const u8 *restrict rows,
                            volatile GLOBAL u32 *restrict bins,
                            GLOBAL u64 *restrict elements, u64 values,
                            u64 how, u64 base, u64 shift, u64 count, u64 last)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u64 code = code_of(rows, values, (u32)how, base, (u32)i);
        if (((code >> shift) & (BINS - 1)) <= last)
            elements[atomic_inc(bins)] = i;
    }
}

/* ---------------------------------------------------------------- radix -- */

KERNEL void vdbq_sort_count(GLOBAL const u64 *restrict elements,
                            GLOBAL u32 *restrict counts, u64 count, u64 span,
                            u64 shift)
{
    LOCAL u32 own[DIGITS * VDBQ_GROUP];
    LOCAL u32 all[DIGITS];
    u32 item = (u32)get_local_id(0);
    u64 start = get_group_id(0) * span;
    u64 end = start + span < count ? start + span : count;
    for (u32 d = 0; d < DIGITS; d++)
        own[d * VDBQ_GROUP + item] = 0;
    for (u32 d = item; d < DIGITS; d += VDBQ_GROUP)
        all[d] = 0;
    WAIT;
    for (u64 i = start + item; i < end; i += VDBQ_GROUP)
        own[DIGIT_OF(elements[i], shift) * VDBQ_GROUP + item]++;
    for (u32 d = 0; d < DIGITS; d++)
        atomic_add(&all[d], own[d * VDBQ_GROUP + item]);
    WAIT;
    for (u32 d = item; d < DIGITS; d += VDBQ_GROUP)
        counts[d * get_num_groups(0) + get_group_id(0)] = all[d];
}

/* A work-group adds up a digit's counts over the spans; behind all counts come
 * the digits' sums. */
KERNEL void vdbq_sort_sum(GLOBAL u32 *restrict counts, u64 spans)
{
    LOCAL u32 room[VDBQ_GROUP];
    for (u32 d = (u32)get_group_id(0); d < DIGITS;
         d += (u32)get_num_groups(0)) {
        GLOBAL u32 *own = counts + d * spans;
        u32 before = 0, all;
        for (u64 i = 0; i < spans; i += VDBQ_GROUP) {
            u64 at = i + get_local_id(0);
            u32 value = at < spans ? own[at] : 0;
            u32 sum = before + sum_before(room, value, &all);
            if (at < spans)
                own[at] = sum;
            before += all;
        }
        if (get_local_id(0) == 0)
            counts[DIGITS * spans + d] = before;
    }
}

/* Gives each item's digits of a block their places in the block. */
static void place_digits(LOCAL ushort *own, LOCAL u32 *room, LOCAL u32 *first)
{
    u32 item = (u32)get_local_id(0), sum = 0, all;
    u32 start = item * DIGITS;
    for (u32 i = 0; i < DIGITS; i++)
        sum += own[start + i];
    sum = sum_before(room, sum, &all);
    for (u32 i = 0; i < DIGITS; i++) {
        u32 value = own[start + i];
        own[start + i] = (ushort)sum;
        sum += value;
    }
    WAIT;
    for (u32 d = item; d < DIGITS; d += VDBQ_GROUP)
        first[d] = own[d * VDBQ_GROUP];
    WAIT;
}

/* Puts a block, which is in `staged`, into the order of its digits. */
static void order_block(LOCAL u64 *staged, LOCAL ushort *own, LOCAL u32 *room,
                        LOCAL u32 *first, u32 rows, u64 shift)
{
    u32 item = (u32)get_local_id(0);
    u64 element[ITEM_ELEMENTS];
    for (u32 d = 0; d < DIGITS; d++)
        own[d * VDBQ_GROUP + item] = 0;
    for (u32 e = 0; e < ITEM_ELEMENTS; e++) {
        u32 at = item * ITEM_ELEMENTS + e;
        element[e] = staged[at];
        if (at < rows)
            own[DIGIT_OF(element[e], shift) * VDBQ_GROUP + item]++;
    }
    WAIT;
    place_digits(own, room, first);
    for (u32 e = 0; e < ITEM_ELEMENTS; e++)
        if (item * ITEM_ELEMENTS + e < rows)
            staged[own[DIGIT_OF(element[e], shift) * VDBQ_GROUP + item]++] =
                element[e];
    WAIT;
}

KERNEL void vdbq_sort_move(GLOBAL const u64 *restrict elements,
                           GLOBAL u64 *restrict other,
                           GLOBAL const u32 *restrict counts, u64 count,
                           u64 span, u64 shift)
{
    LOCAL u64 staged[BLOCK];
    LOCAL ushort own[DIGITS * VDBQ_GROUP];
    LOCAL u32 room[VDBQ_GROUP], first[DIGITS + 1], base[DIGITS];
    u32 item = (u32)get_local_id(0), spans = (u32)get_num_groups(0);
    u64 start = get_group_id(0) * span;
    u64 end = start + span < count ? start + span : count;
    for (u32 d = item; d < DIGITS; d += VDBQ_GROUP) {
        base[d] = counts[d * spans + get_group_id(0)];
        for (u32 k = 0; k < d; k++)
            base[d] += counts[DIGITS * spans + k];
    }
    for (; start < end; start += BLOCK) {
        u32 rows = end - start < BLOCK ? (u32)(end - start) : BLOCK;
        for (u32 i = item; i < rows; i += VDBQ_GROUP)
            staged[i] = elements[start + i];
        WAIT;
        order_block(staged, own, room, first, rows, shift);
        for (u32 i = item; i < rows; i += VDBQ_GROUP) {
            u32 digit = DIGIT_OF(staged[i], shift);
            other[base[digit] + i - first[digit]] = staged[i];
        }
        if (item == 0)
            first[DIGITS] = rows;
        WAIT;
        for (u32 d = item; d < DIGITS; d += VDBQ_GROUP)
            base[d] += first[d + 1] - first[d];
        WAIT;
    }
}

/* ---------------------------------------------------------------- copies -- */

/* Copies values of rows by elements [first, first + count), to [0, count). */
KERNEL void vdbq_sort_pick(GLOBAL const u8 *restrict from,
                           GLOBAL const u64 *restrict elements,
                           GLOBAL u8 *restrict to, u64 from_at, u64 to_at,
                           u64 width, u64 first, u64 count)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u32 row = (u32)elements[first + i];
        if (width == 8)
            ((GLOBAL u64 *)(to + to_at))[i] =
                ((GLOBAL const u64 *)(from + from_at))[row];
        else if (width == 4)
            ((GLOBAL u32 *)(to + to_at))[i] =
                ((GLOBAL const u32 *)(from + from_at))[row];
        else
            to[to_at + i] = from[from_at + row];
    }
}
