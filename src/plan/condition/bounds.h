/* SPDX-License-Identifier: MIT */
/*
 * What conditions say about the order of the values of two sides.
 */
#ifndef VDBQ_PLAN_CONDITION_BOUNDS_H
#define VDBQ_PLAN_CONDITION_BOUNDS_H

#include "plan/tree/expression.h"

struct binder;

/* An expression of one side that lies below or above one of the other. Both
 * are over the columns of both sides, and neither fails. */
struct bound {
    size_t part;   /* of the condition that says it                  */
    bool half;     /* another bound of the part has to hold, too     */
    bool exact;    /* no more than what it says; else the condition is
                          still to be tested                             */
    bool is_right; /* the right side's is bounded                    */
    bool is_low, is_open;
    struct expression *bounded, *by;
};

struct bounds {
    struct binder *binder;
    unsigned middle;     /* number of the right side's first column       */
    struct vector found; /* of struct bound                               */
};

/* Adds what a part of a condition says, in all ways in which it can be said. */
enum vdbq_status bounds_add(struct bounds *bounds, size_t part,
                            struct expression *e);

#endif
