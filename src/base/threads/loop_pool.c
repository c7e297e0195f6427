/* SPDX-License-Identifier: MIT */
/*
 * The loop pool. One lock guards the loop and who sleeps. What is read without
 * it tells whether a look under it is worth it, and when all is done.
 */
#include "base/threads/loop_pool.h"

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

struct loop_pool {
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
static bool take_one(struct loop_pool *loop_pool)
{
    pthread_mutex_lock(&loop_pool->lock);
    void (*work)(void *context, unsigned i) = loop_pool->work;
    void *context = loop_pool->context;
    unsigned i = loop_pool->next;
    bool taken = i < loop_pool->count;
    if (taken)
        atomic_store(&loop_pool->to_take, loop_pool->count - ++loop_pool->next);
    pthread_mutex_unlock(&loop_pool->lock);
    if (!taken)
        return false;
    work(context, i);
    atomic_fetch_sub(&loop_pool->to_end, 1);
    return true;
}

/* Makes calls until there were none for a while. */
static void look_for_work(struct loop_pool *loop_pool)
{
    uint64_t idle_since = os_time_ns();

    do {
        for (unsigned i = 0; i < LOOKS; i++) {
            parallel_pause();
            if (atomic_load(&loop_pool->to_take) > 0 && take_one(loop_pool))
                idle_since = os_time_ns();
        }
        sched_yield();
    } while (os_time_ns() - idle_since < LOOK_NS);
}

/* The first one that is woken wakes the others: the caller has no time. */
static void wake_others(struct loop_pool *loop_pool)
{
    if (loop_pool->sleeping > 0)
        pthread_cond_broadcast(&loop_pool->woken);
    loop_pool->sleeping = 0;
}

static void *live(void *context)
{
    struct loop_pool *loop_pool = context;

    pthread_mutex_lock(&loop_pool->lock);
    while (!loop_pool->ends) {
        loop_pool->sleeping++;
        pthread_cond_wait(&loop_pool->woken, &loop_pool->lock);
        wake_others(loop_pool);
        pthread_mutex_unlock(&loop_pool->lock);
        look_for_work(loop_pool);
        pthread_mutex_lock(&loop_pool->lock);
    }
    pthread_mutex_unlock(&loop_pool->lock);
    return NULL;
}

struct loop_pool *loop_pool_create(unsigned threads)
{
    struct loop_pool *loop_pool = memory_zeroed(
        1, sizeof *loop_pool + threads * sizeof loop_pool->threads[0]);

    if (loop_pool == NULL)
        return NULL;
    pthread_mutex_init(&loop_pool->lock, NULL);
    pthread_cond_init(&loop_pool->woken, NULL);
    loop_pool->thread_count =
        parallel_start(loop_pool->threads, threads, live, loop_pool);
    if (loop_pool->thread_count > 0)
        return loop_pool;
    loop_pool_destroy(loop_pool);
    return NULL;
}

void loop_pool_destroy(struct loop_pool *loop_pool)
{
    if (loop_pool == NULL)
        return;
    pthread_mutex_lock(&loop_pool->lock);
    loop_pool->ends = true;
    pthread_cond_broadcast(&loop_pool->woken);
    pthread_mutex_unlock(&loop_pool->lock);
    for (unsigned i = 0; i < loop_pool->thread_count; i++)
        pthread_join(loop_pool->threads[i], NULL);
    pthread_cond_destroy(&loop_pool->woken);
    pthread_mutex_destroy(&loop_pool->lock);
    memory_release(loop_pool);
}

void loop_pool_wake(struct loop_pool *loop_pool)
{
    if (loop_pool == NULL)
        return;
    pthread_mutex_lock(&loop_pool->lock);
    if (loop_pool->sleeping > 0)
        pthread_cond_signal(&loop_pool->woken);
    pthread_mutex_unlock(&loop_pool->lock);
}

/* Opens a loop for all. */
static void share_loop(struct loop_pool *loop_pool, unsigned count,
                       void (*work)(void *context, unsigned i), void *context)
{
    pthread_mutex_lock(&loop_pool->lock);
    loop_pool->work = work;
    loop_pool->context = context;
    loop_pool->next = 0;
    loop_pool->count = count;
    atomic_store(&loop_pool->to_end, count);
    atomic_store(&loop_pool->to_take, count);
    pthread_mutex_unlock(&loop_pool->lock);
}

void loop_pool_run(struct loop_pool *loop_pool, unsigned count,
                   void (*work)(void *context, unsigned i), void *context)
{
    if (loop_pool == NULL) {
        for (unsigned i = 0; i < count; i++)
            work(context, i);
        return;
    }
    share_loop(loop_pool, count, work, context);
    while (take_one(loop_pool))
        continue;
    while (atomic_load(&loop_pool->to_end) > 0)
        parallel_pause();
}
