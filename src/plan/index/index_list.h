/* SPDX-License-Identifier: MIT */
/*
 * Lists of values that a column, or several, are to equal: constants, and
 * parameters, whose values each run puts into the list.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_LIST_H
#define VDBQ_PLAN_INDEX_INDEX_LIST_H

#include "plan/index/index_terms.h"

/* Whether an expression can be a value of a list. */
bool index_list_takes(const struct expression *e);

/* Makes the term's list number `i` one of `list_count` values of a column. False: no
 * memory. */
bool index_list_room(struct binder *binder, const struct column *column,
                     struct index_term *term, unsigned i);
/* Writes a value into it. False: no memory. */
bool index_list_put(struct binder *binder, const struct expression *e,
                    struct index_term *term, unsigned i, size_t at);

/* Reads an OR that compares one column with values, as IN of a short list is. False:
 * it is something else, or `*failed`: no memory. */
bool index_list_read(struct binder *binder, const struct index_candidates *of,
                     const struct expression *e, struct index_term *term,
                     bool *failed);

#endif
