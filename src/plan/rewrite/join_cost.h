/* SPDX-License-Identifier: MIT */
/*
 * What it costs to join some leaves: rows that are built into an index, rows
 * that ask it, rows that come out, conditions that are tested, in prices of
 * the opcodes that do the like.
 */
#ifndef VDBQ_PLAN_REWRITE_JOIN_COST_H
#define VDBQ_PLAN_REWRITE_JOIN_COST_H

#include "plan/rewrite/join_order.h"

/* Some leaves, joined. */
struct joined {
    uint64_t leaves;
    uint64_t reached; /* the leaves that an equality or a range connects with
                         these                                           */
    uint64_t keyed;   /* ... of which a key is a leaf here               */
    uint64_t kept;    /* of `leaves`: whose rows come once at most       */
    uint64_t once;    /* the leaves whose rows find one partner here at
                         most: joined_settle()                           */
    uint64_t right;   /* ... those that were joined to the others last   */
    double rows, cost;
    bool known; /* an order was found             */
};

/* What a row costs. */
struct join_prices {
    double read, write, cell;
};

/* A problem, with the edges of each leaf. */
struct order_search {
    const struct join_problem *problem;
    struct join_prices prices;
    const struct join_edge **edges[LEAVES_MAX];
    unsigned edge_counts[LEAVES_MAX];
    const struct join_edge **others; /* edges that are no keys of two leaves */
    unsigned other_count;
    uint64_t keyed[LEAVES_MAX]; /* of which leaves a key is a leaf          */
    uint64_t once[LEAVES_MAX];  /* ... and a row finds one partner at most  */
};

/* False: no memory. */
bool order_search_init(struct order_search *search, struct arena *arena,
                       const struct join_problem *problem);

struct joined joined_start(const struct order_search *search, unsigned leaf);

/* Whether a leaf may come next: it is connected, or nothing is. */
bool joined_may_follow(const struct joined *joined, unsigned leaf);

/* Joins one more leaf. */
struct joined joined_extend(const struct order_search *search,
                            const struct joined *before, unsigned leaf);

/* Sets what follows from all leaves' rows that come once at most. */
void joined_settle(const struct order_search *search, struct joined *joined);

/* What it costs to join two sets of leaves, of which the right one is made
 * first and built into an index, into so many rows: INFINITY where no key
 * connects them, or where it is more than `most`. */
double joined_pair_cost(const struct order_search *search,
                        const struct joined *left, const struct joined *right,
                        double rows, double most);

#endif
