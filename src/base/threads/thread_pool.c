/* SPDX-License-Identifier: MIT */
/*
 * The thread pool. One lock guards the queue and the states of the jobs; what a
 * job works on belongs to its thread while it runs, and to the caller before
 * and after that.
 */
#include "base/threads/thread_pool.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/threads/parallel.h"

struct thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t given; /* a job was, or the end has come */
    pthread_cond_t done;  /* a job is                       */
    struct thread_pool_job *first, **last;
    bool ends;
    unsigned count;
    pthread_t threads[];
};

/* Does a job that is in no queue; the lock is held before and after. */
static void do_job(struct thread_pool *workers, struct thread_pool_job *job)
{
    job->state = THREAD_POOL_RUNNING;
    pthread_mutex_unlock(&workers->lock);
    job->run(job);
    pthread_mutex_lock(&workers->lock);
    job->state = THREAD_POOL_DONE;
    pthread_cond_broadcast(&workers->done);
}

static void take_out(struct thread_pool *workers, struct thread_pool_job *job)
{
    struct thread_pool_job **at = &workers->first;

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (workers->last == &job->next)
        workers->last = at;
}

static void *work(void *context)
{
    struct thread_pool *workers = context;

    pthread_mutex_lock(&workers->lock);
    while (!workers->ends) {
        struct thread_pool_job *job = workers->first;
        if (job == NULL) {
            pthread_cond_wait(&workers->given, &workers->lock);
        } else {
            take_out(workers, job);
            do_job(workers, job);
        }
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

struct thread_pool *thread_pool_create(unsigned threads)
{
    struct thread_pool *workers = memory_zeroed(
        1, sizeof *workers + threads * sizeof workers->threads[0]);

    if (workers == NULL)
        return NULL;
    workers->last = &workers->first;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->given, NULL);
    pthread_cond_init(&workers->done, NULL);
    workers->count = parallel_start(workers->threads, threads, work, workers);
    if (workers->count > 0)
        return workers;
    thread_pool_destroy(workers);
    return NULL;
}

void thread_pool_destroy(struct thread_pool *workers)
{
    if (workers == NULL)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->ends = true;
    pthread_cond_broadcast(&workers->given);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->count; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->done);
    pthread_cond_destroy(&workers->given);
    pthread_mutex_destroy(&workers->lock);
    memory_release(workers);
}

void thread_pool_start(struct thread_pool *workers, struct thread_pool_job *job)
{
    pthread_mutex_lock(&workers->lock);
    job->state = THREAD_POOL_QUEUED;
    job->next = NULL;
    *workers->last = job;
    workers->last = &job->next;
    pthread_cond_signal(&workers->given);
    pthread_mutex_unlock(&workers->lock);
}

void thread_pool_finish(struct thread_pool *workers,
                        struct thread_pool_job *job)
{
    if (workers == NULL) {
        job->run(job);
        job->state = THREAD_POOL_DONE;
        return;
    }
    pthread_mutex_lock(&workers->lock);
    if (job->state == THREAD_POOL_QUEUED)
        take_out(workers, job);
    if (job->state == THREAD_POOL_NEW || job->state == THREAD_POOL_QUEUED)
        do_job(workers, job);
    while (job->state != THREAD_POOL_DONE)
        pthread_cond_wait(&workers->done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}
