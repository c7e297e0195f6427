/* SPDX-License-Identifier: MIT */
/*
 * Searching a sorted column for many keys: for each the place of the first
 * value that is not less, or `count`. A column has integers of 64 bits, or
 * texts of 16 bytes as two words of which the first byte is the highest.
 *
 * Both ways keep candidates, [first, first + left), and halve them or cut them
 * to a part in the same steps for every key, since `left` follows from `count`
 * alone: no branch depends on a value.
 *
 *   binary  An item has a key of its own. On a CPU it has several, and takes
 *           each step for all of them, so that they wait for memory together.
 *   p-ary   All items of a team have one key. A step reads the p - 1 values
 *           that separate p parts, one an item; an item learns from its
 *           neighbour, in local memory, whether the key is in between. On a
 *           CPU an item is alone, and reads some separators itself.
 *
 * p-ary search takes fewer steps and reads more: it is for few keys.
 */
#include "types.h"
#include "kernel.cl"

#if VDBQ_GROUP > 1
#define TEAM 32           /* items that share a key                      */
#define SEPARATORS TEAM
#define KEYS_TOGETHER 1   /* that an item takes in step in binary search */
#else
#define TEAM 1
#define SEPARATORS 8
#define KEYS_TOGETHER 16
#endif
#define TEAMS (VDBQ_GROUP / TEAM)
#define PARTS (SEPARATORS + 1)
#define PART_OF(left) (((left) + PARTS - 1) / PARTS)

#ifdef __OPENCL_C_VERSION__
typedef ulong2 search_text;
#else
typedef struct {
    u64 x, y;
} search_text;
#endif

#define LESS_I64(a, b) ((u32)((a) < (b)))
#define LESS_TEXT(a, b)                                                      \
    ((u32)((a).x < (b).x) | ((u32)((a).x == (b).x) & (u32)((a).y < (b).y)))

/* Candidates are counted with the one behind the last value. A separator says
 * whether the values up to it are all less. */

#define BINARY(NAME, T)                                                      \
    KERNEL void vdbq_search_binary_##NAME(                                   \
        GLOBAL const T *restrict sorted, GLOBAL const T *restrict keys,      \
        GLOBAL u32 *restrict places, u64 count, u64 key_count)               \
    {                                                                        \
        for (u64 from = get_global_id(0) * KEYS_TOGETHER; from < key_count;  \
             from += get_global_size(0) * KEYS_TOGETHER) {                   \
            u64 first[KEYS_TOGETHER];                                        \
            T key[KEYS_TOGETHER];                                            \
            for (u32 k = 0; k < KEYS_TOGETHER; k++) {                        \
                u64 at = from + k < key_count ? from + k : from;             \
                key[k] = keys[at];                                           \
                first[k] = 0;                                                \
            }                                                                \
            for (u64 left = count + 1; left > 1; left -= left / 2) {         \
                u64 step = left / 2, next = (left - step) / 2;               \
                next -= next > 0;                                            \
                for (u32 k = 0; k < KEYS_TOGETHER; k++) {                    \
                    T value = sorted[first[k] + step - 1];                   \
                    first[k] += step * LESS_##NAME(value, key[k]);           \
                    FETCH(sorted + first[k] + next);                         \
                }                                                            \
            }                                                                \
            for (u32 k = 0; k < KEYS_TOGETHER; k++)                          \
                if (from + k < key_count)                                    \
                    places[from + k] = (u32)first[k];                        \
        }                                                                    \
    }

#if VDBQ_GROUP > 1

/* All items of the group take part to the end, those without a key, too. Of a
 * team's items one has the last separator that is less: the one whose
 * neighbour's is not; or none has. */
#define PARY(NAME, T)                                                        \
    KERNEL void vdbq_search_pary_##NAME(                                     \
        GLOBAL const T *restrict sorted, GLOBAL const T *restrict keys,      \
        GLOBAL u32 *restrict places, u64 count, u64 key_count)               \
    {                                                                        \
        LOCAL u32 less[VDBQ_GROUP];                                          \
        LOCAL u64 start[TEAMS];                                              \
        u32 item = (u32)get_local_id(0);                                     \
        u32 team = item / TEAM, member = item % TEAM;                        \
        for (u64 from = get_group_id(0) * TEAMS; from < key_count;           \
             from += get_num_groups(0) * TEAMS) {                            \
            T key = keys[from + team < key_count ? from + team : from];      \
            u64 first = 0;                                                   \
            for (u64 left = count + 1; left > 1; left = PART_OF(left)) {     \
                u64 behind = first + (member + 1) * PART_OF(left);           \
                u32 own = 0;                                                 \
                if (behind <= count)                                         \
                    own = LESS_##NAME(sorted[behind - 1], key);              \
                less[item] = own;                                            \
                WAIT;                                                        \
                if (own && (member == TEAM - 1 || !less[item + 1]))          \
                    start[team] = behind;                                    \
                if (!own && member == 0)                                     \
                    start[team] = first;                                     \
                WAIT;                                                        \
                first = start[team];                                         \
            }                                                                \
            if (member == 0 && from + team < key_count)                      \
                places[from + team] = (u32)first;                            \
        }                                                                    \
    }

#else

#define LAST_OF(behind, count) (((behind) <= (count) ? (behind) : (count)) - 1)

#define PARY(NAME, T)                                                        \
    KERNEL void vdbq_search_pary_##NAME(                                     \
        GLOBAL const T *restrict sorted, GLOBAL const T *restrict keys,      \
        GLOBAL u32 *restrict places, u64 count, u64 key_count)               \
    {                                                                        \
        for (u64 at = get_global_id(0); at < key_count;                      \
             at += get_global_size(0)) {                                     \
            T key = keys[at];                                                \
            u64 first = 0;                                                   \
            for (u64 left = count + 1; left > 1; left = PART_OF(left)) {     \
                u64 part = PART_OF(left), less = 0;                          \
                for (u32 s = 1; s <= SEPARATORS; s++) {                      \
                    u64 behind = first + s * part;                           \
                    T value = sorted[LAST_OF(behind, count)];                \
                    less += (behind <= count) & LESS_##NAME(value, key);     \
                }                                                            \
                first += less * part;                                        \
            }                                                                \
            places[at] = (u32)first;                                         \
        }                                                                    \
    }

#endif

BINARY(I64, i64)
BINARY(TEXT, search_text)
PARY(I64, i64)
PARY(TEXT, search_text)
