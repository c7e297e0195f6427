/* SPDX-License-Identifier: MIT */
/*
 * What the files that unnest subqueries share.
 *
 * The domain of a subquery: the different tuples of values that the rows around
 * it ask for, each once. A subquery is run for all of them at once: its rows
 * stand beside the tuple that they are the answer to (unnest_push), and the rows
 * that ask find theirs by an equality join.
 */
#ifndef VDBQ_PLAN_UNNEST_UNNEST_INNER_H
#define VDBQ_PLAN_UNNEST_UNNEST_INNER_H

#include "plan/tree/node.h"

struct binder;

/* A subquery that is being unnested. */
struct unnesting {
    struct binder *binder;
    const struct vector
        *parameters;      /* of struct outer_value: that it asks for */
    struct node *below;   /* the rows around it                   */
    struct vector values; /* of struct expression *: the domain's columns, over
                             `below`; equal ones once                       */
    bool refused;         /* it cannot be done; no failure                  */
};

/* NULL: it cannot be done; there is no memory. */
struct node *unnest_refuse(struct unnesting *unnesting);
struct node *unnest_fail(struct unnesting *unnesting);

/* Begins: which values are asked for. False: no memory. */
bool unnest_begin(struct unnesting *unnesting);
/* Begins another one, for a node that may ask for some of the values only. False:
 * no memory. */
bool unnest_begin_for(const struct unnesting *unnesting,
                      const struct node *node, struct unnesting *narrow);
/* How many columns the domain has. */
unsigned unnest_width(const struct unnesting *unnesting);
/* The domain's column that a parameter is; -1: another query's. */
int unnest_column(const struct unnesting *unnesting, int parameter);
/* Whether an expression, or a node, has a value that is asked for. */
bool unnest_asks(const struct unnesting *unnesting, const struct expression *e);
bool unnest_node_asks(const struct unnesting *unnesting,
                      const struct node *node);

/* unnest_domain.c: the domain's tuples that the conditions keep, which are over
 * parameters alone. Columns of which `known` is true are never NULL: tuples
 * with a NULL there are left out. */
struct node *unnest_domain(struct unnesting *unnesting,
                           const struct vector *conditions, const bool *known);
/* The rows of a node beside each tuple: its columns, then the domain's. */
struct node *unnest_times(struct unnesting *unnesting, struct node *node);

/* unnest_columns.c */

/* An expression with the values of parameters in their place: columns of `node`
 * from `first` on, where column i of what it is over is columns[i] (NULL: i). */
struct expression *unnest_over(struct unnesting *unnesting,
                               struct expression *e, const struct node *node,
                               const int *columns, unsigned first);
/* Likewise; parameters become the values themselves, over the rows that ask. */
struct expression *unnest_valued(struct unnesting *unnesting,
                                 struct expression *e);
/* Refuses an expression that can fail: it would be computed for values that
 * nobody may come to. */
bool unnest_fails(struct unnesting *unnesting, const struct expression *e);
/* `a AND b`; a may be NULL. */
struct expression *unnest_and(struct unnesting *unnesting, struct expression *a,
                              struct expression *b);
/* Whether column `column` of a node is NULL, or is not. */
struct expression *unnest_null(struct unnesting *unnesting,
                               const struct node *node, unsigned column,
                               bool is);
/* Columns [0, count) of the node by their numbers, and the domain's, which are
 * those from `first` on. */
struct node *unnest_columns(struct unnesting *unnesting, struct node *node,
                            const int *columns, unsigned count, unsigned first);
/* The columns of `node` in their order, as a list in the arena. */
int *unnest_numbers(struct unnesting *unnesting, unsigned count);

/* The left node's rows, each with what is found by those keys of the right one,
 * which is at most one row. */
struct node *unnest_join(struct unnesting *unnesting, enum join_kind kind,
                         struct node *const nodes[2],
                         const struct step_join *keys);

/* unnest_push.c: the rows that a node gives for each tuple of the domain, in
 * the order that it gives them, beside the tuple: the node's columns, then the
 * domain's. The node stays as it is. NULL: refused, or a failure. */
struct node *unnest_push(struct unnesting *unnesting, struct node *node);

/* unnest_join.c: likewise with a NODE_JOIN. */
struct node *unnest_push_join(struct unnesting *unnesting, struct node *node);

/* unnest_where.c: likewise with the rows of a node that the parts of a condition
 * keep, the node itself asking for nothing. */
struct node *unnest_where(struct unnesting *unnesting, struct node *node,
                          const struct vector *parts);
/* Adds to a join of both nodes that the domain's columns are equal, NULL being
 * one value: those of the right node, from `right` on, are all of the
 * `unnesting`; the left one has those of `left_of` from `left` on, or (NULL)
 * makes the values themselves. */
bool unnest_equal(struct unnesting *unnesting, struct node *nodes[2],
                  const struct unnesting *left_of, unsigned left,
                  unsigned right, struct step_join *join);

/* unnest_group.c: likewise with a NODE_GROUP. */
struct node *unnest_push_group(struct unnesting *unnesting, struct node *node);
/* With one without keys, but no row for tuples of which there are no rows. */
struct node *unnest_groups(struct unnesting *unnesting, struct node *node);
/* What an aggregate of a group without keys is where `found` is false: its
 * column of `node`, or what it is of no rows. */
struct expression *unnest_aggregate(struct unnesting *unnesting,
                                    const struct step_group *group,
                                    unsigned number, const struct node *node,
                                    unsigned column, struct expression *found);

/* unnest_beside.c: the rows that ask, joined with those of their tuples; the
 * domain's columns of `node` are those from `first` on. `operand` (NULL: none)
 * equals column 0. */
struct node *unnest_join_domain(struct unnesting *unnesting,
                                enum join_kind kind, struct node *node,
                                unsigned first, struct expression *operand);
/* A node with a column behind its own that is NULL where a row of an outer join
 * has no partner. */
struct node *unnest_with_mark(struct unnesting *unnesting, struct node *node);
/* The domain's columns in front of the `count` others. */
struct node *unnest_domain_in_front(struct unnesting *unnesting,
                                    struct node *node, unsigned count);

/* Where a subquery's columns stand beside the rows that ask. */
struct unnest_beside {
    const struct node *join;
    unsigned first;           /* of its columns that are the subquery's  */
    struct expression *found; /* whether the subquery has a row at all   */
};
/* Makes them stand there: those of `node` behind the domain's, which come first.
 * NULL: a failure. */
struct node *unnest_stand_beside(struct unnesting *unnesting, struct node *node,
                                 struct unnest_beside *beside);

/* unnest_scalar.c: the value of a subquery that is one. */
struct node *unnest_scalar(struct unnesting *unnesting,
                           const struct expression *e,
                           struct expression **value);

/* unnest_value.c: a subquery's value beside the rows that ask. */
struct node *unnest_by_domain(struct unnesting *unnesting,
                              const struct expression *e,
                              struct expression **value);
/* The rows for which EXISTS, or IN, is true, or (`negated`) is not. */
struct node *unnest_filter_by_domain(struct unnesting *unnesting,
                                     const struct expression *e, bool negated);
/* A subquery without what makes no difference to whether it has rows, or to
 * its first row. */
struct node *unnest_without_limit(const struct subquery *subquery);

#endif
