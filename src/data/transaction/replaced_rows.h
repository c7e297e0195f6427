/* SPDX-License-Identifier: MIT */
/*
 * Which rows REPLACE takes out of a table, and which of those that come it adds.
 */
#ifndef VDBQ_DATA_REPLACED_ROWS_H
#define VDBQ_DATA_REPLACED_ROWS_H

#include "data/rule/rule_find.h"
#include "data/rule/rule_values.h"
#include "data/transaction/transaction_inner.h"

/* Rows that come. */
struct replacing {
    struct transaction *transaction;
    const struct table *table;  /* in the draft, which has all its rows   */
    const struct vector *rules; /* struct unique_rule: all of the table's */
    const struct rules_values *values; /* of the rows that come, by these */
    uint64_t rows;
    const struct vdbq_vector *vectors;
    struct error *error;
};

/* Which of them stay: those that no later one replaces. The sets, one a rule, get
 * the keys of all. False: no memory, or it is to end. */
bool replaced_last(const struct replacing *replacing, uint8_t *stays,
                   struct unique_set *sets);
/* The numbers of the table's rows that go, for these have one of the sets' keys:
 * a vector of uint64_t, ascending. Fails with IO, CORRUPT, NO_MEMORY, CANCELLED. */
enum vdbq_status replaced_numbers(const struct replacing *replacing,
                                  const struct unique_set *sets,
                                  struct vector *numbers);

#endif
