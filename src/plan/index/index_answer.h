/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table that are compared with the answers of subqueries.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_ANSWER_H
#define VDBQ_PLAN_INDEX_INDEX_ANSWER_H

#include "plan/tree/node.h"

struct binder;

/* Below a NODE_SELECT over a table beside which answers stand (share_has_answer()),
 * puts a NODE_SEEK in the table's place if the condition has an answer as a bound of
 * an index, and that is thought to find few rows. The rows of all nodes are estimated.
 * False: a failure, which the binder has. */
bool index_answer(struct binder *binder, struct node *select);

#endif
