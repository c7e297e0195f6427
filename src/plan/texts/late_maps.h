/* SPDX-License-Identifier: MIT */
/*
 * Functions of the host that are computed for the rows behind a LIMIT.
 */
#ifndef VDBQ_PLAN_TEXTS_LATE_MAPS_H
#define VDBQ_PLAN_TEXTS_LATE_MAPS_H

#include "plan/tree/node.h"

struct binder;

/* At a LIMIT, functions that do nothing for which rows it keeps are computed behind
 * it: the node in its place, or itself. NULL: a failure. */
struct node *late_maps(struct binder *binder, struct node *node);

#endif
