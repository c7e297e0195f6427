/* SPDX-License-Identifier: MIT */
/*
 * What the files that pull conditions out of nodes share.
 */
#ifndef VDBQ_PLAN_REWRITE_PULL_INNER_H
#define VDBQ_PLAN_REWRITE_PULL_INNER_H

#include "plan/rewrite/pull.h"

/* NULL: it cannot be done; there is no memory. */
struct node *pull_refuse(struct pulling *pulling);
struct node *pull_fail(struct pulling *pulling);

/* A node with other columns has its old ones again, `count` of them, in front:
 * old column i is columns[i]. What is added stands behind them. */
struct node *pull_in_front(struct pulling *pulling, struct node *node,
                           const int *columns, unsigned count);

/* pull_group.c: as pull_conditions() with a NODE_GROUP; one without keys is
 * refused. */
struct node *pull_group(struct pulling *pulling, struct node *node);

#endif
