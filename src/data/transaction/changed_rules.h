/* SPDX-License-Identifier: MIT */
/*
 * Rules that rows have to keep which have changed, once all of them have.
 */
#ifndef VDBQ_DATA_CHANGED_RULES_H
#define VDBQ_DATA_CHANGED_RULES_H

#include "data/transaction/transaction_inner.h"

struct changed_rules {
    struct transaction *transaction;
    const struct table *table; /* in the draft, as it is from now on       */
    const struct row_changes *changes;
    const struct vdbq_vector *values; /* one a column of the table: the new
                                         values, where it has some          */
    const bool *changed; /* ... whether it has                              */
    struct error *error;
};

/* Proves of rules about columns that changed that they hold still. Fails with
 * CONSTRAINT, IO, CORRUPT, NO_MEMORY, CANCELLED. */
enum vdbq_status changed_rules_check(const struct changed_rules *of);

#endif
