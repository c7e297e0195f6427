/* SPDX-License-Identifier: MIT */
/*
 * Constants that are rows: VALUES, and the long lists of IN.
 */
#ifndef VDBQ_PLAN_BIND_VALUES_H
#define VDBQ_PLAN_BIND_VALUES_H

#include "plan/tree/node.h"

struct binder;

/* Whether the parts of a VALUES are all constants, and the node of those. */
bool values_are_constant(struct node *const *parts, size_t count);

struct node *values_node(struct binder *binder, struct node *const *parts,
                         size_t count);

/* The items of a long list, which the operand is to be compared with, as rows
 * of one column, without those that it never equals; NULL: it is to be compared
 * with one after the other. */
enum vdbq_status values_of_list(struct binder *binder,
                                struct expression *operand,
                                struct expression **items, size_t count,
                                struct node **node);

#endif
