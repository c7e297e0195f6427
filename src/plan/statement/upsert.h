/* SPDX-License-Identifier: MIT */
/*
 * INSERT ... ON CONFLICT: which rule it is about, and DO UPDATE.
 */
#ifndef VDBQ_PLAN_STATEMENT_UPSERT_H
#define VDBQ_PLAN_STATEMENT_UPSERT_H

#include "plan/statement/statement.h"

/* Tells the plan of an INSERT what its ON CONFLICT says; DO UPDATE is bound, so
 * that what is wrong with it is told. */
enum vdbq_status plan_conflict(const struct ast_statement *statement,
                               const struct table *table, struct binder *binder,
                               struct plan *plan);

/* DO UPDATE for the rows of the plan's limits: PLAN_UPSERT. */
enum vdbq_status plan_upsert(const struct ast_statement *statement,
                             const struct table *table, struct binder *binder,
                             struct plan *plan);

#endif
