/* SPDX-License-Identifier: MIT */
/*
 * What several clauses have in common.
 */
#ifndef VDBQ_PLAN_BIND_CLAUSE_H
#define VDBQ_PLAN_BIND_CLAUSE_H

#include "plan/tree/expression.h"

/* ASC or DESC, and where NULLs go. */
struct order_term order_term(const struct ast_order *order,
                             struct expression *expression);

#endif
