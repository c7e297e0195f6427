/* SPDX-License-Identifier: MIT */
/*
 * Joining on a device (cl/join.h): left rows find their slots, are counted,
 * and the counts added up; then each output row looks up which left row it is
 * of. So the items' work is the same whatever the counts are.
 */
#include "hash.h"
#include "join.h"
#include "kernel.cl"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define CONTROL GLOBAL const struct join_control *
#define ROWS GLOBAL const u8 *

/* Output rows of an item at a time: of each VDBQ_GROUP rows one, so that the
 * items of a group write neighbours. */
#if VDBQ_GROUP > 1
#define ITEM_ROWS 8
#else
#define ITEM_ROWS 256
#endif
#define BLOCK (ITEM_ROWS * VDBQ_GROUP)

/* ----------------------------------------------------------------- keys -- */

static int is_null(ROWS rows, GLOBAL const struct join_column *column, u64 row)
{
    return column->nulls != JOIN_NO_NULLS && rows[column->nulls + row] != 0;
}

/* The bits of a value, in which equal ones are equal. `*number`: it is one;
 * a NaN equals nothing. */
static u64 bits_of(ROWS rows, GLOBAL const struct join_column *column, u64 row,
                   int *number)
{
    u64 bits;
    *number = 1;
    if (TYPE_IS_WIDE(column->type)) {
        bits = ((GLOBAL const u64 *)(rows + column->values))[row];
        if (column->type != TYPE_F64)
            return bits;
        *number = !isnan(as_double(bits));
        return as_double(bits) == 0.0 ? 0 : bits;
    }
    bits = ((GLOBAL const u32 *)(rows + column->values))[row];
    if (column->type != TYPE_F32)
        return bits;
    *number = !isnan(as_float((u32)bits));
    return as_float((u32)bits) == 0.0f ? 0 : bits;
}

/* The same of a left row, a text's number being that of the right side. */
static u64 left_bits(GLOBAL const struct join_key *key, ROWS left,
                     GLOBAL const u32 *words, u64 row, int *number)
{
    u64 bits = bits_of(left, &key->left, row, number);
    if (!key->translated)
        return bits;
    return bits < key->word_count ? words[key->words + bits] : JOIN_NONE;
}

static u32 tag_of(CONTROL control, u64 hash, u64 bits)
{
    return control->tagged ? (u32)bits : (u32)(hash >> 32);
}

/* Whether two right rows have the same keys, of which none is a NaN. */
static int same_right(CONTROL control, ROWS right, u32 a, u32 b)
{
    int number;
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct join_column *column = &control->key[i].right;
        int null = is_null(right, column, a);
        if (null != is_null(right, column, b) ||
            (!null && bits_of(right, column, a, &number) !=
                          bits_of(right, column, b, &number)))
            return 0;
    }
    return 1;
}

