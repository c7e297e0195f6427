/* SPDX-License-Identifier: MIT */
/*
 * Rules that rows have to keep which come to a table: whether one is like a row
 * of a tablet, or like one that waits for its tablet.
 *
 * By each rule rows are either looked for in tablets, and those that wait are in
 * `seen` of the new rows, or all of them are in the rule's set. That stays so as
 * long as rows wait.
 */
#ifndef VDBQ_DATA_ROW_RULES_H
#define VDBQ_DATA_ROW_RULES_H

#include "data/rule/rule_find.h"
#include "data/transaction/transaction_inner.h"

struct row_rule {
    struct transaction *transaction;
    const struct table *table; /* in the draft */
    const struct unique_rule *rule;
    bool searched; /* rows are looked for; else there is a set of them */
    const uint8_t
        *there; /* 1 of each row that comes if a tablet has one that is
                             like it; NULL: each is looked for by itself */
    struct error *error;
};

/* Of so many rows that come together. */
struct row_rule row_rule_init(struct transaction *transaction,
                              const struct table *table,
                              const struct unique_rule *rule, uint64_t rows,
                              struct error *error);
/* Looks for all rows that come together, if rows are looked for: what is found goes to
 * `there`, a byte a row, which outlives the rule. */
enum vdbq_status row_rule_look(struct row_rule *of,
                               const struct vdbq_vector *vectors, uint64_t rows,
                               uint8_t *there);
/* What is looked through. */
struct rule_find row_rule_find(const struct row_rule *of);
/* Whether a row is like another one; NULL is like nothing. Here and below, vectors
 * are those of the rule (rule_values.h). */
enum vdbq_status row_rule_meets(const struct row_rule *of,
                                const struct vdbq_vector *vectors, uint64_t row,
                                bool *meets);
/* Makes room for one more row, so that row_rule_take() does not fail. Where rows are
 * looked for, new rows of the table are there by then. */
enum vdbq_status row_rule_reserve(const struct row_rule *of);
/* Takes note of a row that is added. */
enum vdbq_status row_rule_take(const struct row_rule *of,
                               const struct vdbq_vector *vectors, uint64_t row);

#endif
