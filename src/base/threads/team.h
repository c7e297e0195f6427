/* SPDX-License-Identifier: MIT */
/*
 * A team: threads that share loops with the caller while they are awake. To
 * wake a thread takes as long as a GPU's link moves megabytes (some 100 us), so
 * they are woken before there is work, look for it without pause, and sleep
 * again once there was none for a while. Loops are run by one thread at a
 * time.
 */
#ifndef VDBQ_BASE_TEAM_H
#define VDBQ_BASE_TEAM_H

struct team;

/* A team of the caller and up to so many threads, asleep; NULL: there is not
 * even one. */
struct team *team_create(unsigned threads);
/* Accepts NULL. */
void team_destroy(struct team *team);

/* Work is about to come. Accepts NULL; from the thread that runs loops. */
void team_wake(struct team *team);

/* Calls work(context, i) for each i below `count`, on the threads that are
 * awake and on the caller's; returns when all calls have. `team` NULL: on the
 * caller's. */
void team_run(struct team *team, unsigned count,
              void (*work)(void *context, unsigned i), void *context);

#endif
