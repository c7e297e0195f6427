/* SPDX-License-Identifier: MIT */
/*
 * A thread pool: a few threads that do jobs in the order in which they were
 * given. Jobs are given, and waited for, by one thread.
 */
#ifndef VDBQ_BASE_THREAD_POOL_H
#define VDBQ_BASE_THREAD_POOL_H

struct thread_pool;

enum thread_pool_state {
    THREAD_POOL_NEW,
    THREAD_POOL_QUEUED,
    THREAD_POOL_RUNNING,
    THREAD_POOL_DONE
};

/* A job; the caller's, who leaves it in place until thread_pool_finish(). */
struct thread_pool_job {
    void (*run)(
        struct thread_pool_job *job); /* on any thread                 */
    enum thread_pool_state state;     /* the thread pool's             */
    struct thread_pool_job *next;     /* in the queue: the thread pool's, too */
};

/* A thread pool of up to so many threads; NULL: there is not even one. */
struct thread_pool *thread_pool_create(unsigned threads);
/* Every job must have been finished; accepts NULL. */
void thread_pool_destroy(struct thread_pool *workers);

void thread_pool_start(struct thread_pool *workers,
                       struct thread_pool_job *job);
/* Waits until a job is done, which the caller does himself where nobody has
 * begun it. `workers` NULL: does the job. */
void thread_pool_finish(struct thread_pool *workers,
                        struct thread_pool_job *job);

#endif
