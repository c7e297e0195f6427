/* SPDX-License-Identifier: MIT */
/*
 * Columns that others determine.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_DETERMINED_H
#define VDBQ_PLAN_SIMPLIFY_DETERMINED_H

#include "plan/tree/node.h"

struct binder;

/* Adds to the columns of which `known` has the flag those that they determine:
 * rows of the node that have equal values in the former, NULL being equal to
 * NULL, have equal values in the latter. Columns that are left out are so
 * because nothing is known of them. False: no memory. */
bool add_determined(struct binder *binder, const struct node *node,
                    bool *known);

#endif
