/* SPDX-License-Identifier: MIT */
/*
 * What UPDATE and ON CONFLICT DO UPDATE have in common.
 */
#ifndef VDBQ_PLAN_STATEMENT_CHANGE_H
#define VDBQ_PLAN_STATEMENT_CHANGE_H

#include "parser/ast.h"
#include "plan/tree/expression.h"

struct binder;
struct column;
struct table;

/* What a SET says, as a value of the column. NULL: a failure. */
struct expression *bind_set(struct binder *binder, const struct ast_set *set,
                            const struct column *column);

#endif
