/* SPDX-License-Identifier: MIT */
/*
 * Which tablets a scan passes over: those of which minimum, maximum and NULL
 * counts, and what the words of a run are, prove that the program does nothing
 * with their rows.
 */
#ifndef VDBQ_EXEC_PRUNE_H
#define VDBQ_EXEC_PRUNE_H

#include "data/catalogue/catalogue.h"
#include "exec/dictionary/run_dictionary.h"
#include "program/program.h"

struct pruning_params {
    const struct program *program;           /* of the scan */
    const struct program_pack *pack;         /* of the program */
    const struct table *table;               /* its tablets are asked about */
    const struct run_dictionary *dictionary; /* of the run; NULL: it has none */
    /* of build rows, build_side_ranges(); NULL: there are none */
    const struct input_range *build_side;
};

struct pruning {
    struct pruning_params params; /* of the caller */
    struct input_range *ranges;   /* as program_reaches() wants them    */
    void *room;                   /* of program_reaches()               */
};

/* Makes room in `arena`. False: no memory. */
bool pruning_init(struct pruning *pruning, const struct pruning_params *params,
                  struct arena *arena);

/* Whether nothing comes of the tablet's rows: no result row, no failure. */
bool prune_tablet(struct pruning *pruning, const struct tablet_ref *tablet);

/* Whether no tablet can be passed over, told at the price of one: what reaches the
 * end with the values that all have in common does so in each. False: perhaps. */
bool prune_none(struct pruning *pruning);

/* The ranges of the values of the result rows of tablets [first, end), one a
 * column; with `join` the ranges are widened. False: there is no such row. */
bool prune_results(struct pruning *pruning, size_t first, size_t end, bool join,
                   struct interval *ranges);

#endif
