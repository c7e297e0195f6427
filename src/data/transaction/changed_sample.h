/* SPDX-License-Identifier: MIT */
/*
 * The sample of a table some of whose rows changed, or went.
 */
#ifndef VDBQ_DATA_CHANGED_SAMPLE_H
#define VDBQ_DATA_CHANGED_SAMPLE_H

#include "data/transaction/row_numbers.h"

struct changed_sample {
    struct database *database;
    const struct table *table;         /* as it was                         */
    const struct row_changes *changes; /* the rows that changed             */
    const struct vdbq_vector *values;  /* of each column that got new ones  */
    const bool *changed;               /* whether a column did              */
    const struct row_numbers *numbers; /* of the changed rows               */
    struct arena *arena;               /* for what is needed meanwhile      */
    struct error *error;
};

/* Gives the table of the next state its sample. Fails with IO, CORRUPT,
 * NO_MEMORY. */
enum vdbq_status changed_sample_take(const struct changed_sample *of,
                                     struct catalogue *next);

#endif
