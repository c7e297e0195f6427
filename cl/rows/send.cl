/* SPDX-License-Identifier: MIT */
/*
 * Few words from one memory to another, of which one may be the host's own, and few
 * words that are all alike: what copies and fills takes longer to begin.
 */
#include "cl/kernel.cl"

/* Copies `count` words from `first` on to those of `to` from `place` on. */
KERNEL void vdbq_send(GLOBAL const u64 *from, GLOBAL u64 *to, u64 first, u64 place, u64 count)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0))
        to[place + i] = from[first + i];
}

/* Makes the first `count` words `word`. */
KERNEL void vdbq_fill(GLOBAL u64 *to, u64 count, u64 word)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0))
        to[i] = word;
}
