/* SPDX-License-Identifier: MIT */
/*
 * Joins with a condition on a device (judged.cl): the left rows of a round, and
 * which of their pairs the condition was asked of. A pair's place is its number
 * among those of all left rows. Without a condition right rows are marked alone.
 */
#ifndef VDBQ_CL_JUDGED_H
#define VDBQ_CL_JUDGED_H

#include "../types.h"

#define JUDGED_ALL 0xffffffffU /* `most`: each pair that was kept goes out */

struct judged {
    u64 rows;        /* left ones there are                               */
    u64 start, stop; /* ... that were judged: [start, stop)               */
    u64 first;       /* the place of their first pair                     */
    u64 end;         /* pairs from this place on were not asked: one failed */
    u64 kept;        /* pairs that were kept                              */
    u64 number;      /* that the first pair had in the program            */
    u64 span;        /* rows of a work-group                              */
    u32 most;        /* output rows of a left row with a kept pair, at most */
    u32 alone;       /* ... of one without                                */
    u32 single;      /* a first partner is the only one: its row          */
    u32 marks;       /* right rows with a partner are marked              */
    u32 every;       /* there is no condition: all are kept, and marked alone */
    u32 reserved;    /* 0 */
};

/* The column that says whether left rows have a partner: NULL where one might be,
 * since the row's key is NULL, or a right one is. Offsets of bytes. */
#define MARKS_NO_NULLS 0xffffffffffffffffUL
struct marks {
    u64 start, count;       /* left rows: each has one output row         */
    u64 keys;               /* the key's NULL flags; MARKS_NO_NULLS: it has none */
    u64 to_values, to_nulls;
    u32 any;                /* there are right rows                       */
    u32 reserved;           /* 0 */
};

VDBQ_ASSERT_LAYOUT(marks, sizeof(struct marks) == 48);
VDBQ_ASSERT_LAYOUT(judged, sizeof(struct judged) == 88);

#endif
