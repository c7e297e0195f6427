/* SPDX-License-Identifier: MIT */
/*
 * The groups of a table: they are listed, as elements that cl/sort.cl brings
 * into the order of their first rows, and then copied as records, for the host,
 * or written as columns, which stay. Part of cl/group.cl.
 */
/* Makes elements of the slots that are groups, in any order: the upper half is
 * the number of the first row, the lower one the slot. */
KERNEL void vdbq_group_list(CONTROL control, GLOBAL const u8 *restrict records,
                            GLOBAL u64 *restrict elements,
                            volatile GLOBAL struct group_state *state,
                            u64 slots, u64 room)
{
    LOCAL u32 count, start;
    for (u64 first = get_group_id(0) * VDBQ_GROUP; first < slots;
         first += get_num_groups(0) * VDBQ_GROUP) {
        u64 slot = first + get_local_id(0);
        GLOBAL const u64 *record =
            (GLOBAL const u64 *)(records + slot * control->width);
        u32 is_group = slot < slots && record[1] != 0, place = 0;
        if (get_local_id(0) == 0)
            count = 0;
        WAIT;
        if (is_group)
            place = atomic_inc(&count);
        WAIT;
        if (get_local_id(0) == 0 && count > 0)
            start = atomic_add(&state->count, count);
        WAIT;
        if (is_group && start + place < room)
            elements[start + place] = ~record[0] << 32 | slot;
    }
}

/* A part of the code of a slot's keys. */
static u64 slot_part(CONTROL control, GLOBAL const u64 *restrict codes,
                     u64 slot, u32 part)
{
    return !control->hashed         ? slot
           : slot >= control->slots ? GROUP_EMPTY
                                    : codes[slot * control->parts + part];
}

/* The marks of a slot's keys: of an only key they follow from where it is. */
static u64 slot_marks(CONTROL control, GLOBAL const u64 *restrict codes,
                      u64 slot)
{
    if (control->parts > 1)
        return slot_part(control, codes, slot, 0);
    return !control->hashed || slot < control->slots ? GROUP_MARK_CODE
           : slot == control->slots                  ? GROUP_MARK_EMPTY
                                                     : GROUP_MARK_NULL;
}

/* Copies groups in the order of elements [0, count), or of as many as were listed:
 * behind a u64, how many were, a struct group_out each, with all parts, then the
 * record. */
KERNEL void vdbq_group_out(CONTROL control, GLOBAL const u8 *restrict records,
                           GLOBAL const u64 *restrict codes,
                           GLOBAL const u64 *restrict elements,
                           GLOBAL u64 *restrict out,
                           volatile GLOBAL const struct group_state *state,
                           u64 count)
{
    u64 words = control->out / 8;
    if (get_global_id(0) == 0)
        *out = state->count;
    if (count > state->count)
        count = state->count;
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u64 slot = (u32)elements[i];
        GLOBAL const u64 *record =
            (GLOBAL const u64 *)(records + slot * control->width);
        GLOBAL u64 *to = out + 1 + i * (1 + control->parts + words);
        *to++ = slot_marks(control, codes, slot);
        for (u32 w = 0; w < control->parts; w++)
            *to++ = slot_part(control, codes, slot, w);
        for (u64 k = 0; k < words; k++)
            to[k] = record[k];
    }
}

/* ------------------------------------------------------------- columns -- */

#define RESULTS GLOBAL const struct group_result *restrict

/* Writes a value, 0 for NULL, where somebody reads it. */
static void put_result(GLOBAL u8 *out, RESULTS to, u64 row, u64 value, u32 null)
{
    if (to->values == GROUP_NOWHERE)
        return;
    if (TYPE_IS_WIDE(to->type))
        ((GLOBAL u64 *)(out + to->values))[row] = null ? 0 : value;
    else
        ((GLOBAL u32 *)(out + to->values))[row] = null ? 0 : (u32)value;
    if (to->nulls != GROUP_NOWHERE)
        out[to->nulls + row] = (u8)null;
}

