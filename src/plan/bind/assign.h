/* SPDX-License-Identifier: MIT */
/*
 * Values for the columns of a table. A value is stored as what it is or not at
 * all: a whole number that does not fit its column, and a fraction for a column
 * of whole numbers, are refused. Numbers are rounded to the nearest that a
 * FLOAT or DOUBLE can hold.
 */
#ifndef VDBQ_PLAN_BIND_ASSIGN_H
#define VDBQ_PLAN_BIND_ASSIGN_H

#include "plan/tree/expression.h"

/* What is assigned to a column, as its type. NULL: it was refused, or another
 * failure. */
struct expression *expression_assigned(struct binder *binder,
                                       struct expression *e,
                                       const struct column *column);
/* What DEFAULT's expression is as the column's type; no column can be named
 * in it. CREATE TABLE takes a constant alone. NULL: likewise. */
struct expression *expression_default_bound(struct binder *binder,
                                            const struct ast_expression *tree,
                                            const struct column *column);
/* The value of a column that nothing is said of, a constant: its DEFAULT, or
 * NULL. NULL: likewise; CORRUPT: the file has another DEFAULT. */
struct expression *expression_default(struct binder *binder,
                                      const struct column *column,
                                      struct position at);

#endif
