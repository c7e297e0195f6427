/* SPDX-License-Identifier: MIT */
/*
 * What the files that take conditions out of nodes share.
 */
#ifndef VDBQ_PLAN_UNNEST_DECORRELATE_INNER_H
#define VDBQ_PLAN_UNNEST_DECORRELATE_INNER_H

#include "plan/unnest/decorrelate.h"

/* NULL: it cannot be done; there is no memory. */
struct node *decorrelate_refuse(struct decorrelating *decorrelating);
struct node *decorrelate_fail(struct decorrelating *decorrelating);

/* A node with other columns has its old ones again, `count` of them, in front:
 * old column i is columns[i]. What is added stands behind them. */
struct node *decorrelate_in_front(struct decorrelating *decorrelating,
                                  struct node *node, const int *columns,
                                  unsigned count);

/* decorrelate_group.c: as decorrelate_conditions() with a NODE_GROUP; one without keys is
 * refused. */
struct node *decorrelate_group(struct decorrelating *decorrelating,
                               struct node *node);

#endif
