/* SPDX-License-Identifier: MIT */
/*
 * The frame of a window function: which rows of its partition it sees.
 */
#ifndef VDBQ_PROGRAM_FRAME_H
#define VDBQ_PROGRAM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct text;

/* Offsets are cut to this: further away than any row is. */
#define FRAME_OFFSET_MAX (INT64_C(1) << 40)

enum frame_unit {
    FRAME_DEFAULT, /* from the partition's first row to the row's last peer;
                      the bounds say nothing                               */
    FRAME_ROWS,
    FRAME_RANGE, /* bounds without an offset are the row's peers          */
    FRAME_DISTANCE /* RANGE with a distance: rows whose only key is so far from the
                      row's, at most; of a row whose key is NULL its peers   */
};
struct frame_bound {
    bool unbounded; /* the partition's first row, or its last one           */
    int64_t offset; /* rows behind the row; below 0: before it; of RANGE 0; of
                       DISTANCE how far the key is, in its own units ...    */
    double real;    /* ... of FLOAT and DOUBLE                              */
};
struct step_frame {
    enum frame_unit unit;
    bool
        known; /* IGNORE NULLS: rows whose value is NULL are passed over; of LAG
                   and LEAD, too                                        */
    struct frame_bound begin, end; /* both are in the frame */
};

bool frame_same(const struct step_frame *a, const struct step_frame *b);
/* " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"; nothing of the default. */
void frame_print(const struct step_frame *frame, struct text *text);

#endif
