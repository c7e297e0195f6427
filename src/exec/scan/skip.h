/* SPDX-License-Identifier: MIT */
/*
 * Which tablets a scan passes over: those of which minimum, maximum and NULL
 * counts, and what the words of a run are, prove that the program does nothing with their rows.
 */
#ifndef VDBQ_EXEC_SKIP_H
#define VDBQ_EXEC_SKIP_H

#include "data/catalogue/catalogue.h"
#include "exec/dictionary/word_table.h"
#include "program/program.h"

struct skip_params {
    const struct program *program;
    const struct program_pack *pack;
    const struct table *table;
    const struct word_table *words; /* of the run; NULL: it has none */
    const struct feed_range *inner; /* of inner rows, inner_ranges(); NULL:
                                       there are none                */
};

struct skip {
    struct skip_params params;
    struct feed_range *ranges; /* as program_reaches() wants them    */
    void *room;                /* of program_reaches()               */
};

/* Makes room in `arena`. False: no memory. */
bool skip_init(struct skip *skip, const struct skip_params *params,
               struct arena *arena);

/* Whether nothing comes of the tablet's rows: no result row, no failure. */
bool skip_tablet(struct skip *skip, const struct tablet_ref *tablet);

/* The ranges of the values of the tablet's result rows, one a column; with
 * `join` the ranges are widened. False: there is no such row. */
bool skip_results(struct skip *skip, const struct tablet_ref *tablet, bool join,
                  struct interval *ranges);

#endif
