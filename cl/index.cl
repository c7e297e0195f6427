/* SPDX-License-Identifier: MIT */
/*
 * Makes the indexes of build rows on a device (struct key_index in launch.h):
 * of equal keys the first row stays, whichever comes first. A key column is
 * named by where its values and its NULL flags lie (NO_FLAGS: it has none) among
 * rows that the device has, and is 4 or 8 bytes wide.
 */
#include "launch.h"
#include "kernel.cl"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

/* Rows and the width of a key, as one argument. */
#define ROWS_OF(packed) ((packed) & 0xffffffffUL)
#define WIDTH_OF(packed) ((packed) >> 32)

#define NO_FLAGS 0xffffffffffffffffUL

static i64 key_at(GLOBAL const u8 *rows, u64 keys, u64 width, u64 row)
{
    return width == 8 ? ((GLOBAL const i64 *)(rows + keys))[row]
                      : (i64)((GLOBAL const i32 *)(rows + keys))[row];
}

static i32 is_key(GLOBAL const u8 *rows, u64 nulls, u64 row)
{
    return nulls == NO_FLAGS || rows[nulls + row] == 0;
}

/* Makes `count` slots empty, of 4 bytes each. */
KERNEL void vdbq_index_clear(GLOBAL u8 *build_side, u64 slots, u64 count)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0))
        ((GLOBAL u32 *)(build_side + slots))[i] = 0;
}

/* `filtered`: 1: behind the slots there is a filter. */
KERNEL void vdbq_index_dense(GLOBAL u8 *build_side, GLOBAL const u8 *rows,
                             u64 keys, u64 nulls, u64 packed, u64 slots,
                             u64 count, u64 base, u64 filtered)
{
    GLOBAL volatile u32 *to = (GLOBAL volatile u32 *)(build_side + slots);
    GLOBAL volatile u32 *filter = to + count;
    for (u64 row = get_global_id(0); row < ROWS_OF(packed);
         row += get_global_size(0)) {
        u64 at = (u64)key_at(rows, keys, WIDTH_OF(packed), row) - base;
        u32 entry = (u32)row + 1, found = 0, before;
        if (at >= count || !is_key(rows, nulls, row))
            continue;
        if (filtered)
            atomic_or(&filter[at / 32], 1u << at % 32);
        while (found == 0 || found > entry) {
            before = atomic_cmpxchg(&to[at], found, entry);
            if (before == found)
                break;
            found = before;
        }
    }
}

/* Whether slot `slot`, which is not empty, has the key of a row's entry. */
static i32 has_key(GLOBAL const u8 *rows, u64 keys, u64 width, u64 slot,
                   u64 entry, i64 key)
{
    return slot >> 32 == entry >> 32 &&
           (width != 8 || key_at(rows, keys, width, (u32)slot - 1) == key);
}

/* Puts a row into slot `at`, unless it is another key's; whether its key is
 * there now. */
static i32 put(GLOBAL const u8 *rows, GLOBAL volatile u64 *at, u64 keys,
               u64 width, u64 entry, i64 key)
{
    u64 found = *at;
    while (found == 0 || has_key(rows, keys, width, found, entry, key)) {
        u64 before;
        if (found != 0 && (u32)found <= (u32)entry)
            return 1;
        before = atom_cmpxchg(at, found, entry);
        if (before == found)
            return 1;
        found = before;
    }
    return 0;
}

KERNEL void vdbq_index_hashed(GLOBAL u8 *build_side, GLOBAL const u8 *rows,
                              u64 keys, u64 nulls, u64 packed, u64 slots, u64 count)
{
    GLOBAL volatile u64 *to = (GLOBAL volatile u64 *)(build_side + slots);
    u64 width = WIDTH_OF(packed);
    for (u64 row = get_global_id(0); row < ROWS_OF(packed);
         row += get_global_size(0)) {
        i64 key = key_at(rows, keys, width, row);
        u32 tag = width == 8 ? hash_tag((u64)key) : (u32)key;
        u64 at = hash_key((u64)key), entry = (u64)tag << 32 | (row + 1);
        if (!is_key(rows, nulls, row))
            continue;
        while (!put(rows, &to[at & (count - 1)], keys, width, entry, key))
            at++;
    }
}
