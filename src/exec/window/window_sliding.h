/* SPDX-License-Identifier: MIT */
/*
 * Frames that slide: rows that come are added to what an aggregate keeps of the
 * frame, and rows that it leaves are taken away. Sums are exact integers (cl/sum.h),
 * so that nothing is lost, and what is left is what the rows of the frame alone
 * would have made, to the bit.
 *
 * The digits of a sum of floats are in units that its greatest value sets: where
 * the last value that needs these goes, and where infinities or NaNs go, the caller
 * takes the frame in anew.
 */
#ifndef VDBQ_EXEC_WINDOW_SLIDING_H
#define VDBQ_EXEC_WINDOW_SLIDING_H

#include "exec/aggregate/aggregate.h"

enum { WINDOW_RECORD = AGGREGATE_STATE_MAX / 8 /* words */ };

/* What an aggregate keeps of a frame, and which it is. A zeroed one is that of no
 * rows; it does not slide until window_slides_from(). */
struct window_sliding {
    uint32_t begin, end;
    uint64_t record[WINDOW_RECORD];
    uint64_t peaks; /* of a sum of floats: values that need its units       */
    bool slides;    /* the number of peaks is known                         */
    uint32_t rest;  /* frames that are taken in anew before it slides again */
};

/* Whether rows can be taken away from what it keeps. */
bool window_can_slide(const struct aggregate *aggregate);
/* Goes to the frame [begin, end); `rows` are all. False: the record is of no use,
 * or the frame is not ahead of the one before or has no row in common with it. */
bool window_slide(const struct aggregate *aggregate,
                  const struct aggregate_rows *rows,
                  struct window_sliding *sliding, uint32_t begin, uint32_t end);
/* Looks at the rows of a frame that was taken in anew, so that it slides on from
 * there. */
void window_slides_from(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows,
                        struct window_sliding *sliding);

#endif
