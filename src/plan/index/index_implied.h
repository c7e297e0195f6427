/* SPDX-License-Identifier: MIT */
#ifndef VDBQ_PLAN_INDEX_INDEX_IMPLIED_H
#define VDBQ_PLAN_INDEX_INDEX_IMPLIED_H

#include "plan/index/index_terms.h"

/* Whether an index has all rows for which a condition holds. Parts of it that
 * stand behind one that can fail say nothing: a scan may end there. */
bool index_is_implied(const struct index_candidate *candidate,
                      const struct index_terms *terms);
/* The same of the first parts of a condition (struct expression *). */
bool index_is_implied_by(const struct index_candidate *candidate,
                         const struct vector *parts, size_t count);

#endif
