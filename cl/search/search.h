/* SPDX-License-Identifier: MIT */
/*
 * What the host and the kernels of search.cl both know: the types of what is
 * searched, what is asked for, and what an item needs to sort its searches.
 */
#ifndef VDBQ_CL_SEARCH_H
#define VDBQ_CL_SEARCH_H

#include "cl/bits.h"

/* Those whose keys a launch can carry, and all. */
#define SEARCH_FEW_TYPES(_) \
    _(I32) _(I64) _(F32) _(F64) _(U32) _(U64) _(PAIR)
#define SEARCH_TYPES(_) SEARCH_FEW_TYPES(_) _(TEXT) _(ROWS)

enum {
    /* Bits of a search's flags: which bounds; neither stands for the lower one. */
    SEARCH_UPPER = 1,     /* the upper bound                           */
    SEARCH_RANGE = 3,     /* both: two places a key, the lower one first */
    SEARCH_KEY_NULLS = 4, /* some keys may be NULL                     */
    SEARCH_PAIRS = 8,     /* keys come two by two: of the first one the lower
                             bound, of the other one the upper         */
    SEARCH_ASCENDING = 16, /* keys are in order, none is NULL          */

    /* Searches are sorted by parts of the column, a power of two: */
    SEARCH_PARTS_MAX = 4096,
    SEARCH_PART_KEYS = 8,       /* a part has so many searches at least     */
    SEARCH_PART_VALUES = 64,    /* ... and values                           */
    SEARCH_SORTED_LEAST = 8192, /* of fewer searches an item sorts none     */

    SEARCH_STEP = 16 /* values that are counted together: 4 bytes each are a line
                        of a CPU's cache                                   */
};

enum {
    SEARCH_TEAM = 16,     /* items that share a key, a group of their own  */
    SEARCH_FEW_WORDS = 64 /* of 8 bytes: what a launch carries of keys     */
};

/* Keys that come with the launch: a copy to the device takes longer than that. Each
 * is a word, its lower half where it has 4 bytes, or two. */
struct search_few {
    u64 words[SEARCH_FEW_WORDS];
};

/* Words of memory that one item needs: values that separate parts, then where
 * the searches of each part begin. */
#define SEARCH_SORTER_WORDS(width) (SEARCH_PARTS_MAX * ((width) / 4 + 1))

/*
 * A directory, that of a CSS-tree (Rao and Ross, VLDB 1999), has keys of some of a
 * column's values, in levels. A leaf is some values of the column side by side;
 * level 0 has the last value of each leaf that is whole. A node is some entries of
 * a level side by side; each level above has the last entry of each node that is
 * whole. The highest level is one node. Levels lie behind one another, the highest
 * first; a node that is not whole is filled up with the greatest key there is. The
 * directory lies behind the values, where a line of memory begins.
 *
 * H100, 1M keys among 36M values of 16 bytes: leaves of 16 values and nodes of 8
 * entries, which take 1/28 of the memory of such values, 161 us; nodes of 4, 180;
 * leaves of 4 values, whose directory takes 1/7, 136; without a directory 344.
 */
enum {
    SEARCH_LEAF_BITS = 4,
    SEARCH_LEAF = 1 << SEARCH_LEAF_BITS, /* values                */
    SEARCH_NODE_BITS = 3,
    SEARCH_NODE = 1 << SEARCH_NODE_BITS, /* entries                 */
    SEARCH_LINE = 128                    /* bytes                   */
};

/* Entries of a level, in a column of so many values. */
static inline u32 search_entries(u32 count, u32 level)
{
    u32 bits = SEARCH_LEAF_BITS + SEARCH_NODE_BITS * level;
    return bits < 32 ? count >> bits : 0;
}

/* Entries that a level has room for. */
static inline u32 search_room(u32 count, u32 level)
{
    return (search_entries(count, level) / SEARCH_NODE + 1) * SEARCH_NODE;
}

static inline u32 search_levels(u32 count)
{
    u32 bits = bits_length(count >> SEARCH_LEAF_BITS);
    return bits == 0 ? 1 : (bits + SEARCH_NODE_BITS - 1) / SEARCH_NODE_BITS;
}

/* Where the directory begins, in bytes from the first value on, NULLs with them. */
static inline u64 search_directory_at(u64 count, u64 width)
{
    return (count * width + SEARCH_LINE - 1) / SEARCH_LINE * SEARCH_LINE;
}

#endif
