/* SPDX-License-Identifier: MIT */
/*
 * Joins whose conditions bound a value of one side by those of the other.
 */
#ifndef VDBQ_PLAN_REWRITE_BAND_H
#define VDBQ_PLAN_REWRITE_BAND_H

#include "plan/tree/node.h"
#include "plan/tree/estimate.h"

struct binder;

/* band.c: gives a join the best band that the parts of its condition make.
 * They are over the columns of both sides, those of the right one from number
 * `middle` on; where the band says all of a part, it becomes NULL. There is
 * no band where there is nothing of that kind. */
enum vdbq_status join_add_band(struct binder *binder, struct node *nodes[2],
                               unsigned middle, struct vector *parts,
                               struct step_range_join *band);

/* What a band costs beside a grid, in units of cl/opcodes.h. */
struct band_price {
    double share; /* of all pairs, that are in the band; 1: there is none */
    double band, grid;
};

/* What is known of both sides of a join: their rows, and those of the tables
 * that these are taken from. */
struct band_sides {
    struct estimate_source columns; /* that the parts are over */
    double rows[2], bases[2];
};

enum vdbq_status join_price_band(struct binder *binder, unsigned middle,
                                 const struct vector *parts,
                                 const struct band_sides *sides,
                                 struct band_price *price);

/* Whether there would be one. */
enum vdbq_status join_has_band(struct binder *binder, unsigned middle,
                               const struct vector *parts, bool *has);

#endif
