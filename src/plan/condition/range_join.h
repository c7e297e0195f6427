/* SPDX-License-Identifier: MIT */
/*
 * Joins whose conditions bound a value of one side by those of the other.
 */
#ifndef VDBQ_PLAN_CONDITION_RANGE_JOIN_H
#define VDBQ_PLAN_CONDITION_RANGE_JOIN_H

#include "plan/condition/bounds.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/node.h"

struct binder;

/* range_join.c: gives a join the best range that the parts of its condition make.
 * They are over the columns of both sides, those of the right one from number
 * `middle` on; where the range says all of a part, it becomes NULL. There is
 * no range where there is nothing of that kind. */
enum vdbq_status join_add_range(struct binder *binder, struct node *nodes[2],
                                unsigned middle, struct vector *parts,
                                struct step_range_join *range);

/* What a range costs beside a grid, in units of cl/opcodes.h. */
struct range_price {
    double share; /* of all pairs, that are in the range; 1: there is none */
    double range, grid;
};

/* What is known of both sides of a join: their rows, and those of the tables
 * that these are taken from. */
struct range_sides {
    struct estimate_source columns; /* that the parts are over */
    double rows[2], bases[2];
};

/* Its parts: what the parts of a condition bound, one value and its bounds among that,
 * and the range of these, with columns of the nodes that it makes. */
struct range_choice {
    int low, high; /* numbers in what was found; -1: none */
    int score;
};
enum vdbq_status range_find(struct bounds *bounds, const struct vector *parts);
struct range_choice range_choose(const struct bounds *bounds);
/* The share of all pairs that are in it. */
double range_share(const struct bounds *bounds,
                   const struct range_choice *choice,
                   const struct range_sides *sides);
enum vdbq_status range_make(struct bounds *bounds,
                            const struct range_choice *choice,
                            struct node *nodes[2],
                            struct step_range_join *range);

enum vdbq_status join_price_range(struct binder *binder, unsigned middle,
                                  const struct vector *parts,
                                  const struct range_sides *sides,
                                  struct range_price *price);

/* Whether there would be one. */
enum vdbq_status join_has_range(struct binder *binder, unsigned middle,
                                const struct vector *parts, bool *has);

#endif
