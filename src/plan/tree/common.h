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
    bool ready;          /* its tree is rewritten and estimated           */
    bool fails;          /* it can fail, as far as is known               */
    uint64_t rows_most;  /* that it gives                                 */
    struct node *stands; /* in the places of its leaves, in the end; NULL:
                            they are still there                          */
    struct common *next; /* of the binder's: one that may read this one   */
};

#endif
