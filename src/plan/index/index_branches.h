/* SPDX-License-Identifier: MIT */
/*
 * Conditions for rows behind, or before, one row of several columns, as pages of
 * a list are asked for: (a, b) > (1, 2).
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_BRANCHES_H
#define VDBQ_PLAN_INDEX_INDEX_BRANCHES_H

#include "base/vector.h"
#include "plan/tree/expression.h"

struct binder;

/* Appends conditions to a vector of struct expression *: each row that meets `where`
 * meets exactly one of them, and no other row does. They are for an index to answer,
 * not to be computed. `where` itself is the only one where it asks for no such rows;
 * it may be NULL. False: no memory, which the binder has. */
bool index_branches(struct binder *binder, struct expression *where,
                    struct vector *branches);

#endif
