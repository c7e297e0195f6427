/* SPDX-License-Identifier: MIT */
/*
 * Queries of several scans that are worth sharing out: where the way of one ends, all
 * ranks get its rows, and each of them goes on with all rows, as one process would,
 * up to the next scan, of which it has a share again. So no rank scans a large table
 * alone because only that has what the table is joined with, and not all of them
 * scan one for the few rows that are joined with another.
 *
 * Rows go from each rank to all. Groups are merged by rank 0 and go from there.
 */
#ifndef VDBQ_CLUSTER_DIVIDE_BROADCAST_H
#define VDBQ_CLUSTER_DIVIDE_BROADCAST_H

#include "cluster/divide/divide.h"

/* Where a way ends whose rows all ranks get. */
struct broadcast {
    int top;     /* the step that has them, in the end                      */
    bool groups; /* it groups the rows of the way's end: each rank its own  */
};

enum { BROADCASTS_MAX = 8 };
struct broadcasts {
    struct broadcast items[BROADCASTS_MAX]; /* no step twice */
    unsigned count;
};

/* How all ranks best get the rows of step `top`, whose scan is shared out: as they
 * are, or grouped by what reads them. */
struct broadcast divide_broadcast_of(const struct steps *steps, int top);
/* Whether all ranks can have them, too, and meet in all exchanges in the same order
 * where step `end` is the last that the others open. */
bool divide_can_broadcast(const struct steps *steps,
                          const struct broadcasts *done,
                          struct broadcast broadcast, int end);
/* A scan of a table of so many rows, and the steps that pass its rows on. */
struct divide_way {
    int scan;
    int top; /* the last of them */
    uint64_t rows;
};
/* Whether that costs less than what it spares, that one rank does a whole way; or must
 * be. */
bool divide_broadcast_pays(const struct steps *steps,
                           const struct divide_params *params,
                           struct broadcast broadcast,
                           const struct divide_way *way);
/* Has all ranks get the rows of each. False: no memory. */
bool divide_broadcast(struct steps *steps, const struct divide_params *params,
                      struct broadcasts *broadcasts);
/* The number that a step has then. */
int divide_moved(const struct broadcasts *broadcasts, int number);

#endif
