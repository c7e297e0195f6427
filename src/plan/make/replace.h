/* SPDX-License-Identifier: MIT */
/*
 * Parts of expressions replaced by others: columns of one node by those of another.
 */
#ifndef VDBQ_PLAN_MAKE_REPLACE_H
#define VDBQ_PLAN_MAKE_REPLACE_H

#include "plan/tree/expression.h"

struct binder;
struct node;

/* Gives what stands for an expression; NULL: it stays, but for its operands,
 * or (`*failed`) there is a failure. */
typedef struct expression *(*expression_replacer)(void *context,
                                                  struct expression *e,
                                                  bool *failed);

/* A copy with replacements, outermost first, or itself where there are none;
 * NULL: a failure. */
struct expression *expression_replace(struct binder *binder,
                                      struct expression *e,
                                      expression_replacer replacer,
                                      void *context);

/* The expression over another node, whose column columns[i] (NULL: i - first)
 * is its i. */
struct expression *expression_over(struct binder *binder, struct expression *e,
                                   const struct node *node, const int *columns,
                                   unsigned first);

/* A copy whose columns' numbers are higher by so much. */
struct expression *expression_moved_by(struct binder *binder,
                                       struct expression *e, int by);

#endif
