/* SPDX-License-Identifier: MIT */
/*
 * What all branches of an OR ask of one column: a > 1 OR a = 1 AND b > 2 asks for
 * a >= 1.
 */
#ifndef VDBQ_PLAN_INDEX_EITHER_H
#define VDBQ_PLAN_INDEX_EITHER_H

#include "plan/index/index_terms.h"

/* Reads it, as a bound of which the OR is not the whole truth: rows that are found
 * are to be tested still. False: there is none, or (`*failed`) no memory. */
bool index_either_read(struct binder *binder, const struct index_candidates *of,
                       struct expression *e, struct index_term *term,
                       bool *failed);

#endif
