/* SPDX-License-Identifier: MIT */
/*
 * Inner joins of what FROM names (the leaves) while they are made.
 */
#ifndef VDBQ_PLAN_REWRITE_JOINING_H
#define VDBQ_PLAN_REWRITE_JOINING_H

#include "plan/rewrite/join_order.h"
#include "plan/tree/node.h"

struct binder;

/* One part of a condition. */
struct part {
    struct expression *expression; /* over the columns of FROM            */
    uint64_t leaves;               /* whose columns it needs, a bit each  */
    bool key;                      /* an equality of different leaves       */
    bool late;                     /* something is to be extracted out of it;
                                      where it is a key, out of each side   */
    bool done;
};

/* Some leaves, joined. */
struct branch {
    struct node *node;
    uint64_t leaves; /* that are in it, a bit each                    */
    int *columns;    /* of `node`, by FROM's numbers; -1: not there   */
};

struct joining {
    struct binder *binder;
    struct node *leaves[LEAVES_MAX];
    unsigned firsts[LEAVES_MAX + 1]; /* the number of a leaf's first column */
    unsigned count;
    int sequence
        [JOIN_SEQUENCE_MAX]; /* in which they are joined: join_order.h */
    struct part *parts;
    size_t part_count;
    struct branch all; /* all leaves, once they are joined */
};

/* The leaves whose columns an expression needs, a bit each. */
uint64_t joining_leaves(const struct joining *joining, struct expression *e);

/* join_problem.c: finds the order that costs least. */
enum vdbq_status joining_order(struct joining *joining);

#endif
