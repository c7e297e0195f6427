/* SPDX-License-Identifier: MIT */
/*
 * Groups that are many: where each rank would group its rows, and one bring the
 * groups of all together, rows go instead to the rank that their keys hash to,
 * which has all of each of its groups. So what reads the groups, as a condition on
 * them, the first of an order or a second group, is each rank's, too. Rows come to
 * a rank in the order of one process, so that any aggregate is what it is there,
 * of DISTINCT values, too.
 */
#ifndef VDBQ_CLUSTER_DIVIDE_GROUPS_H
#define VDBQ_CLUSTER_DIVIDE_GROUPS_H

#include "cluster/divide/divide.h"

struct divide_grouped {
    const char *why; /* what came of it, in words that stay; NULL: no group
                        could be of rows that are exchanged               */
    bool exchanged;
    bool local; /* all rows of a group are on one rank anyway: co-located   */
    bool numbered; /* the rows of the last step have numbers then         */
};

/* Whether divide_groups() has the rows of step `top` exchanged, or grouped where they
 * are. */
bool divide_groups_pays(const struct steps *steps,
                        const struct divide_params *params, int top);
/* Where the rows of each group are on one rank, has them grouped there; else puts an
 * exchange between step `*top`, whose rows step `scan` gives that is shared
 * out, and a group that reads them, where that can be and costs less, or must be, but
 * not where these rows come in the order of parts (`parted`);
 * `*top` is then the last step behind that is done by each rank. False: no
 * memory. */
bool divide_groups(struct steps *steps, const struct divide_params *params,
                   int scan, int *top, bool parted,
                   struct divide_grouped *grouped);

#endif
