/* SPDX-License-Identifier: MIT */
/*
 * What EXPLAIN (TREE) shows of rewriting: the tree as it was bound, and as it
 * was after each pass that changed it.
 */
#ifndef VDBQ_PLAN_REWRITE_TRACE_H
#define VDBQ_PLAN_REWRITE_TRACE_H

#include "base/text.h"
#include "plan/tree/node.h"

struct trace {
    struct text text;   /* lines, each a comment; the caller finishes it   */
    const char *pass;   /* the one that changed the tree last; NULL: none  */
    size_t begin;       /* where its part of the text begins               */
    size_t tree;        /* ... and the last tree                           */
    struct node **root; /* the whole tree, while it is rewritten           */
};

/* The tree is bound. */
void trace_bound(struct trace *trace, struct node **root);
/* A pass changed it. Changes of one pass at several nodes, one after the
 * other, are shown together. `what` is what the pass does, in a sentence. */
void trace_pass(struct trace *trace, const char *pass, const char *what);
/* A pass went over the whole tree, and may have changed it. */
void trace_tree(struct trace *trace, const char *pass, const char *what);

#endif
