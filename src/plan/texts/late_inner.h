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
    /* a statement shows, or groups tell apart, the texts that it gives */
    bool leave;
    /* a sort wants the first of these; NULL: none does */
    const struct expression *first;
    /* a LIMIT wants so many rows, the first ones; 0: all are wanted */
    double rows;
};

/* Has calls of a SELECT computed row by row, where that costs less: the node in its
 * place, or itself. NULL: a failure. */
struct node *late_select(struct binder *binder, struct node *select,
                         const struct late_wants *wants);

/* Results over the rows below, with the names of the columns of `node`, in whose place
 * they stand. NULL: a failure. */
struct node *late_in_place(struct binder *binder, const struct node *node,
                           struct node *below, struct expression *where,
                           struct expression *const *results);

/* Whether a SELECT's results can fail for a row, but for texts that are too long:
 * then they are computed for those that a LIMIT leaves out, too. */
bool late_may_fail(const struct node *select);
/* Whether a node may be taken apart: nobody else reads it. */
bool late_is_own(const struct node *node);
/* Whether it is a SELECT of which that holds, over rows. */
bool late_can_be(const struct node *node);

#endif
