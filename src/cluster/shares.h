/* SPDX-License-Identifier: MIT */
/*
 * Which part of a table each rank has: equal ones at first, then such that ranks
 * as fast as they were before end together. Rows and their order do not depend
 * on it.
 */
#ifndef VDBQ_CLUSTER_SHARES_H
#define VDBQ_CLUSTER_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/stream/ranks.h"

struct shares {
    unsigned ranks;
    uint32_t *first; /* of RANK_SHARE_ALL, by rank; one more: all of it */
};
/* False: no memory. */
bool shares_init(struct shares *shares, unsigned ranks);
void shares_finish(struct shares *shares); /* accepts zeroed */

/* What a rank did in one run. */
struct share_run {
    uint64_t rows; /* that it read               */
    uint64_t ns;   /* in which it did            */
};
/* Learns from a run of all ranks, one struct each. Runs that tell little change
 * nothing, nor do speeds that are about what the shares are: tablets that a
 * device keeps are worth more. */
void shares_learn(struct shares *shares, const struct share_run *runs);

#endif
