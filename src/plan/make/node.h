/* SPDX-License-Identifier: MIT */
/*
 * New nodes. Functions that return a pointer return NULL where they fail, with the
 * failure in the binder's error. A node shares its columns' names.
 */
#ifndef VDBQ_PLAN_MAKE_NODE_H
#define VDBQ_PLAN_MAKE_NODE_H

#include "plan/tree/node.h"

struct binder;

/* Of any kind, with so many columns, which are to be filled. */
struct node *node_new(struct binder *binder, enum node_kind kind,
                      struct node *below, unsigned column_count);

struct node *node_once(struct binder *binder);

struct node *node_table(struct binder *binder, const struct table *table);
/* Likewise; column `*number` is the number of a row in the table, whether that is
 * its id or not. */
struct node *node_numbered(struct binder *binder, const struct table *table,
                           unsigned *number);

/* What FROM names, `parts` of struct node *, in its order. */
struct node *node_product(struct binder *binder, const struct vector *parts,
                          const struct vector *conditions);

struct node *node_outer(struct binder *binder, enum join_kind kind,
                        struct node *const sides[2],
                        const struct vector *conditions);

/* With no keys and no condition yet. */
struct node *node_join(struct binder *binder, enum join_kind kind,
                       struct node *left, struct node *right);

/* Of an outer join that stays one: values beside are those of the right side,
 * or 0 where they are NULL. */
void node_keep_ranges(struct node *join);

/* What an aggregate of a column can be, where it is known of the rows below. */
void node_narrow(const struct node *below, enum aggregate_function function,
                 int column, struct node_column *made);

/* Columns of aggregates get the type that `aggregate_type` says. */
struct node *node_group(struct binder *binder, struct node *below,
                        unsigned keys, const struct vector *aggregates);

/* The groups of `whole`, made of groups of parts of its rows: `below` has its keys,
 * then its aggregates of each part, all of which aggregate_of_parts() tells. */
struct node *node_group_of_parts(struct binder *binder, struct node *below,
                                 const struct node *whole);

struct node *node_distinct(struct binder *binder, struct node *below);

/* The first `columns` columns stay. */
struct node *node_sort(struct binder *binder, struct node *below,
                       const struct vector *keys, unsigned columns);

struct node *node_limit(struct binder *binder, struct node *below,
                        uint64_t offset, uint64_t limit);

/* The only row of `counts` says how many, as STEP_LIMIT's second input. */
struct node *node_limit_by(struct binder *binder, struct node *below,
                           struct node *counts);

/* Parts have columns of equal types. */
struct node *node_concat(struct binder *binder, struct node *const *parts,
                         unsigned count);

/* Rows of constants: `values` has a vector for each column (constants.h), which
 * lives in the binder's arena. */
struct node *node_values(struct binder *binder,
                         const struct node_column *columns, unsigned count,
                         struct vdbq_vector *values, size_t rows);
/* Each run writes other values in the place of these, of the same types, of which
 * nothing else is known. */
void node_values_vary(struct node *node);

/* A recursive query, whose columns are those of its first one: plan/tree/common.h. NULL: a
 * failure, also where the term is NULL. */
struct node *node_recurse(struct binder *binder, struct recursion *recursion,
                          struct node *first, struct node *term);

/* A node over `below` with its columns and `added` more, to be filled. */
struct node *node_wider(struct binder *binder, enum node_kind kind,
                        struct node *below, unsigned added);

/* An expression that is column `column` of `node`. */
struct expression *node_column(struct binder *binder, const struct node *node,
                               unsigned column, struct position at);

/* Whether values of an aggregate of a type over parts of the rows tell that of all
 * rows, and by which function. Floats are none of these: their sums would be
 * rounded twice, and equal extremes may differ in their sign. */
bool aggregate_of_parts(const struct step_aggregate *aggregate, int type,
                        enum aggregate_function *function);

/* The type and range of an aggregate's value over a column (NULL: rows). */
void aggregate_column(enum aggregate_function function,
                      const struct node_column *argument,
                      struct node_column *column);

#endif
