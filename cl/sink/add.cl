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

/* Keeps bits that are kept already too, of an odd number those that are not. */
static void keep_bits_own(volatile LOCAL u64 *to, u64 bits, u32 odd)
{
    volatile LOCAL u32 *word = (volatile LOCAL u32 *)to;
    u32 part[2] = { (u32)bits, (u32)(bits >> 32) };
    for (u32 i = 0; i < 2; i++)
        if (odd && part[i] != 0)
            atomic_xor(word + i, part[i]);
        else if ((part[i] & ~word[i]) != 0)
            atomic_or(word + i, part[i]);
}

/* ... to those of all work-groups. */
static void keep_bits_common(volatile GLOBAL u64 *to, u64 bits, u32 odd)
{
    if (odd && bits != 0)
        atom_xor(to, bits);
    else if ((bits & ~*to) != 0)
        atom_or(to, bits);
}
