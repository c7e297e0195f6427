/* SPDX-License-Identifier: MIT */
/*
 * How groups with aggregates of DISTINCT values are divided: each rank groups its
 * rows by the keys and the value, so that a value comes once a group and rank;
 * the gather merges these pairs, whichever rank they come from, and what it gives
 * has each once, in the order of their first rows. The groups are made of that.
 */
#ifndef VDBQ_CLUSTER_DIVIDE_DISTINCT_H
#define VDBQ_CLUSTER_DIVIDE_DISTINCT_H

#include "program/steps/steps.h"

/* Whether an aggregate of groups is of DISTINCT values. */
bool divide_has_distinct(const struct step_group *group);

/* Whether all aggregates of a group, some of which are such, can be made of the
 * pairs of its keys and one value. */
bool divide_distinct_pairs(const struct step *input,
                           const struct step_group *group);

/* Why the rows of a step are not divided among ranks for a group that reads them
 * and has such aggregates, a text that stays: they cannot be, or it would take
 * longer to bring the pairs together than to group the rows. NULL: they are. */
const char *divide_distinct_alone(const struct step *input,
                                  const struct step_group *group,
                                  unsigned ranks);

/* Has each rank give pairs of the rows of step `*top`, which the group `reader`
 * reads; `*top` is the step that gives them then. False: no memory. */
bool divide_distinct(struct steps *steps, int *top, int reader);

#endif
