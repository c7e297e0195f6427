/* SPDX-License-Identifier: MIT */
/*
 * Expressions of one row of a table whose text the catalogue keeps, of indexes and of
 * CHECKs: they say the same of a row whenever that is asked.
 */
#ifndef VDBQ_PLAN_STATEMENT_ROW_EXPRESSION_H
#define VDBQ_PLAN_STATEMENT_ROW_EXPRESSION_H

#include "plan/plan.h"

struct binder;
struct expression;

/* What they are of: "an index", "a CHECK". */
struct row_expressions {
    struct binder *binder;
    const char *what;
    bool *reads; /* columns of the table that they read: one more each time */
};

/* That a bound expression asks no other rows, and not the time of day. `*any`: it
 * reads a column. */
enum vdbq_status row_expression_check(const struct row_expressions *of,
                                      const struct ast_expression *tree,
                                      struct expression *e, bool *any);
/* Its text, in the binder's arena; NULL: a failure. */
const char *row_expression_text(const struct row_expressions *of,
                                const struct ast_expression *tree);

#endif
