/* SPDX-License-Identifier: MIT */
/*
 * CHECKs of a table that is made or altered. Rows are held against them where they
 * come to the table (data/rule/row_checks.c).
 */
#ifndef VDBQ_PLAN_STATEMENT_TABLE_CHECKS_H
#define VDBQ_PLAN_STATEMENT_TABLE_CHECKS_H

#include "plan/plan.h"

struct binder;

/* Adds those of a list to `checks`, a vector of struct row_check in the plan's arena, whose
 * conditions are of columns of the table: it has a name and columns, and need not be
 * there yet. What is no CHECK is passed over. */
enum vdbq_status table_checks_add(struct binder *binder,
                                  const struct table *table,
                                  const struct ast_constraint *list,
                                  struct vector *checks);
/* That no CHECK of the table reads a column. */
enum vdbq_status table_checks_free(const struct binder *binder,
                                   const struct table *table, unsigned column,
                                   struct position at);
/* That they mean something under another name of the table. */
enum vdbq_status table_checks_renamed(struct binder *binder,
                                      const struct table *table,
                                      const char *name, struct position at);

#endif
