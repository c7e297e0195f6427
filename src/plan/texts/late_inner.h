/* SPDX-License-Identifier: MIT */
/*
 * What the files of late calls share: late_calls.c takes a SELECT apart, and says of
 * which nodes, late_first.c of others.
 */
#ifndef VDBQ_PLAN_TEXTS_LATE_INNER_H
#define VDBQ_PLAN_TEXTS_LATE_INNER_H

#include "plan/tree/node.h"

struct binder;

/* What is wanted of a SELECT. */
struct late_wants {
    bool
        leave; /* a statement shows, or groups tell apart, the texts that it gives */
    const struct expression
        *first; /* a sort wants the first of these; or NULL     */
    double
        rows; /* a LIMIT wants so many, the first ones; 0: all are wanted        */
};

/* Has calls of a SELECT computed row by row, where that costs less: the node in its
 * place, or itself. NULL: a failure. */
struct node *late_select(struct binder *binder, struct node *select,
                         const struct late_wants *wants);

/* Whether a node may be taken apart: nobody else reads it. */
bool late_is_own(const struct node *node);
/* Whether it is a SELECT of which that holds, over rows. */
bool late_can_be(const struct node *node);

#endif
