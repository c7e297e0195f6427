/* SPDX-License-Identifier: MIT */
/*
 * Conditions taken apart.
 */
#ifndef VDBQ_PLAN_CONDITION_SPLIT_H
#define VDBQ_PLAN_CONDITION_SPLIT_H

#include "plan/tree/expression.h"
#include "base/vector.h"

struct binder;

/* split.c: adds the parts of a condition that must all hold. */
enum vdbq_status split_condition(struct binder *binder, struct expression *e,
                                 struct vector *parts);

#endif
