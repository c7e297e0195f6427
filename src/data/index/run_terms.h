/* SPDX-License-Identifier: MIT */
/*
 * What a look-up asks of the rows of a tablet, and the rows that have it: by
 * the tablet's run, or where there is none, by all its values.
 */
#ifndef VDBQ_DATA_RUN_TERMS_H
#define VDBQ_DATA_RUN_TERMS_H

#include "base/vector.h"
#include "data/index/run_ends.h"

/* Of the first `equal_count` columns each is one value; the next one is one of a
 * list, or between bounds, or the next ones are one row of a list. What is compared
 * is never NULL. */
struct run_terms {
    const unsigned *columns; /* of the table: those of the run */
    unsigned equal_count;
    struct run_value equals[RUN_COLUMNS_MAX];
    unsigned list_columns;        /* that are one of these: exact, in order,
                                     none twice; 0: there is no list       */
    const struct run_value *list; /* `list_count` times `list_columns`     */
    uint32_t list_count;
    const struct run_bound *low, *high; /* NULL: there is none            */
    uint32_t more; /* ranges behind the first, whose bounds follow: they
                      ascend, and none has what another one has            */
    /* of what a list or several ranges do not say: the ends of it alone; more
     * than these are found where there is no run */
    struct run_ends ends;
    bool apart;    /* of those with NULL in the next column, too          */
    bool not_null; /* the next column is not NULL                         */
    uint64_t most; /* without ends: rows that a run is searched for, and it may
                      have others; 0: it has none                         */
};

/* Adds the numbers of the rows, ascending, to a vector of uint32_t. False: no
 * memory, or the thread is to stop. */
bool run_terms_find(const struct run_terms *terms, const struct run *run,
                    struct vector *rows);
/* The same, among rows that are there already, which ascend, and none of which the
 * run has. */
bool run_terms_add(const struct run_terms *terms, const struct run *run,
                   struct vector *rows);
/* The same where something else searches the run: the ranges of keys that are
 * looked for, run_terms_most() of them at most, for which there is room, two keys
 * each; returns how many there are. Ends are not looked for so. */
uint32_t run_terms_most(const struct run_terms *terms, const struct run *run);
uint32_t run_terms_ranges(const struct run_terms *terms, const struct run *run,
                          void *ranges);
/* ... and the rows at the places that were found. */
bool run_terms_take(const struct run *run, const uint32_t *places,
                    uint32_t count, struct vector *rows);
/* The same of a checked tablet, in which the columns that are asked for are
 * there. */
bool run_terms_scan(const struct run_terms *terms, const void *block,
                    struct vector *rows);
/* Adds the keys that rows have which run_terms_find() finds, and few others, as
 * struct run_keys; where ends are asked for, the keys that these are the ends of.
 * The run's own keys need not be there. False: no memory. */
bool run_terms_keys(const struct run_terms *terms, const struct run *run,
                    struct vector *keys);

#endif
