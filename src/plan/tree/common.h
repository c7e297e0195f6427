/* SPDX-License-Identifier: MIT */
/*
 * A common subplan: rows that several places of a statement read, each through
 * a NODE_COMMON, which is a leaf to all passes. So its tree is bound, rewritten
 * and lowered once, however many places name it, and nothing that is known of
 * one of them changes it. Before *share* its tree takes the places of those
 * leaves: plan/simplify/common.c.
 */
#ifndef VDBQ_PLAN_TREE_COMMON_H
#define VDBQ_PLAN_TREE_COMMON_H

#include <stdbool.h>
#include <stdint.h>

struct node;

struct common {
    struct node *root;   /* its tree                                      */
    const void *of;      /* the name of WITH, or the view, that it is bound
                           from; NULL: rewriting made it                 */
    unsigned readers;    /* places, as they were made                     */
    bool asks;           /* it may ask queries around it for values       */
    bool recursive;      /* of a recursive query: it stays apart where one
                            place reads it, too                       */
    bool ready;          /* its tree is rewritten and estimated           */
    bool fails;          /* it can fail, as far as is known               */
    uint64_t rows_most;  /* that it gives                                 */
    struct node *stands; /* in the places of its leaves, in the end; NULL:
                            they are still there                          */
    struct common *next; /* of the binder's: one that may read this one   */
};

/* A recursive query, WITH RECURSIVE: a NODE_RECURSE has its first query on the left,
 * and on the right the recursive term, which reads the rows of the round before
 * through a NODE_WORKING, a leaf to all passes. It is always in a common subplan of
 * its own, so that nothing around it changes it, and the term is steps of its own,
 * which run once a round. */
struct recursion {
    struct node *node; /* RECURSE; NULL: it is being bound             */
    bool distinct;     /* UNION: a row that came before is no more one */
};

#endif
