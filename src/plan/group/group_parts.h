/* SPDX-License-Identifier: MIT */
/*
 * Groups that are made of groups of parts of their rows.
 */
#ifndef VDBQ_PLAN_GROUP_PARTS_H
#define VDBQ_PLAN_GROUP_PARTS_H

#include "plan/tree/node.h"

struct binder;

/* The groups of `whole`, with what is known of its columns: as node_group_of_parts(),
 * but without keys no groups of parts are a group whose counts are 0. NULL: a
 * failure. */
struct node *group_of_parts(struct binder *binder, struct node *below,
                            const struct node *whole);

#endif
