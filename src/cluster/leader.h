/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 from the inside. For leader.c, and what tells of it.
 */
#ifndef VDBQ_CLUSTER_LEADER_H
#define VDBQ_CLUSTER_LEADER_H

#include "cluster/member.h"
#include "cluster/shares.h"

/* A rank, as rank 0 knows it. */
struct member {
    char host[HOST_BYTES_MAX]; /* or the name of its device */
    uint32_t cores;
    uint64_t probed_most; /* as it says in its welcome */
    bool ended;           /* the run: nothing of it comes any more */
    struct end end;       /* ... what it came to; of rank 0 the stats alone */
    struct ready ready;
};

struct leader {
    struct session_object head;   /* first */
    struct session_cluster calls; /* of the connection */
    vdbq *db;
    const struct vdbq_link *link;
    struct lead_params params;
    struct member *members; /* by rank; that of rank 0 is this process       */
    struct shares shares;   /* of a table that is shared out                 */
    struct share_run *runs; /* by rank: for shares_learn()                   */
    unsigned run;           /* the number of the last one                    */
    vdbq_query *running;    /* NULL: none                                    */
    struct ranks ranks;     /* ... of it                                     */
    unsigned ran;           /* ranks that the last run was shared by         */
};

static inline struct leader *leader_of_query(const vdbq_query *query)
{
    return (struct leader *)((char *)query->cluster
                             - offsetof(struct leader, calls));
}

/* Waits for a message of a rank; `heeds`: a cancel ends the wait. The caller
 * releases its bytes. */
enum vdbq_status leader_await(struct leader *leader, unsigned from, bool heeds,
                              unsigned *kind, struct rank_message *message,
                              struct error *error);
/* leader_greet.c: greets all others, who open the database. Fails where one cannot,
 * or differs from rank 0. */
enum vdbq_status leader_greet(struct leader *leader, struct error *error);
/* Whether there are as many ranks as the database has parts, or it is one file. */
enum vdbq_status leader_check_parts(vdbq *db, const struct vdbq_link *link);
/* leader_tell.c: learns from a run how fast ranks are, where all did their share to
 * its end and none had to wait for a compiler. Rank 0's stats are there. */
void leader_learn(struct leader *leader);
/* Adds what the other ranks did to the query's numbers. */
void leader_add(const struct leader *leader, struct vdbq_stats *sum);
/* Adds what EXPLAIN says of the ranks of a query. */
void leader_explain(const vdbq_query *query, struct text *lines);

#endif
