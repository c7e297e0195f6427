/* SPDX-License-Identifier: MIT */
/*
 * A crew: a few threads that do jobs in the order in which they were given.
 * Jobs are given, and waited for, by one thread.
 */
#ifndef VDBQ_BASE_CREW_H
#define VDBQ_BASE_CREW_H

struct crew;

enum crew_state { CREW_NEW, CREW_QUEUED, CREW_RUNNING, CREW_DONE };

/* A job; the caller's, who leaves it in place until crew_finish(). */
struct crew_job {
    void (*run)(struct crew_job *job); /* on any thread                 */
    enum crew_state state;             /* the crew's                    */
    struct crew_job *next;             /* in the queue: the crew's, too */
};

/* A crew of up to so many threads; NULL: there is not even one. */
struct crew *crew_create(unsigned threads);
/* Every job must have been finished; accepts NULL. */
void crew_destroy(struct crew *crew);

void crew_start(struct crew *crew, struct crew_job *job);
/* Waits until a job is done, which the caller does himself where nobody has
 * begun it. `crew` NULL: does the job. */
void crew_finish(struct crew *crew, struct crew_job *job);

#endif
