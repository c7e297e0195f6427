/* SPDX-License-Identifier: MIT */
/*
 * What samples tell the planner's estimates.
 */
#ifndef VDBQ_PLAN_SAMPLE_SAMPLES_H
#define VDBQ_PLAN_SAMPLE_SAMPLES_H

#include "base/vector.h"
#include "plan/estimate/estimate.h"

struct binder;

/* Those of one statement. */
struct samples {
    struct estimate_samples calls; /* first                                 */
    struct binder *binder;
    struct vector tried; /* struct tried, in samples.c: conditions that were
                            tried                                           */
    size_t parts;        /* of expressions that were                        */
    bool starved;        /* there was no memory for one: the plan is not that
                            of statement and data                           */
};

/* Lets the binder's estimates look at samples, until samples_finish(). */
void samples_init(struct samples *samples, struct binder *binder);
void samples_finish(struct samples *samples);

#endif
