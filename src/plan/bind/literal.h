/* SPDX-License-Identifier: MIT */
/*
 * Literals: numbers, texts, NULL, TRUE and FALSE.
 */
#ifndef VDBQ_PLAN_BIND_LITERAL_H
#define VDBQ_PLAN_BIND_LITERAL_H

#include "plan/tree/expression.h"

struct binder;

/* The constant that a tree of AST_INTEGER to AST_FALSE is; of a text, its bytes
 * stay where they are. */
struct expression *bind_literal(struct binder *binder,
                                const struct ast_expression *tree);

#endif
