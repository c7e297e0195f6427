/* SPDX-License-Identifier: MIT */
/*
 * Adding to memory that a work-group shares, where 32 bits are what is added
 * fast. Part of cl/sink/group.cl and cl/group.cl.
 */

/* Adds to an integer of 64 bits; whether it carried over. */
static u32 add_own(volatile LOCAL u64 *to, u64 value)
{
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
}
