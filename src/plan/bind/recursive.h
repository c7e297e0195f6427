/* SPDX-License-Identifier: MIT */
/*
 * WITH RECURSIVE: a name whose query reads its own rows.
 */
#ifndef VDBQ_PLAN_BIND_RECURSIVE_H
#define VDBQ_PLAN_BIND_RECURSIVE_H

#include "parser/ast.h"
#include "plan/tree/node.h"

struct binder;
struct with_name;

/* The query of a name of WITH RECURSIVE. `*recursive`: it reads itself. NULL: a
 * failure. */
struct node *bind_recursive(struct binder *binder, struct with_name *name,
                            bool *recursive);

/* The rows of the round before, where the query of a name that is being bound names
 * itself. NULL: a failure. */
struct node *bind_itself(struct binder *binder, const struct with_name *name,
                         struct position at);

/* Whether the side of an outer join that may be NULLs reads the rows of the round
 * before: they were read so often before and behind each side. Fails with SYNTAX. */
enum vdbq_status bind_recursive_sides(struct binder *binder,
                                      const struct ast_from *tree,
                                      const unsigned reads[3]);

#endif