/* Whether a left and a right row have the same keys. */
static int same(CONTROL control, ROWS left, GLOBAL const u32 *words,
                u64 row, ROWS right, u32 other)
{
    int number;
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct join_key *key = &control->key[i];
        int null = is_null(left, &key->left, row);
        if (null != is_null(right, &key->right, other) ||
            (!null && left_bits(key, left, words, row, &number) !=
                          bits_of(right, &key->right, other, &number)))
            return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- slots -- */

/* The slot of a value in a dense index. */
static u32 dense_slot(CONTROL control, u32 type, u64 bits)
{
    i64 value = TYPE_IS_WIDE(type) ? (i64)bits : (i64)(i32)(u32)bits;
    u64 slot = (u64)value - (u64)control->base;
    return slot < control->slots ? (u32)slot : JOIN_NONE;
}

/* What a slot has, which gets `own` where it is empty. It is read before it is
 * written, by others, too: but it is written once, as a whole. */
static u64 take_slot(volatile GLOBAL u64 *slot, u64 own)
{
    u64 there = *slot;
    return there == JOIN_EMPTY ? atom_cmpxchg(slot, JOIN_EMPTY, own) : there;
}

/* The slot of a right row's key, made where there is none; `*met`: another row has
 * it. */
static u32 make_slot(CONTROL control, ROWS right, volatile GLOBAL u64 *slots,
                     u64 hash, u32 tag, u32 row, int *met)
{
    u64 own = (u64)tag << 32 | row, mask = control->slots - 1;
    for (u64 at = hash & mask;; at = (at + 1) & mask) {
        u64 there = take_slot(&slots[at], own);
        *met = there != JOIN_EMPTY;
        if (!*met ||
            ((u32)(there >> 32) == tag &&
             (control->tagged || same_right(control, right, (u32)there, row))))
            return (u32)at;
    }
}

/* The same of a dense index. */
static u32 make_dense(volatile GLOBAL u64 *slots, u32 slot, u32 row, int *met)
{
    *met = slot != JOIN_NONE && take_slot(&slots[slot], row) != JOIN_EMPTY;
    return slot;
}

/* The slot of a right row; JOIN_NONE: no row equals it. */
static u32 right_slot(CONTROL control, ROWS right, volatile GLOBAL u64 *slots,
                      u64 row, int *met)
{
    u64 hash = 0, bits = 0;
    int number;
    *met = 0;
    if (control->keys == 0)
        return make_dense(slots, 0, (u32)row, met);
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct join_column *column = &control->key[i].right;
        int null = is_null(right, column, row);
        bits = bits_of(right, column, row, &number);
        if (null ? !control->nulls_match : !number)
            return JOIN_NONE;
        hash = hash_mix(hash, null ? JOIN_EMPTY : bits);
    }
    if (!control->hashed)
        return make_dense(slots,
                          dense_slot(control, control->key[0].right.type, bits),
                          (u32)row, met);
    hash = hash_end(hash);
    return make_slot(control, right, slots, hash, tag_of(control, hash, bits),
                     (u32)row, met);
}

static u32 find_slot(CONTROL control, ROWS left,
                     GLOBAL const u32 *words, u64 row, ROWS right,
                     GLOBAL const u64 *slots, u64 hash, u32 tag)
{
    u64 mask = control->slots - 1;
    for (u64 at = hash & mask;; at = (at + 1) & mask) {
        u64 there = slots[at];
        if (there == JOIN_EMPTY)
            return JOIN_NONE;
        if ((u32)(there >> 32) == tag &&
            (control->tagged ||
             same(control, left, words, row, right, (u32)there)))
            return (u32)at;
    }
}

/* The slot of a left row; JOIN_NONE: it has no partner. */
static u32 left_slot(CONTROL control, ROWS left,
                     GLOBAL const u32 *words, u64 row, ROWS right,
                     GLOBAL const u64 *slots)
{
    u64 hash = 0, bits = 0;
    int number;
    if (control->keys == 0)
        return 0;
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct join_key *key = &control->key[i];
        int null = is_null(left, &key->left, row);
        bits = left_bits(key, left, words, row, &number);
        if (null ? !control->nulls_match || control->tagged : !number)
            return JOIN_NONE;
        hash = hash_mix(hash, null ? JOIN_EMPTY : bits);
    }
    if (!control->hashed)
        return dense_slot(control, control->key[0].left.type, bits);
    hash = hash_end(hash);
    return find_slot(control, left, words, row, right, slots, hash,
                     tag_of(control, hash, bits));
}

/* ---------------------------------------------------------------- index -- */

/* Gives the right rows their slots; `*met` is set where two have the same. Where
 * that matters it makes elements (cl/sort.cl) of them, by slot; rows that nothing
 * equals come behind all slots. */
