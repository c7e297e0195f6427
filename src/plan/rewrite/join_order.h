/* SPDX-License-Identifier: MIT */
/*
 * In which order tables are joined: what is known of them, as numbers, and the
 * order that costs least.
 */
#ifndef VDBQ_PLAN_REWRITE_JOIN_ORDER_H
#define VDBQ_PLAN_REWRITE_JOIN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

enum { LEAVES_MAX = 64 };

/* A condition about several leaves. */
struct join_edge {
    uint64_t leaves;   /* that it needs, a bit each                         */
    uint64_t sides[2]; /* key: of the left and the right operand            */
    int columns[2];    /* key: which columns these are; -1: something else  */
    bool unique[2];    /* key: no two rows of that side have the same value */
    bool key;          /* it is an equality of two sides that have no leaf
                           in common                                         */
    bool range;        /* it bounds a value of one leaf by others of another:
                           that one can be sorted and searched               */
    bool within[2]; /* key: that side's values seem to be among the other's */
    double share;   /* of all pairs of rows that it keeps, or of a key
                           that may be equal ...                             */
    double values;  /* ... and how many values these have, at least 1    */
    double price;   /* of its test, in units of cl/opcodes.h; not of keys */
};

struct join_problem {
    unsigned count;           /* leaves                                     */
    double rows[LEAVES_MAX];  /* of each                                    */
    double bases[LEAVES_MAX]; /* ... of the tables that they are taken from */
    struct join_edge *edges;
    unsigned edge_count;
};

/* In a sequence: what stands in front of it, twice, is joined. */
enum { JOIN_BOTH = -1, JOIN_SEQUENCE_MAX = 2 * LEAVES_MAX };

/* Fills `sequence` with the leaves' numbers and, behind what is to be joined,
 * JOIN_BOTH: "0 1 JOIN_BOTH 2 JOIN_BOTH" joins leaf 1 to leaf 0, and leaf 2 to
 * both. The left one is read row by row, of the right one an index is built
 * that is asked for partners. It has twice as many numbers as there are leaves,
 * less one. False: no memory. */
bool join_order(struct arena *arena, const struct join_problem *problem,
                int *sequence);

#endif
