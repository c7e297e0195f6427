/* SPDX-License-Identifier: MIT */
/*
 * Passes over a whole tree that is rewritten: what looks at one node, the nodes
 * below it being done.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_TREE_PASS_H
#define VDBQ_PLAN_SIMPLIFY_TREE_PASS_H

#include "plan/tree/node.h"

struct binder;

/* What stands in a node's place; NULL: a failure. */
typedef struct node *(*tree_replace)(struct binder *binder, struct node *node);

/* Replaces each node, from the tables up. A node over which another one came to
 * stand takes in what it computes, where nodes are merged at all. */
struct node *tree_pass(struct binder *binder, struct node *node,
                       tree_replace replace);

/* Looks at a node, which may be changed; false: a failure. */
typedef bool (*tree_look)(struct binder *binder, struct node *node);

/* Looks at each node once, in however many places it stands, from the tables up.
 * False: a failure. */
bool tree_look_once(struct binder *binder, struct node *root, tree_look look);

/* node, or what it and the one below it become as one. */
struct node *tree_merge(struct binder *binder, struct node *node);

#endif