KERNEL void vdbq_join_find(CONTROL restrict control, ROWS restrict right,
                           volatile GLOBAL u64 *slots,
                           GLOBAL u64 *restrict elements,
                           volatile GLOBAL u32 *met, u64 count)
{
    int some = 0, other;
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u32 slot = right_slot(control, right, slots, i, &other);
        some |= other;
        if (control->single)
            continue;
        if (slot == JOIN_NONE)
            slot = (u32)control->slots;
        elements[i] = (u64)slot << 32 | i;
    }
    if (some && *met == 0)
        *met = 1;
}

/* Of elements in their order: the rows, and where those of each slot stand. */
KERNEL void vdbq_join_spans(GLOBAL const u64 *restrict elements,
                            GLOBAL struct join_span *restrict spans,
                            GLOBAL u32 *restrict rows, u64 count, u64 slots)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u64 slot = elements[i] >> 32;
        rows[i] = (u32)elements[i];
        if (slot >= slots)
            continue;
        if (i == 0 || elements[i - 1] >> 32 != slot)
            spans[slot].start = (u32)i;
        if (i + 1 == count || elements[i + 1] >> 32 != slot)
            spans[slot].end = (u32)i + 1;
    }
}

/* --------------------------------------------------------------- counts -- */

SUM_BEFORE(u64)

/* The right rows of a slot: where they stand, or of a single one its number. */
static struct join_span partners_of(CONTROL control, GLOBAL const u64 *slots,
                                    GLOBAL const struct join_span *spans,
                                    u32 slot)
{
    struct join_span none = { 0, 0 };
    if (slot == JOIN_NONE)
        return none;
    if (!control->single)
        return spans[slot];
    if (slots[slot] != JOIN_EMPTY) {
        none.start = (u32)slots[slot];
        none.end = none.start + 1;
    }
    return none;
}

/* Finds each left row's first partner among the right rows in their order,
 * and counts its output rows. Each work-group has a span of the rows, and puts
 * their sum behind `sums`. */
KERNEL void vdbq_join_count(CONTROL restrict control, ROWS restrict left,
                            ROWS restrict right,
                            GLOBAL const u32 *restrict words,
                            GLOBAL const u64 *restrict slots,
                            GLOBAL const struct join_span *restrict spans,
                            GLOBAL u32 *restrict first,
                            GLOBAL u64 *restrict places, u64 count, u64 span,
                            u64 sums)
{
    LOCAL u64 room[VDBQ_GROUP];
    u64 start = get_group_id(0) * span, sum = 0, all;
    u64 end = start + span < count ? start + span : count;
    for (u64 i = start + get_local_id(0); i < end; i += VDBQ_GROUP) {
        u32 slot = left_slot(control, left, words, i, right, slots);
        struct join_span partners = partners_of(control, slots, spans, slot);
        u32 found = partners.end - partners.start;
        u32 rows = found < control->most ? found : control->most;
        rows = found > 0 ? rows : control->alone;
        first[i] = found > 0 ? partners.start : JOIN_NONE;
        places[i] = rows;
        sum += rows;
    }
    sum_before(room, sum, &all);
    if (get_local_id(0) == 0)
        places[sums + get_group_id(0)] = all;
}

/* One work-group adds up the sums over the spans. */
KERNEL void vdbq_join_sums(GLOBAL u64 *restrict places, u64 spans, u64 sums)
{
    LOCAL u64 room[VDBQ_GROUP];
    u64 before = 0, all;
    if (get_group_id(0) > 0)
        return;
    for (u64 i = 0; i < spans; i += VDBQ_GROUP) {
        u64 at = i + get_local_id(0);
        u64 value = at < spans ? places[sums + at] : 0;
        u64 sum = before + sum_before(room, value, &all);
        if (at < spans)
            places[sums + at] = sum;
        before += all;
    }
}

/* Turns the counts into the place of each left row's first output row; behind
 * them comes how many there are of all. */
