/* SPDX-License-Identifier: MIT */
/*
 * What vdbq_keep (keep.cl) copies: some columns of neighbouring rows, in one call.
 */
#ifndef VDBQ_CL_KEEP_H
#define VDBQ_CL_KEEP_H

#include "../types.h"

/* Columns of a call, at most. */
#define KEEP_COLUMNS 16
/* Where values go that are looked at only. */
#define KEEP_NOWHERE 0xffffffffffffffffUL

/* Values of 1, 4 or 8 bytes, or NULL flags; offsets are those of row 0. */
struct keep_column {
    u64 from, to; /* in the two memories: bytes                             */
    u32 width;    /* of a value                                             */
    u32 bounds;   /* integers: 1 + the number of a struct keep_bounds, to which
                     they are added; 0: nobody asks for theirs              */
};

struct keep {
    u64 first, count; /* rows [first, first + count) are copied ... */
    u64 place;        /* ... to rows from this one on               */
    u64 bounds;       /* offset of the bounds in the memory `to`    */
    u32 columns;
    u32 reserved; /* 0 */
    struct keep_column column[KEEP_COLUMNS];
};

/* The least and the greatest of a column's values, as codes of cl/order.h: the
 * least one turned, so that both grow from 0, which says that there is none. */
struct keep_bounds {
    u64 least, greatest;
};

#endif
