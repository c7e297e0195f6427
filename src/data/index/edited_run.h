/* SPDX-License-Identifier: MIT */
/*
 * Runs of the rows of a tablet to which its edit gives other keys: no run of what
 * the edit is over knows of these. There are two: of the edit's recent places, and of
 * its origin (data/catalogue/edit.h); where it has no origin, one of all its places.
 * So of many rows with new keys few are sorted anew when one more changes, as in a
 * log-structured merge-tree (O'Neil et al., Acta Informatica 33, 1996). A row of the
 * origin's run counts where it is neither recent nor gone.
 */
#ifndef VDBQ_DATA_EDITED_RUN_H
#define VDBQ_DATA_EDITED_RUN_H

#include "data/index/run.h"
#include "data/index/run_cache.h"

enum { EDITED_LEVELS = 2 }; /* the edit's own run, and its origin's */

/* The edit of a level, if one of some columns has new values there; else, and
 * without an edit, NULL. */
const struct edit *edited_level(const struct edit *edit,
                                const unsigned *columns, unsigned count,
                                unsigned level);
/* Whether a row of the run of a level is there, as that has it. */
bool edited_row_counts(const struct edit *edit, unsigned level, uint32_t place);
/* The name under which the run of a level is kept, in place of its tablet's: there
 * is one a base, since nobody asks for what was before for long. */
struct identity edited_name(const struct edit *edit, unsigned level);

/* The run by that name, if it is of this edit; NULL: it is not kept. */
const struct run *edited_run_find(struct run_cache *cache,
                                  const struct run_want *want,
                                  const struct edit *of);
/* As run_cache_keep(). */
bool edited_run_keep(struct run_cache *cache, const struct run_want *want,
                     const struct edit *of, struct run *run,
                     uint64_t most_bytes);

/* What the run of an edit is made of. */
struct edited_run_of {
    const struct table *table;
    const unsigned *columns; /* of it: the run's       */
    unsigned count;          /* ... RUN_COLUMNS_MAX at most */
    const struct edit *edit;
    const void *base; /* with these columns; NULL: all are new where one is */
};
/* Makes it: rows are places of the base, columns are counted from 0 on, and the run
 * has the words of its own texts. NULL: no memory, or the thread is to stop. */
struct run *edited_run(const struct edited_run_of *of);

#endif
