/* SPDX-License-Identifier: MIT */
/*
 * What ranks tell one another. All are processes of one build on machines of one
 * kind, which the first message proves, so that structs travel as they lie.
 *
 *     rank 0                 another rank
 *     HELLO  ------------->                    version, build, settings
 *            <-------------  WELCOME           its own; database and device are
 *                                              open, or why not; its tables
 *     RUN    ------------->                    a statement, and a state to read
 *            <-------------  READY             that state is there, the plan is
 *                                              the same, and it begins; or why
 *                                              not
 *     DATA   <------------>  DATA              what STEP_GATHER says; of
 *                                              STEP_EXCHANGE, between any two
 *     STOP   ------------->                    no more is wanted
 *            <-------------  END               of the run, in any case the last
 *     QUIT   ------------->                    the process is to end
 */
#ifndef VDBQ_CLUSTER_MESSAGE_H
#define VDBQ_CLUSTER_MESSAGE_H

#include "api/query.h"
#include "cluster/greet.h"
#include "cluster/vdbq_cluster.h"

enum message_kind {
    MESSAGE_HELLO, /* struct greeting; WELCOME: struct welcome    */
    MESSAGE_RUN,   /* struct order, text, parameters              */
    MESSAGE_READY, /* struct ready                                */
    MESSAGE_DATA,
    MESSAGE_STOP,
    MESSAGE_END, /* struct end                                    */
    MESSAGE_QUIT
};
enum {
    MESSAGE_RUNS = 1 << 20,
    WINDOW_BYTES = 64 << 20, /* messages on their way, beyond which a rank waits
                                for others to take some, or takes what came  */
    WAIT_HEEDING_MS = 20, /* before who waits looks whether it is to stop ... */
    WAIT_MS = 1000        /* ... and who is told so by the message itself    */
};

struct order {
    struct settings settings;    /* but for the number of cores               */
    uint64_t state;              /* cluster_state() of what is read           */
    uint64_t plan;               /* cluster_plan() of the plan                */
    int64_t now;                 /* as of struct plan_limits                  */
    struct vdbq_changes changes; /* likewise                               */
    uint64_t given;              /* likewise                                  */
    uint32_t careful;            /* likewise                                  */
    uint32_t parameters;         /* struct parameter_item, and texts, behind  */
    uint64_t text_bytes;         /* of the statement, behind this             */
    uint32_t share_first;        /* as of struct ranks: the rank's            */
    uint32_t share_end;
    uint64_t probed_most; /* as of struct vdbq */
};
struct parameter_item {
    struct parameter value; /* `text` without its bytes, which follow       */
};

struct ready {
    struct error error; /* status OK: ready */
    uint64_t state;     /* that the rank reads */
    uint64_t generation;
    uint64_t plan; /* that it has made    */
};

struct end {
    struct error error; /* status OK: all was given */
    struct rank_cost cost;
    struct vdbq_stats stats; /* but for texts, which are elsewhere           */
};

/* A name of the state of a database: where two are the same, so are all rows. */
uint64_t cluster_state(const struct catalogue *catalogue);
/* A name of the steps of a plan. */
uint64_t cluster_plan(const struct steps *steps);

/* Sends a copy of bytes; false: no memory, or the link is broken. */
bool message_post(const struct vdbq_link *link, unsigned to,
                  enum message_kind kind, unsigned run, const void *bytes,
                  size_t size);
/* Waits a little: longer, the more often it was called since `*naps` was 0. */
void message_nap(unsigned *naps);
/* The same until a message of a rank has come, where the link can tell; for so
 * many milliseconds at most. */
void message_wait(const struct vdbq_link *link, unsigned from,
                  unsigned milliseconds, unsigned *naps);
enum vdbq_status link_broken(unsigned rank, struct error *error);
/* A rank has sent what no sound one sends: where ranks are processes, all end. */
enum vdbq_status link_garbled(const struct vdbq_link *link, unsigned rank,
                              struct error *error);

#endif
