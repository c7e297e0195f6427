/* SPDX-License-Identifier: MIT */
/*
 * What ON CONFLICT is about.
 */
#ifndef VDBQ_PLAN_STATEMENT_CONFLICT_TARGET_H
#define VDBQ_PLAN_STATEMENT_CONFLICT_TARGET_H

#include "base/vector.h"
#include "plan/plan.h"

struct binder;

/* Finds what the target says of the rules of a table (struct unique_rule): columns,
 * or the keys of an index; count 0: all of them. UNKNOWN: no rule is about it. */
enum vdbq_status conflict_target_find(const struct ast_conflict *conflict,
                                      const struct table *table,
                                      const struct vector *rules,
                                      struct binder *binder,
                                      struct conflict_target *target);

#endif
