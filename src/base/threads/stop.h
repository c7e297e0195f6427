/* SPDX-License-Identifier: MIT */
/*
 * Whether what runs is to stop, and how far it is. A connection has a stop;
 * while a thread works for one it may ask, however deep it is, whether to go
 * on. Loops and jobs that it gives to other threads work for the same one.
 *
 *   1. Who loops over rows asks every STOP_ROWS of them or so, and whenever
 *      some other work has taken about a millisecond. What asks is cheap beside
 *      that, not beside a row.
 *   2. What was asked to stop stays so until the statement ends. A loop that
 *      cannot fail therefore just leaves, with its work half done; who called
 *      it asks again, before anything reads that work, and fails.
 *   3. Nothing half done is kept for other statements: what they share is made
 *      to its end, in pieces that take a few milliseconds.
 *   4. The thread that entered a stop is its owner: it alone tells how far the
 *      statement is, and calls the connection's `progress`.
 */
#ifndef VDBQ_BASE_STOP_H
#define VDBQ_BASE_STOP_H

#include <stdatomic.h>

#include "base/error.h"

enum { STOP_ROWS = 1 << 12 };

/* A connection's. Zeroed it is ready. */
struct stop {
    atomic_bool cancelled;  /* by anybody, also from a signal handler */
    vdbq_progress progress; /* of the owner, as are those below; or NULL */
    void *progress_context; /* for `progress` */
    uint64_t steps;         /* of the plan that runs; 0: not known       */
    uint64_t steps_done;    /* of them; may come to more than all        */
    uint64_t done, all;     /* rows of the work under way; all 0: not
                               known                                      */
    double told;            /* share of all work that was told last     */
    uint64_t told_ns;       /* when; 0: not yet                           */
    const char *waits;      /* what it waits for, see stop_waits(); or NULL */
    struct stop *outer;     /* that the thread worked for before          */
};

/* What a thread works for, as it was: to be given back to stop_leave(). */
struct stop_work {
    struct stop *stop; /* NULL: none, and nothing stops it */
    bool owner;
};

/* The calling thread works for `stop` from here on, as its owner. What asked
 * the one that it works for already to stop holds for this one, too. */
struct stop_work stop_enter(struct stop *stop);
void stop_leave(struct stop_work former);

/* What the thread works for; and another thread does, for a loop or job that
 * was given to it. NULL: none. */
struct stop *stop_current(void);
/* Nobody asks this one to stop; for what statements share (rule 3). */
extern struct stop stop_never;
struct stop_work stop_help(struct stop *stop);

/* Whether what the thread works on is to end. */
bool stop_asked(void);
/* The same as a failure: CANCELLED. */
enum vdbq_status stop_pause(struct error *error);
/* The failure of what gives NULL where there is no memory, or where it is to
 * end. */
enum vdbq_status stop_or_no_memory(struct error *error);
/* For a loop over rows: asks before each row whose number is a multiple of
 * STOP_ROWS, but not before the first: short loops cost nothing. */
static inline bool stop_at(uint64_t row)
{
    return row % STOP_ROWS == 0 && row > 0 && stop_asked();
}

/* For a loop whose turns are of several rows, or of few: counts them, and asks
 * when they have come to STOP_ROWS. `*since` begins with 0. */
static inline bool stop_after(uint64_t *since, uint64_t rows)
{
    *since += rows;
    if (*since < STOP_ROWS)
        return false;
    *since = 0;
    return stop_asked();
}

/* A statement begins: nothing is done of a plan of so many steps. */
void stop_begin(uint64_t steps);
/* One more of its steps has given all its rows. */
void stop_step(void);
/* So many rows are done of all that the work under way is about. Calls
 * `progress` in any case. */
void stop_tell(uint64_t done, uint64_t all);

/* What the owner waits for that is no row, in words for people, until it is told
 * otherwise; NULL: nothing. The text is the caller's and stays. */
void stop_waits(const char *what);

/* For tests: from here on the widest gap between two asks of any thread that
 * works for a stop is kept, as time of its processor: it does not depend on
 * what else the machine does. */
void stop_watch(bool on);
uint64_t stop_widest_ns(void);
/* How often anybody asked since who may be stopped; and that what is asked be cancelled with the
 * ask of a number, from 1 on. */
uint64_t stop_asks(void);
void stop_cancel_at(uint64_t ask);

#endif
