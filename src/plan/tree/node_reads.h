/* SPDX-License-Identifier: MIT */
/*
 * What a node reads of the nodes below it.
 */
#ifndef VDBQ_PLAN_TREE_NODE_READS_H
#define VDBQ_PLAN_TREE_NODE_READS_H

#include "plan/tree/node.h"

struct binder;

/* Flags of so many columns, each with that value; in the binder's arena. */
bool *column_flags(struct binder *binder, size_t count, bool value);

/* Sets the flags of the columns of `left` and `right` that the node reads where
 * `needed` of its own are read; flags of a side that it does not have, or of a
 * query that it applies, may be NULL. Not for what FROM says as it is bound. */
void node_reads(struct node *node, const bool *needed, bool *left, bool *right);

/* Makes these flags, of the left and the right node below: of a query that the
 * node applies, or that counts its rows, all columns are read. False: a failure,
 * which is in the binder's error. */
bool node_reads_below(struct binder *binder, struct node *node,
                      const bool *needed, bool *below[2]);

/* Sets the flags of the columns that an expression reads; a visitor. */
bool expression_reads(void *flags, struct expression **operand);

#endif
