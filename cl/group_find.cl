/* SPDX-License-Identifier: MIT */
/*
 * What is found of all rows before any is added: slots, the `top` that sums of
 * floats need, first rows. Part of cl/group.cl.
 */

/* Notes that a sum needs a `top`. */
static void need_top(RECORD record,
                     GLOBAL const struct group_aggregate *aggregate, u32 top)
{
    volatile GLOBAL u32 *next = &raise_at(record, aggregate)->top;
    if (top > sum_at(record, aggregate)->top && top > *next)
        atomic_max(next, top);
}

/* The `top` that a value needs; of one that is no number 0, and its kind is
 * noted. */
static u32 top_of(RECORD record,
                  GLOBAL const struct group_aggregate *aggregate, f64 value)
{
    u32 special = sum_special(bits_of_f64(value));
    if (special == 0)
        return sum_top(bits_of_f64(value));
    atomic_or(&raise_at(record, aggregate)->special, special);
    return 0;
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

/* Gives a sum of floats what the next rows need: a `top`, room for digits. */
static void raise(RECORD record, GLOBAL const struct group_aggregate *aggregate)
{
    GLOBAL struct sum *to =
        (GLOBAL struct sum *)(record + aggregate->at + 8);
    volatile GLOBAL struct group_raise *next = raise_at(record, aggregate);
    struct sum sum = *to;
    if (next->top <= sum.top && next->special == 0 && !sum_is_full(&sum))
        return;
    sum_raise(&sum, next->top);
    sum_carry(&sum);
    sum.special |= (u16)next->special;
    *to = sum;
}

/* Room for more values in a sum of narrow integers. */
static void carry(RECORD record, GLOBAL const struct group_aggregate *aggregate)
{
    GLOBAL i64 *sum = (GLOBAL i64 *)(record + aggregate->at + 8);
    sum[1] += sum[0] >> SUM_CARRY_BITS;
    sum[0] &= SUM_CARRY_MASK;
}

/* For all slots, before any row is added. */
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
            else if (control->aggregate[i].kind == GROUP_NARROW)
                carry(record_at(control, records, slot),
                      &control->aggregate[i]);
}