KERNEL void vdbq_join_places(GLOBAL u64 *restrict places, u64 count, u64 span,
                             u64 sums)
{
    LOCAL u64 room[VDBQ_GROUP];
    u64 start = get_group_id(0) * span, all;
    u64 end = start + span < count ? start + span : count;
    u64 before = start < count ? places[sums + get_group_id(0)] : 0;
    for (u64 i = start; i < end; i += VDBQ_GROUP) {
        u64 at = i + get_local_id(0);
        u64 value = at < end ? places[at] : 0;
        u64 sum = before + sum_before(room, value, &all);
        if (at < end)
            places[at] = sum;
        before += all;
    }
    if (start < count && end == count && get_local_id(0) == 0)
        places[count] = before;
}

/* --------------------------------------------------------------- expand -- */

/* What an item's output rows are made of. */
struct partners {
    u32 left[ITEM_ROWS];
    u32 right[ITEM_ROWS]; /* JOIN_NONE: NULLs */
};
#define EACH_ROW                                                              \
    for (u32 t = 0; t < ITEM_ROWS; t++)                                       \
        if (row + t * VDBQ_GROUP < count)

/* Writes a column of the output rows from `row` on, one of each VDBQ_GROUP,
 * as far as there are. */
static void put_column(GLOBAL const struct join_output *output, ROWS from,
                       GLOBAL u8 *out, const struct partners *own, u64 row,
                       u64 count)
{
    GLOBAL const u64 *wide = (GLOBAL const u64 *)(from + output->values);
    GLOBAL const u32 *narrow = (GLOBAL const u32 *)(from + output->values);
    GLOBAL u64 *to_wide = (GLOBAL u64 *)(out + output->to_values) + row;
    GLOBAL u32 *to_narrow = (GLOBAL u32 *)(out + output->to_values) + row;
    GLOBAL u8 *to_nulls = out + output->to_nulls + row;
    u32 is_right = output->right, rows[ITEM_ROWS];
    EACH_ROW rows[t] = is_right ? own->right[t] : own->left[t];
    if (output->width == 8) {
        EACH_ROW to_wide[t * VDBQ_GROUP] =
            rows[t] == JOIN_NONE ? 0 : wide[rows[t]];
    } else {
        EACH_ROW to_narrow[t * VDBQ_GROUP] =
            rows[t] == JOIN_NONE ? 0 : narrow[rows[t]];
    }
    if (output->to_nulls == JOIN_NO_NULLS)
        return;
    EACH_ROW to_nulls[t * VDBQ_GROUP] =
        rows[t] == JOIN_NONE ||
        (output->nulls != JOIN_NO_NULLS && from[output->nulls + rows[t]] != 0);
}

/* Makes output rows [start, start + count) of `left_rows` left rows; `single`:
 * `first` has the right ones themselves. */
KERNEL void vdbq_join_expand(GLOBAL const struct join_output *restrict outputs,
                             ROWS restrict left, ROWS restrict right,
                             GLOBAL const u32 *restrict rows,
                             GLOBAL const u32 *restrict first,
                             GLOBAL const u64 *restrict places,
                             GLOBAL u8 *restrict out, u64 left_rows, u64 start,
                             u64 count, u64 columns, u64 single)
{
    struct partners own;
    for (u64 block = get_group_id(0) * BLOCK; block < count;
         block += get_num_groups(0) * BLOCK) {
        u64 last = block + BLOCK < count ? block + BLOCK : count;
        u64 low = row_at(places, start + block, 0, left_rows);
        u64 high = row_at(places, start + last - 1, low, left_rows) + 1;
        u64 row = block + get_local_id(0);
        EACH_ROW {
            u64 place = start + row + t * VDBQ_GROUP;
            u32 from;
            low = row_at(places, place, low, high);
            from = first[low];
            own.left[t] = (u32)low;
            if (from != JOIN_NONE && !single)
                from = rows[from + place - places[low]];
            own.right[t] = from;
        }
        for (u64 c = 0; c < columns; c++)
            put_column(&outputs[c], outputs[c].right ? right : left, out, &own,
                       row, count);
    }
}
