/* SPDX-License-Identifier: MIT */
/*
 * What is found of all rows before any is added: slots, the `top` that sums of
 * floats need, first rows. Part of cl/group.cl.
 */

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

/* Lets the lowest limbs go where a sum's `top` rises: exec/rows/sum.c. */
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
