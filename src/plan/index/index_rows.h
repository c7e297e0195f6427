/* SPDX-License-Identifier: MIT */
/*
 * Conditions that several columns of a table are one row of a list.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_ROWS_H
#define VDBQ_PLAN_INDEX_INDEX_ROWS_H

#include "plan/index/index_terms.h"

/* Reads such a condition into a term. False: it is another one, or `*failed`, as
 * there is no memory. */
bool index_rows_read(struct binder *binder, const struct index_candidates *of,
                     const struct expression *e, struct index_term *term,
                     bool *failed);

/* How many columns of an index, from the first on, the term's rows have values for,
 * and which of theirs these are. */
unsigned index_rows_match(const struct index_term *term,
                          const unsigned *columns, unsigned count,
                          unsigned order[SEEK_KEYS_MAX]);

#endif
