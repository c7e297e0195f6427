/* SPDX-License-Identifier: MIT */
/*
 * A loop pool: a thread pool whose threads share loops with the caller while
 * they are awake. To wake a thread takes as long as a GPU's link moves
 * megabytes (some 100 us), so they are woken before there is work, look for it
 * without pause, and sleep again once there was none for a while. Loops are run
 * by one thread at a time.
 */
#ifndef VDBQ_BASE_LOOP_POOL_H
#define VDBQ_BASE_LOOP_POOL_H

struct loop_pool;

/* A loop pool of the caller and up to so many threads, asleep; NULL: there is
 * not even one. */
struct loop_pool *loop_pool_create(unsigned threads);
/* Accepts NULL. */
void loop_pool_destroy(struct loop_pool *loop_pool);

/* Work is about to come. Accepts NULL; from the thread that runs loops. */
void loop_pool_wake(struct loop_pool *loop_pool);

/* Calls work(context, i) for each i below `count`, on the threads that are
 * awake and on the caller's; returns when all calls have. `loop_pool` NULL: on
 * the caller's. */
void loop_pool_run(struct loop_pool *loop_pool, unsigned count,
                   void (*work)(void *context, unsigned i), void *context);

#endif
