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

/* What a rank spends its time on. */
enum rank_work {
    RANK_COMPUTE,  /* the steps below STEP_GATHER, but for what follows */
    RANK_EXCHANGE, /* packing, sending and taking messages              */
    RANK_WAIT,     /* for another rank                                  */
    RANK_MERGE,    /* rank 0: bringing together what came               */
    RANK_REST,     /* rank 0: the steps behind STEP_GATHER              */
    RANK_WORKS
};

/* When: the time since the run began in slots, each as long as the others, of
 * which there are enough for the run so far. */
enum { RANK_SLOTS = 64 };
struct rank_timeline {
    uint64_t slot_ns; /* 0: nothing was spent yet */
    uint64_t ns[RANK_SLOTS][RANK_WORKS];
};

/* A time, and what the process had of processors in it. */
struct rank_time {
    uint64_t ns;
    uint64_t processor_ns; /* of all threads: more than `ns` where several work,
                              less where one waits, or for a processor       */
};

/* What a rank has cost. */
struct rank_cost {
    uint64_t rows;  /* or groups, that it gave to STEP_GATHER */
    uint64_t bytes; /* of messages that it sent               */
    struct rank_time spent[RANK_WORKS]; /* on each work       */
    struct rank_timeline timeline;
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
    struct rank_time begun; /* when the run began: rank_now()                */
    struct rank_cost cost;  /* of this rank, added to                         */
};

/* When a work began, and what the rank had spent on all works by then. */
struct rank_clock {
    struct rank_time start;
    struct rank_time spent;
};
struct rank_time rank_now(void);
/* Begins a work; `ranks` NULL: nobody counts. */
struct rank_clock rank_start(const struct ranks *ranks);
/* Counts the time since then as spent on a work, but for what was counted
 * meanwhile. */
void rank_spend(struct ranks *ranks, enum rank_work work,
                struct rank_clock clock);
/* Counts the time since the run began likewise. */
void rank_spend_run(struct ranks *ranks, enum rank_work work);
/* Makes the slots of a timeline so long, which is their length times a power of
 * two. */
void rank_timeline_widen(struct rank_timeline *timeline, uint64_t slot_ns);

#endif
