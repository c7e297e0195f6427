/* SPDX-License-Identifier: MIT */
/*
 * Values that a run computes of its parameters before it looks for rows: `? + 100` in
 * id BETWEEN ? AND ? + 100. They are a row that the seek reads first.
 *
 * One that can fail is computed in the hope that it does not (plan.h), for a scan may
 * come to no row that asks for it.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_COMPUTED_H
#define VDBQ_PLAN_INDEX_INDEX_COMPUTED_H

#include "plan/index/index_terms.h"

/* Whether a number follows from parameters and constants alone, and may be computed
 * once. */
bool index_computed_takes(const struct binder *binder,
                          const struct expression *e);

/* Has a seek read the computed values of what it was filled with. False: a failure,
 * which the binder has. */
bool index_computed_put(struct binder *binder, const struct index_terms *terms,
                        const struct index_use *use, struct node *seek);

#endif
