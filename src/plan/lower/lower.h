/* SPDX-License-Identifier: MIT */
/*
 * Nodes become steps.
 */
#ifndef VDBQ_PLAN_LOWER_LOWER_H
#define VDBQ_PLAN_LOWER_LOWER_H

#include "plan/tree/node.h"

struct binder;

/* lower.c */
enum vdbq_status lower(struct binder *binder, struct node *node,
                       struct steps *steps);

#endif
