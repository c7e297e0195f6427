/* SPDX-License-Identifier: MIT */
/*
 * Ranks from the inside: what processes (vdbq_cluster.h) and the devices of one
 * process (crew.c) have in common.
 */
#ifndef VDBQ_CLUSTER_MEMBER_H
#define VDBQ_CLUSTER_MEMBER_H

#include "cluster/message.h"

/* What another rank than the first one works with. */
struct follow_params {
    const char *path; /* of the database                                   */
    unsigned flags;   /* of vdbq_open(); it is opened to be read in any case */
    unsigned cores;   /* of the host, where it has no device of its own    */
    const char *device; /* its own, which is opened at once; NULL: it has that
                           of rank 0's settings                            */
    unsigned sharers;   /* as of struct vdbq                                 */
};
/* Follows rank 0 until it dismisses the rank. Returns what ended it, which rank
 * 0 was told. */
enum vdbq_status rank_follow(const struct vdbq_link *link,
                             const struct follow_params *params);

/* What is different where the ranks are devices. */
struct lead_params {
    const char *alone; /* why rank 0 has no others; NULL: it has           */
    bool devices;      /* ranks are devices of this process                */
};
/* On rank 0: `*calls` share queries with the others, until the connection is
 * closed. Fails as a rank that cannot open the database or its device. */
enum vdbq_status rank_lead(vdbq *db, const struct vdbq_link *link,
                           const struct lead_params *params,
                           struct session_cluster **calls);
/* As of struct plan_limits: the least of all ranks, which are devices. */
uint64_t rank_probed_most(const struct session_cluster *calls);

#endif
