/* SPDX-License-Identifier: MIT */
/*
 * In how many places a node stands. What is known of one reader of a node's rows
 * must not change the node, or what is below it, where it has others.
 */
#ifndef VDBQ_PLAN_TREE_NODE_READERS_H
#define VDBQ_PLAN_TREE_NODE_READERS_H

#include "plan/tree/node.h"

struct binder;

/* Sets `readers` of all nodes in the tree. False: a failure, which is in the
 * binder's error. */
bool node_count_readers(struct binder *binder, struct node *root);

/* One more place has it since they were counted. */
void node_add_reader(struct node *node);

/* Whether no other place has it; of a node that was made since they were
 * counted, too. */
bool node_has_one_reader(const struct node *node);

#endif
