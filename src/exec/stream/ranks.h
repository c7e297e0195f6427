/* SPDX-License-Identifier: MIT */
/*
 * Ranks: processes, or devices of one process, that run one query together. Each
 * has the query's steps and sees the same state of the database; scans whose
 * tablets are shared out (struct step_scan) run over a share of them, and
 * STEP_GATHER brings together what came of it. How messages travel is for who
 * makes this struct to know (src/cluster).
 */
#ifndef VDBQ_EXEC_RANKS_H
#define VDBQ_EXEC_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What a rank has cost. */
struct rank_cost {
    uint64_t rows;        /* or groups, that it gave to STEP_GATHER           */
    uint64_t bytes;       /* of messages that it sent                         */
    uint64_t compute_ns;  /* in the steps below STEP_GATHER, but for these:   */
    uint64_t exchange_ns; /* packing and handing over messages                */
    uint64_t wait_ns;     /* for another rank                                 */
    uint64_t merge_ns;    /* rank 0: bringing together what came              */
};

/* A message, whose bytes are the owner's to release. */
struct rank_message {
    uint8_t *bytes; /* aligned for any type; NULL: there is none */
    size_t size;
};

/* The rows of a table that is shared out; those of one rank are a part of it. */
enum { RANK_SHARE_ALL = 1 << 16 };

struct ranks {
    unsigned rank;  /* this one's number; 0 has the result */
    unsigned count; /* of ranks */
    uint32_t
        share_first; /* of RANK_SHARE_ALL: where this one's part begins ... */
    uint32_t share_end; /* ... and where that of the next one does          */
    /* Takes over the message. */
    enum vdbq_status (*send)(struct ranks *ranks, unsigned to,
                             struct rank_message message, struct error *error);
    /* The next message of rank `from`; none: that has given all. Fails as the
     * work of that rank did. */
    enum vdbq_status (*receive)(struct ranks *ranks, unsigned from,
                                struct rank_message *message,
                                struct error *error);
    /* Rank `from` has sent what no sound one sends; returns where the others
     * can go on with it. */
    void (*garbled)(struct ranks *ranks, unsigned from);
    /* For STEP_EXCHANGE, where rows go from any rank to any other. The next
     * message of rank `from`; none: it has not come yet. Never waits. Fails where
     * that rank has ended, or this one is to. */
    enum vdbq_status (*poll)(struct ranks *ranks, unsigned from,
                             struct rank_message *message, struct error *error);
    /* Whether so much is on its way from here that what comes is to be taken
     * before more is sent. */
    bool (*is_full)(struct ranks *ranks);
    /* Waits a little: longer, the more often it was called since `*naps` was 0. */
    void (*nap)(unsigned *naps);
    uint64_t begun_ns;     /* when the run began                             */
    struct rank_cost cost; /* of this rank, added to                         */
};

#endif
