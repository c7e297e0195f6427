/* SPDX-License-Identifier: MIT */
/*
 * Candidates by a band (program/steps/steps.h): the right rows that lie between two
 * values of a left row, or those whose two values a left row's lies between.
 * Values are compared by their codes, integers of the same order. A bound
 * that is left out becomes the next code, so that all bounds are included.
 */
#ifndef VDBQ_EXEC_JOIN_BAND_H
#define VDBQ_EXEC_JOIN_BAND_H

#include "exec/rows/ranks.h"
#include "exec/rows/relation.h"

enum { BAND_LEVELS_MAX = 9 }; /* 16 of one are one of the next */

struct join_band {
    struct step_band band;
    uint32_t right_rows;
    const uint8_t *nowhere; /* right rows that have no partner; NULL: none  */
    uint8_t *own_nowhere;
    int64_t *low, *high; /* of right rows, by their numbers: BAND_RIGHT:
                               their value, which is both                   */
    uint32_t *rows;      /* by their values, low first; NULL: they are in
                               that order                                   */
    struct ranks ranks;  /* these values                                 */
    /* BAND_LEFT: right rows are spans. */
    struct ranks ends; /* their high values                            */
    int64_t *most[BAND_LEVELS_MAX]; /* the greatest high value of rows
                               [16^level * i, ...) of that order            */
    unsigned levels;
};

struct join_band_params {
    const struct step_band *band;
    const struct relation *right; /* stays as it is */
    unsigned threads;
};
/* join_band_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status join_band_init(struct join_band *band,
                                const struct join_band_params *params,
                                struct error *error);
void join_band_finish(struct join_band *band);

/* How many candidates left rows [first, first + count) have, and where these
 * start, for join_band_write(). */
void join_band_find(const struct join_band *band, const struct relation *left,
                    uint64_t first, unsigned count, uint32_t *starts,
                    uint32_t *counts);

/* What join_band_find() has found for a left row, and a part of it. */
struct join_band_run {
    uint64_t left;
    uint32_t start, count;
    uint32_t skip, wanted; /* candidates [skip, skip + wanted) */
};
/* Writes them, in the order of right rows. */
void join_band_write(const struct join_band *band, const struct relation *left,
                     const struct join_band_run *run, uint32_t *right);

#endif
