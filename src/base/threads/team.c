/* SPDX-License-Identifier: MIT */
/*
 * The team. One lock guards the loop and who sleeps. What is read without it
 * tells whether a look under it is worth it, and when all is done.
 */
#include "base/threads/team.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"

/* How long a thread looks for work before it sleeps: some launches long. After
 * so many looks it lets others have its core. */
#define LOOK_NS 1000000
enum { LOOKS = 256 };

struct team {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    unsigned sleeping; /* threads, since others were woken                 */
    bool ends;
    void (*work)(void *context, unsigned i); /* the loop's             */
    void *context;
    unsigned next, count; /* calls: the next that nobody has, and all  */
    atomic_uint to_take;  /* calls that nobody has                     */
    atomic_uint to_end;   /* calls that have not returned              */
    unsigned thread_count;
    pthread_t threads[];
};

/* Takes a call and makes it; false: there was none. */
static bool take_one(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    void (*work)(void *context, unsigned i) = team->work;
    void *context = team->context;
    unsigned i = team->next;
    bool taken = i < team->count;
    if (taken)
        atomic_store(&team->to_take, team->count - ++team->next);
    pthread_mutex_unlock(&team->lock);
    if (!taken)
        return false;
    work(context, i);
    atomic_fetch_sub(&team->to_end, 1);
    return true;
}

/* Spares what a core shares with others. */
static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Makes calls until there were none for a while. */
static void look_for_work(struct team *team)
{
    uint64_t idle_since = os_time_ns();

    do {
        for (unsigned i = 0; i < LOOKS; i++) {
            pause_core();
            if (atomic_load(&team->to_take) > 0 && take_one(team))
                idle_since = os_time_ns();
        }
        sched_yield();
    } while (os_time_ns() - idle_since < LOOK_NS);
}

/* The first one that is woken wakes the others: the caller has no time. */
static void wake_others(struct team *team)
{
    if (team->sleeping > 0)
        pthread_cond_broadcast(&team->woken);
    team->sleeping = 0;
}

static void *live(void *context)
{
    struct team *team = context;

    pthread_mutex_lock(&team->lock);
    while (!team->ends) {
        team->sleeping++;
        pthread_cond_wait(&team->woken, &team->lock);
        wake_others(team);
        pthread_mutex_unlock(&team->lock);
        look_for_work(team);
        pthread_mutex_lock(&team->lock);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

struct team *team_create(unsigned threads)
{
    struct team *team =
        memory_zeroed(1, sizeof *team + threads * sizeof team->threads[0]);

    if (team == NULL)
        return NULL;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->woken, NULL);
    team->thread_count = parallel_start(team->threads, threads, live, team);
    if (team->thread_count > 0)
        return team;
    team_destroy(team);
    return NULL;
}

void team_destroy(struct team *team)
{
    if (team == NULL)
        return;
    pthread_mutex_lock(&team->lock);
    team->ends = true;
    pthread_cond_broadcast(&team->woken);
    pthread_mutex_unlock(&team->lock);
    for (unsigned i = 0; i < team->thread_count; i++)
        pthread_join(team->threads[i], NULL);
    pthread_cond_destroy(&team->woken);
    pthread_mutex_destroy(&team->lock);
    memory_release(team);
}

void team_wake(struct team *team)
{
    if (team == NULL)
        return;
    pthread_mutex_lock(&team->lock);
    if (team->sleeping > 0)
        pthread_cond_signal(&team->woken);
    pthread_mutex_unlock(&team->lock);
}

/* Opens a loop for all. */
static void share_loop(struct team *team, unsigned count,
                       void (*work)(void *context, unsigned i), void *context)
{
    pthread_mutex_lock(&team->lock);
    team->work = work;
    team->context = context;
    team->next = 0;
    team->count = count;
    atomic_store(&team->to_end, count);
    atomic_store(&team->to_take, count);
    pthread_mutex_unlock(&team->lock);
}

void team_run(struct team *team, unsigned count,
              void (*work)(void *context, unsigned i), void *context)
{
    if (team == NULL) {
        for (unsigned i = 0; i < count; i++)
            work(context, i);
        return;
    }
    share_loop(team, count, work, context);
    while (take_one(team))
        continue;
    while (atomic_load(&team->to_end) > 0)
        pause_core();
}
