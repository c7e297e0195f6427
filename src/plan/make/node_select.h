/* SPDX-License-Identifier: MIT */
/*
 * Nodes that compute (NODE_SELECT), and nodes with more or other columns.
 */
#ifndef VDBQ_PLAN_MAKE_NODE_SELECT_H
#define VDBQ_PLAN_MAKE_NODE_SELECT_H

#include "plan/tree/node.h"

struct binder;

/* The column that an expression makes, of its name or "". */
struct node_column node_column_of(const struct expression *e);

/* Results are copied, `count` of them, named by `names` (may be NULL). */
struct node *node_select(struct binder *binder, struct node *below,
                         struct expression *where,
                         struct expression *const *results,
                         const char *const *names, unsigned count);

/* One node that computes, over another one, becomes one with it where nothing
 * is computed twice by that. */
struct node *node_merge(struct binder *binder, struct node *node);

/* Keeps rows; the same columns. */
struct node *node_filter(struct binder *binder, struct node *below,
                         struct expression *where);

/* Adds a column for each expression behind those of `below`. */
struct node *node_extend(struct binder *binder, struct node *below,
                         struct expression *const *added, unsigned count);

/* Columns of `below`, `count` of them, by their numbers. */
struct node *node_columns(struct binder *binder, struct node *below,
                          const int *columns, unsigned count);

/* The same rows, with the number of each among those with equal values in the
 * columns `keys`, of which there may be none, in a column behind. They are counted
 * in the order of a vector of struct step_key; NULL: as they come. */
struct node *node_number_rows(struct binder *binder, struct node *below,
                              const int *keys, unsigned count,
                              const struct vector *order);

/* The first `count` columns. */
struct node *node_first_columns(struct binder *binder, struct node *below,
                                unsigned count);

/* The number of a column of `*node` that holds the expression: its own one,
 * or one that is added. -1: a failure. */
int node_column_for(struct binder *binder, struct node **node,
                    struct expression *e);

#endif
