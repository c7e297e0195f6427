/* SPDX-License-Identifier: MIT */
/*
 * What the host and the kernels of search.cl both know: the types of what is
 * searched, what is asked for, and what an item needs to sort its searches.
 */
#ifndef VDBQ_CL_SEARCH_H
#define VDBQ_CL_SEARCH_H

#define SEARCH_TYPES(_) \
    _(I32) _(I64) _(F32) _(F64) _(PAIR) _(TEXT) _(ROWS) _(U32) _(U64)

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

/* Words of memory that one item needs: values that separate parts, then where
 * the searches of each part begin. */
#define SEARCH_SORTER_WORDS(width) (SEARCH_PARTS_MAX * ((width) / 4 + 1))

#endif
