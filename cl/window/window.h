/* SPDX-License-Identifier: MIT */
/*
 * Windows on a device: what the host hands to the kernels of window.cl.
 *
 * The rows of a window lie in one memory, column by column, and stay where they
 * are; elements (cl/sort.cl) have their numbers in the window's order. A row's
 * place is where it stands in that order. What the kernels keep of places, beside
 * that:
 *
 *   starts    a byte for each place: whether a partition, and whether peers begin
 *   numbers   a u64 for each place: in the upper half how many partitions begin
 *             up to it, in the lower one how many peers
 *   begins    u32 places where partitions begin, in their order, and one behind
 *             the last row; then those where peers do, from `count` + 1 on
 *   sums      of each span of neighbouring places a struct window_sum
 *   work      what the values of places come to, up to each of them: of sums over
 *             all rows before, of the least and the greatest over the partition's
 *
 * What a frame [begin, end) comes to is, of sums, a difference of two places; of
 * least and greatest values, whose frames all begin with the partition, that of
 * place end - 1.
 */
#ifndef VDBQ_CL_WINDOW_H
#define VDBQ_CL_WINDOW_H

#include "../types.h"

#define WINDOW_NOWHERE 0xffffffffffffffffUL

/* Bits of `starts`. */
#define WINDOW_PARTITION 1
#define WINDOW_PEERS 2

/* A column of the rows: offsets into their memory. */
struct window_column {
    u64 values;
    u64 nulls;    /* bytes, 1 where NULL; WINDOW_NOWHERE: none is NULL       */
    u32 type;     /* TYPE_...; TYPE_NONE: there is no such column            */
    u32 reserved; /* 0 */
};

/* What neighbouring places come to. */
struct window_sum {
    u64 low; /* of a sum of 128 bits, or the greatest code; of numbers, how many
                partitions begin                                            */
    u64 high; /* ... the sum's upper half; how many peers begin             */
    u64 seen; /* values that count                                          */
    u64 cut;  /* 1: a partition begins among them, and a code is that of the
                 last one                                                   */
};

/* What is kept of places. */
enum window_keeps {
    WINDOW_KEEPS_NUMBERS,  /* of `starts`                                    */
    WINDOW_KEEPS_SUM,      /* of integers                                    */
    WINDOW_KEEPS_LEAST,    /* ... the greatest of codes, all bits turned     */
    WINDOW_KEEPS_GREATEST, /* ... of codes (cl/order.h)                      */
    WINDOW_KEEPS_SEEN      /* values that count, and nothing else            */
};

struct window_scan {
    u64 count; /* of places */
    u64 span;  /* of places that a group walks */
    u32 keeps; /* enum window_keeps */
    u32 reserved; /* 0 */
    struct window_column value;  /* whose values count ...                   */
    struct window_column filter; /* ... where this is true                   */
    u64 low, high, seen; /* offsets in `work` of a u64, a u64, and a u32 for
                            each place; WINDOW_NOWHERE: that is not kept     */
};

/* Where a frame begins or ends. */
enum window_bound {
    WINDOW_BOUND_PARTITION, /* with the partition                            */
    WINDOW_BOUND_PEERS,     /* with the row's peers                          */
    WINDOW_BOUND_ROWS       /* `offset` rows behind it                       */
};

/* What a row is given. */
enum window_gives {
    WINDOW_GIVES_ROW_NUMBER,
    WINDOW_GIVES_RANK,
    WINDOW_GIVES_DENSE_RANK,
    WINDOW_GIVES_VALUE, /* of the row `offset` places from the frame's begin   */
    WINDOW_GIVES_LAST,  /* of the frame's last row                             */
    WINDOW_GIVES_MOVED, /* of the row `offset` places behind, of the partition */
    WINDOW_GIVES_COUNT,
    WINDOW_GIVES_SUM,      /* NULL where nothing counts; it must fit 64 bits  */
    WINDOW_GIVES_SUM_LOW,  /* ... the lower half                              */
    WINDOW_GIVES_SUM_HIGH, /* ... the upper one                               */
    WINDOW_GIVES_QUOTIENT, /* of the sum and `divisor`, as an f64             */
    WINDOW_GIVES_MEAN,     /* ... and how many values count                   */
    WINDOW_GIVES_BEST      /* the least or greatest value                     */
};

struct window_give {
    u64 count; /* of places */
    u32 gives; /* enum window_gives */
    u32 begin, end; /* of the frame: enum window_bound                       */
    u32 zero; /* QUOTIENT: 0 where nothing counts, not NULL                  */
    i64 begin_offset, end_offset; /* of rows, with WINDOW_BOUND_ROWS         */
    i64 offset;  /* of VALUE and MOVED                                       */
    u64 divisor; /* above 0                                                  */
    struct window_column value;    /* VALUE, LAST, MOVED, BEST; its nulls     */
    struct window_column fallback; /* MOVED: of the row itself, where there is
                                      no other                               */
    u64 turn;            /* BEST: bits of a code that are turned             */
    u64 low, high, seen; /* as they were kept; all values count without `seen` */
    u64 failed;          /* number of the u32 that is 1 where a sum does not fit */
    struct window_column result; /* where it goes                            */
};

VDBQ_ASSERT_LAYOUT(window_column, sizeof(struct window_column) == 24);
VDBQ_ASSERT_LAYOUT(window_sum, sizeof(struct window_sum) == 32);
VDBQ_ASSERT_LAYOUT(window_scan, sizeof(struct window_scan) == 96);
VDBQ_ASSERT_LAYOUT(window_give, sizeof(struct window_give) == 168);

#endif
