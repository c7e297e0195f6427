/* SPDX-License-Identifier: MIT */
/*
 * Constants that are rows: VALUES, and the long lists of IN.
 */
#ifndef VDBQ_PLAN_BIND_VALUES_H
#define VDBQ_PLAN_BIND_VALUES_H

#include "plan/tree/node.h"

struct binder;
struct parameter;

/* Whether the parts of a VALUES are all constants, and the node of those. */
bool values_are_constant(struct node *const *parts, size_t count);

struct node *values_node(struct binder *binder, struct node *const *parts,
                         size_t count);

/* Whether a VALUES has many rows and nothing but literals. Its columns have the
 * types that some of its rows have in common: those that no row before is like,
 * a vector of const struct ast_row *. */
bool values_are_literals(const struct ast_query *query);
enum vdbq_status values_samples(struct binder *binder,
                                const struct ast_query *query,
                                struct vector *samples);
/* The node of such a VALUES, with the columns that these rows have. */
struct node *values_of_literals(struct binder *binder,
                                const struct ast_query *query,
                                const struct node_column *columns);

/* The items of a long list, which the operand is to be compared with, as rows
 * of one column, without those that it never equals; NULL: it is to be compared
 * with one after the other. */
enum vdbq_status values_of_list(struct binder *binder,
                                struct expression *operand,
                                struct expression *const *items, size_t count,
                                struct node **node);
/* The same of the array that a parameter has. */
enum vdbq_status values_of_array(struct binder *binder,
                                 struct expression *operand,
                                 const struct parameter *given,
                                 struct node **node);
/* The same of an IN that is not bound; NULL, too, where not all items are
 * literals. */
enum vdbq_status values_of_items(struct binder *binder,
                                 struct expression *operand,
                                 const struct ast_expression *tree,
                                 struct node **node);

#endif
