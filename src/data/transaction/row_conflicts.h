/* SPDX-License-Identifier: MIT */
/*
 * What rows meet that are to come to a table: rows that have their values in
 * columns that are unique together.
 */
#ifndef VDBQ_DATA_ROW_CONFLICTS_H
#define VDBQ_DATA_ROW_CONFLICTS_H

#include "data/rule/unique.h"
#include "data/transaction/transaction.h"

struct row_conflict {
    uint32_t first;  /* the first of the rows with these values: itself, if
                        no row before it has them                          */
    uint32_t before; /* how many of the rows before it have them           */
    bool there;      /* a row of the table has them, or may have them: of
                        few rows for a large table nobody looks it up here */
};

/* Whether a rule is about these columns, and no others. */
bool conflict_targets(const struct conflict_target *target,
                      const struct unique_rule *rule);

/* Whether of each row it has to be known for sure. */
enum conflict_sureness { CONFLICTS_SURE, CONFLICTS_LIKELY };

/* Checks rows as transaction_insert() does, but for values that are there twice,
 * and tells of each what it meets by the first rule about the target's columns,
 * which there is. Fails with CONSTRAINT for a NULL, and like
 * transaction_insert(). */
enum vdbq_status
transaction_row_conflicts(struct transaction *transaction, uint32_t table_id,
                          const struct conflict_target *target, uint32_t rows,
                          const struct vdbq_vector *vectors,
                          enum conflict_sureness sureness,
                          struct row_conflict *conflicts, struct error *error);

#endif
