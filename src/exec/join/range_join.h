/* SPDX-License-Identifier: MIT */
/*
 * Candidates by a range (program/steps/steps.h): the right rows that lie
 * between two values of a left row, or those whose two values a left row's lies
 * between. Values are compared by their codes, integers of the same order. A
 * bound that is left out becomes the next code, so that all bounds are
 * included.
 */
#ifndef VDBQ_EXEC_RANGE_JOIN_H
#define VDBQ_EXEC_RANGE_JOIN_H

#include "exec/rows/rank_index.h"
#include "exec/rows/row_set.h"

enum {
    RANGE_JOIN_LEVEL_BITS = 4, /* 16 nodes of a level are one of the next */
    RANGE_JOIN_LEVELS_MAX = 9
};

struct range_join {
    struct step_range_join range;
    uint32_t right_rows;    /* of the right side */
    const uint8_t *nowhere; /* right rows that have no partner; NULL: none  */
    uint8_t *own_nowhere;   /* memory of `nowhere`, where it was made here */
    int64_t *low, *high; /* of right rows, by their numbers: RANGE_JOIN_RIGHT:
                               their value, which is both                   */
    uint32_t *rows;      /* by their values, low first; NULL: they are in
                               that order                                   */
    struct rank_index ranks; /* these values                                 */
    /* RANGE_JOIN_LEFT: right rows are spans. */
    struct rank_index ends; /* their high values                            */
    int64_t *most[RANGE_JOIN_LEVELS_MAX]; /* the greatest high value of rows
                               [16^level * i, ...) of that order            */
    unsigned levels;                      /* of the tree that are in use */
};

struct range_join_params {
    const struct step_range_join *range;
    const struct row_set *right; /* stays as it is */
    unsigned threads;            /* to sort with at most */
};
/* range_join_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status range_join_init(struct range_join *range,
                                 const struct range_join_params *params,
                                 struct error *error);
void range_join_finish(struct range_join *range);

/* How many candidates left rows [first, first + count) have, and where these
 * start, for range_join_write(). */
void range_join_find(const struct range_join *range, const struct row_set *left,
                     uint64_t first, unsigned count, uint32_t *starts,
                     uint32_t *counts);

/* What range_join_find() has found for a left row, and a part of it. */
struct range_join_run {
    uint64_t left; /* row */
    uint32_t start, count;
    uint32_t skip, wanted; /* candidates [skip, skip + wanted) */
};
/* range_join_write.c: writes them, in the order of right rows. */
void range_join_write(const struct range_join *range,
                      const struct row_set *left,
                      const struct range_join_run *run, uint32_t *right);

#endif
