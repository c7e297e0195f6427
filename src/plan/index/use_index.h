/* SPDX-License-Identifier: MIT */
#ifndef VDBQ_PLAN_INDEX_USE_INDEX_H
#define VDBQ_PLAN_INDEX_USE_INDEX_H

#include "plan/tree/node.h"

struct binder;

/* Rows of a table of which few are wanted are found by an index. A pass over a
 * whole tree that nothing changes any more but lowering. */
struct node *use_indexes(struct binder *binder, struct node *root);

#endif
