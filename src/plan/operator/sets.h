/* SPDX-License-Identifier: MIT */
/*
 * Queries joined by set operators, and what VALUES shares with them: a column has
 * one type in all parts.
 */
#ifndef VDBQ_PLAN_OPERATOR_SETS_H
#define VDBQ_PLAN_OPERATOR_SETS_H

#include "parser/ast.h"
#include "plan/tree/node.h"

struct binder;

/* Gives all parts the same types, and the collation of the first part that has
 * one. */
enum vdbq_status sets_unite(struct binder *binder, struct node **parts,
                            unsigned count, struct position at);

/* Parts, one more than the set operators between them, the first one first. Rows
 * are equal by a collation that all parts have from here on, and the rows that
 * come, too. NULL: a failure. */
struct node *sets_join(struct binder *binder,
                       const struct ast_query *const *operators, size_t count,
                       struct node *const *parts);

#endif
