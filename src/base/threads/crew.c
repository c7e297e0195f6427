/* SPDX-License-Identifier: MIT */
/*
 * The crew. One lock guards the queue and the states of the jobs; what a job
 * works on belongs to its thread while it runs, and to the caller before and
 * after that.
 */
#include "base/threads/crew.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/threads/parallel.h"

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t given; /* a job was, or the end has come */
    pthread_cond_t done;  /* a job is                       */
    struct crew_job *first, **last;
    bool ends;
    unsigned count;
    pthread_t threads[];
};

/* Does a job that is in no queue; the lock is held before and after. */
static void do_job(struct crew *crew, struct crew_job *job)
{
    job->state = CREW_RUNNING;
    pthread_mutex_unlock(&crew->lock);
    job->run(job);
    pthread_mutex_lock(&crew->lock);
    job->state = CREW_DONE;
    pthread_cond_broadcast(&crew->done);
}

static void take_out(struct crew *crew, struct crew_job *job)
{
    struct crew_job **at = &crew->first;

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (crew->last == &job->next)
        crew->last = at;
}

static void *work(void *context)
{
    struct crew *crew = context;

    pthread_mutex_lock(&crew->lock);
    while (!crew->ends) {
        struct crew_job *job = crew->first;
        if (job == NULL) {
            pthread_cond_wait(&crew->given, &crew->lock);
        } else {
            take_out(crew, job);
            do_job(crew, job);
        }
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

struct crew *crew_create(unsigned threads)
{
    struct crew *crew =
        memory_zeroed(1, sizeof *crew + threads * sizeof crew->threads[0]);

    if (crew == NULL)
        return NULL;
    crew->last = &crew->first;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->given, NULL);
    pthread_cond_init(&crew->done, NULL);
    crew->count = parallel_start(crew->threads, threads, work, crew);
    if (crew->count > 0)
        return crew;
    crew_destroy(crew);
    return NULL;
}

void crew_destroy(struct crew *crew)
{
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->ends = true;
    pthread_cond_broadcast(&crew->given);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->count; i++)
        pthread_join(crew->threads[i], NULL);
    pthread_cond_destroy(&crew->done);
    pthread_cond_destroy(&crew->given);
    pthread_mutex_destroy(&crew->lock);
    memory_release(crew);
}

void crew_start(struct crew *crew, struct crew_job *job)
{
    pthread_mutex_lock(&crew->lock);
    job->state = CREW_QUEUED;
    job->next = NULL;
    *crew->last = job;
    crew->last = &job->next;
    pthread_cond_signal(&crew->given);
    pthread_mutex_unlock(&crew->lock);
}

void crew_finish(struct crew *crew, struct crew_job *job)
{
    if (crew == NULL) {
        job->run(job);
        job->state = CREW_DONE;
        return;
    }
    pthread_mutex_lock(&crew->lock);
    if (job->state == CREW_QUEUED)
        take_out(crew, job);
    if (job->state == CREW_NEW || job->state == CREW_QUEUED)
        do_job(crew, job);
    while (job->state != CREW_DONE)
        pthread_cond_wait(&crew->done, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}
