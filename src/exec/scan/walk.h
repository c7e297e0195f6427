/* SPDX-License-Identifier: MIT */
/*
 * The walk of a scan over its table: which rows come next. Tablets of which
 * nothing comes are passed over; those that come later are brought in ahead.
 * Part of the scan.
 */
#ifndef VDBQ_EXEC_WALK_H
#define VDBQ_EXEC_WALK_H

#include "exec/scan/prune.h"
#include "exec/scan/source.h"
#include "exec/stream/ranks.h"

/* To be read by others, changed by these calls alone. */
struct walk {
    const struct table *table; /* of the scan */
    bool prunes;               /* tablets are passed over                */
    const bool *unread;        /* these in any case: of each; or NULL    */
    struct pruning pruning;    /* says which tablets have no result */
    size_t tablet;             /* number of the one whose rows come next */
    size_t end;                /* ... behind the last one of the walk    */
    size_t ahead;              /* ... and to bring in next               */
    uint64_t row;              /* of the tablet, that comes next         */
    uint64_t rows_skipped;     /* of tablets that were passed over       */
    size_t tablets_skipped;    /* for the statistics */
};

/* Before the first row of the table, with room in `arena`. False: no memory. */
bool walk_init(struct walk *walk, const struct pruning_params *params,
               bool prunes, struct arena *arena);

/* Which tablets are passed over whatever their words are, before these are
 * known: a flag for each, in `arena`. NULL: so few that nobody gains by it, or
 * nothing can be told before, or no memory. */
const bool *walk_unread(const struct pruning_params *params,
                        struct arena *arena);

/* Cuts it down to the tablets of one of several ranks: side by side in the
 * order of ranks. Before the first is asked for. */
void walk_share(struct walk *walk, const struct ranks *ranks);

/* Goes to the tablet whose rows come next; false: the table has no more. */
bool walk_more(struct walk *walk);
/* Goes on by so many rows of that tablet, and past its end to the next. */
void walk_on(struct walk *walk, uint64_t rows);
/* Whether what comes next is a whole tablet, of so many rows at most. */
bool walk_fits(const struct walk *walk, uint64_t rows_max);

/* Has the tablets that come next brought in while others are run over, as far
 * as there is room. */
void walk_ahead(struct walk *walk, const struct source_params *sources);

/* What the facts of all tablets tell of the result's columns, an interval for
 * each. False: nothing. */
bool walk_ranges(struct walk *walk, struct interval *ranges);

#endif