/* A group's key: its part of the code. */
static void put_key(CONTROL control, GLOBAL u8 *out, RESULTS to, u64 row,
                    GLOBAL const u64 *restrict codes, u64 slot)
{
    GLOBAL const struct group_key *key = &control->key[to->number];
    u32 null;
    u64 code =
        group_key_code(key->size, key->stride, key->column.nullable,
                       slot_part(control, codes, slot, key->part),
                       slot_marks(control, codes, slot), &null);
    put_result(out, to, row, code_value(key->column.type, code + key->base),
               null);
}

/* The sum of integers of a state; whether it fits 64 bits. */
static bool sum_of(u32 kind, GLOBAL const u64 *state, u64 *sum)
{
    u64 low = state[1];
    i64 high = (i64)state[2];
    if (kind == GROUP_NARROW) {
        u64 more = (u64)high << SUM_CARRY_BITS;
        high = (high >> (64 - SUM_CARRY_BITS)) + ((i64)low >> 63);
        low += more;
        high += low < more;
    }
    *sum = low;
    return high == (i64)low >> 63;
}

/* Integers up to here are reals of 64 bits. */
#define EXACT_MAX (1UL << 53)

/* The quotient of a sum, which is rounded once, as bits; whether a division of
 * reals gives it. */
static bool quotient_of(RESULTS to, i64 sum, u64 counted, u64 *value)
{
    u64 size = sum < 0 ? -(u64)sum : (u64)sum;
    u64 parts = to->by_rows && counted > 0 ? counted : 1;
    f64 quotient = (f64)size / (f64)(to->divisor * parts);
    *value = bits_of_f64(sum < 0 ? -quotient : quotient);
    return size <= EXACT_MAX && parts <= EXACT_MAX / to->divisor;
}

/* A sum of floats, what is left of it, or its share of the number of values. */
static u64 real_bits(RESULTS to, GLOBAL const u64 *state, u64 counted,
                     u32 *null)
{
    struct sum sum = *(GLOBAL const struct sum *)(state + 1);
    f64 value;
    if (to->sum == GROUP_SUM_REST)
        return bits_of_f64(sum_rest(&sum));
    value = sum_value(&sum);
    if (to->by_rows && counted > 0)
        value /= (f64)counted;
    *null |= isnan(value) != 0;
    return bits_of_f64(value);
}

/* What comes of an aggregate: as aggregate_result() has it. */
static void put_aggregate(CONTROL control, GLOBAL u8 *out, RESULTS to, u64 row,
                          GLOBAL const u8 *record,
                          volatile GLOBAL struct group_state *state)
{
    GLOBAL const struct group_aggregate *aggregate =
        &control->aggregate[to->number];
    GLOBAL const u64 *from = (GLOBAL const u64 *)(record + aggregate->at);
    u64 counted = ((GLOBAL const u64 *)record)[1] - from[0];
    u32 kind = aggregate->kind;
    u64 value = counted;
    u32 null = kind != GROUP_ROWS && counted == 0 && !to->zero;
    if (to->sum == GROUP_SUM_INTEGER && !sum_of(kind, from, &value))
        state->failed = 1;
    else if (to->sum > GROUP_SUM_INTEGER)
        value = real_bits(to, from, counted, &null);
    if (to->divisor > 0 && !quotient_of(to, (i64)value, counted, &value))
        state->failed = 1;
    if (kind == GROUP_BEST)
        value = code_value(to->type, from[1] ^ aggregate->flip);
    if (kind == GROUP_BITS)
        value = from[1] ^ aggregate->flip;
    if (kind == GROUP_EARLIEST) {
        null = from[1] == 0 || from[2] != 0;
        value = from[3];
    }
    put_result(out, to, row, value, null);
}

/* Writes groups, in the order of elements [0, count), as columns. */
KERNEL void vdbq_group_columns(CONTROL control,
                               GLOBAL const u8 *restrict records,
                               GLOBAL const u64 *restrict codes,
                               GLOBAL const u64 *restrict elements,
                               RESULTS results, GLOBAL u8 *restrict out,
                               volatile GLOBAL struct group_state *state,
                               u64 count, u64 columns)
{
    for (u64 row = get_global_id(0); row < count; row += get_global_size(0)) {
        u64 slot = (u32)elements[row];
        for (u64 i = 0; i < columns; i++)
            if (results[i].is_key)
                put_key(control, out, &results[i], row, codes, slot);
            else
                put_aggregate(control, out, &results[i], row,
                              records + slot * control->width, state);
    }
}
