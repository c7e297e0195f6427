/* SPDX-License-Identifier: MIT */
/*
 * The process's workers: as many threads as it has cores but one, started when
 * there is first work to share, asleep where there is none, ended with the
 * process (or when the library is unloaded). Everything that is to run on
 * several cores is a loop; workers take the iterations of the loop that has the
 * fewest of them, so that loops of several queries share the cores. Who gives
 * a loop works on it, too: it ends even where no worker is free.
 *
 * Loops follow one another closely, and to put a thread to sleep and wake it takes
 * as long as many a loop. So who finds nothing to do, and who waits for the end of
 * his loop, first looks again and again for a moment; for longer where somebody
 * said that a loop is to come. Of those that sleep a giver wakes two, and these
 * the others.
 *
 * One lock guards the list of loops and their counts. A child of fork() has
 * no workers: it starts with none, and starts its own.
 */
#include "base/threads/parallel.h"

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/os/os.h"
#include "base/threads/stop.h"

enum { ROWS_MIN = 1 << 14 }; /* of a thread: to wake one costs some ten us */
enum { WAIT_NS = 50000000 };
enum { COPY_BYTES = 64 << 10 }; /* that one thread copies at a time */
enum {
    LOOK_NS =
        40000,  /* that one looks before he sleeps: as long as waking takes */
    LOOKS = 32, /* between two looks at the clock */
    WOKEN = 2   /* that one wakes */
};
enum {
    EXPECT_NS = 1000000, /* for which loops are expected: some launches long */
    EXPECTING = 8        /* threads that keep up with a device's link */
};

/* A loop under way; it lies on the stack of the thread that gave it. */
struct loop {
    void (*work)(void *context, unsigned i);
    void *context;
    unsigned next, count; /* iterations: the next one to begin, all */
    unsigned working;     /* threads that are in one */
    struct stop *stop;    /* that it is for; or NULL */
    struct loop *after;   /* in the list: given before this one */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t given;       /* a loop was, or the end has come */
    pthread_cond_t done;        /* the last thread left a loop */
    struct loop *loops;         /* that may have iterations to begin */
    unsigned asleep;            /* workers that wait for a loop ... */
    unsigned looking;           /* ... and those that look for one */
    atomic_uint gifts;          /* loops that were given, ever ... */
    atomic_uint ends_of;        /* ... and that the last thread left */
    _Atomic(uint64_t) expected; /* until when loops are to come */
    unsigned count;             /* workers that were started */
    bool started, ends;         /* once: nobody tries again */
    pthread_t threads[PARALLEL_THREADS_MAX];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .given = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER };

/* Looks some times whether a count is another one: whether it is. */
static bool look_some(const atomic_uint *count, unsigned before)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(count, memory_order_acquire) != before)
            return true;
        parallel_pause();
    }
    return false;
}

/* Looks for a moment. */
static void look(const atomic_uint *count, unsigned before)
{
    uint64_t end = os_time_ns() + LOOK_NS;
    while (!look_some(count, before) && os_time_ns() < end)
        continue;
}

static bool are_loops_expected(void)
{
    return atomic_load(&pool.expected) > os_time_ns();
}

/* Looks as long as loops are expected; others may have the core meanwhile. */
static void look_for_expected(unsigned gifts)
{
    while (are_loops_expected() && !look_some(&pool.gifts, gifts))
        sched_yield();
}

/* ------------------------------------------------------------- workers -- */

/* Wakes some of those that sleep, until so many look for work. The lock is held. */
static void wake_workers(unsigned wanted)
{
    for (unsigned i = 0;
         i < WOKEN && i < pool.asleep && pool.looking + i < wanted; i++)
        pthread_cond_signal(&pool.given);
}

/* The loop with iterations to begin that fewest threads work on; NULL: there
 * is none. The lock is held. */
static struct loop *choose_loop(void)
{
    struct loop *chosen = NULL;
    for (struct loop *loop = pool.loops; loop != NULL; loop = loop->after)
        if (loop->next < loop->count
            && (chosen == NULL || loop->working < chosen->working))
            chosen = loop;
    return chosen;
}

/* Runs the next iteration of a loop; the lock is held before and after. */
static void run_next(struct loop *loop)
{
    assert(loop->next < loop->count);
    unsigned i = loop->next++;
    loop->working++;
    wake_workers(loop->count - loop->next);
    pthread_mutex_unlock(&pool.lock);
    struct stop_work former = stop_help(loop->stop);
    loop->work(loop->context, i);
    stop_leave(former);
    pthread_mutex_lock(&pool.lock);
    if (--loop->working == 0 && loop->next == loop->count) {
        atomic_fetch_add(&pool.ends_of, 1);
        pthread_cond_broadcast(&pool.done);
    }
}

/* Waits until there may be a loop to work on. The lock is held before and after. */
static void wait_for_loop(void)
{
    unsigned gifts = atomic_load(&pool.gifts);
    pool.looking++;
    pthread_mutex_unlock(&pool.lock);
    look(&pool.gifts, gifts);
    look_for_expected(gifts);
    pthread_mutex_lock(&pool.lock);
    assert(pool.looking > 0);
    pool.looking--;
    if (atomic_load(&pool.gifts) != gifts || pool.ends)
        return;
    pool.asleep++;
    pthread_cond_wait(&pool.given, &pool.lock);
    pool.asleep--;
    if (are_loops_expected())
        wake_workers(EXPECTING);
}

static void *live(void *context)
{
    (void)context;
    pthread_mutex_lock(&pool.lock);
    while (!pool.ends) {
        struct loop *loop = choose_loop();
        if (loop != NULL)
            run_next(loop);
        else
            wait_for_loop();
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The child has the thread alone that called fork(), which is in no loop. */
static void in_child(void)
{
    pthread_cond_init(&pool.given, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.loops = NULL;
    pool.asleep = pool.looking = pool.count = 0;
    pool.started = false;
    pthread_mutex_unlock(&pool.lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

/* Starts the workers where nobody has; the lock is held. */
static void start_workers(void)
{
    if (pool.started)
        return;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned cores = os_cores(); /* this one works, too */
    unsigned wanted =
        cores > PARALLEL_THREADS_MAX ? PARALLEL_THREADS_MAX : cores;
    pthread_once(&once, watch_forks);
    pool.started = true;
    pool.count = parallel_start(pool.threads, wanted - 1, live, NULL);
}

/* A loop that is given from now on is its giver's alone to run. */
__attribute__((destructor)) static void end_workers(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.ends = pool.started = true;
    pthread_cond_broadcast(&pool.given);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < pool.count; i++)
        pthread_join(pool.threads[i], NULL);
    pool.count = 0;
}

/* --------------------------------------------------------------- loops -- */

static void take_out(const struct loop *loop)
{
    struct loop **at = &pool.loops;
    while (*at != loop)
        at = &(*at)->after;
    *at = loop->after;
}

/* Waits for those that are in the loop still; its giver's progress goes on. */
static void wait_for_others(const struct loop *loop)
{
    unsigned ends = atomic_load(&pool.ends_of);
    if (loop->working > 0) {
        pthread_mutex_unlock(&pool.lock);
        look(&pool.ends_of, ends);
        pthread_mutex_lock(&pool.lock);
    }
    while (loop->working > 0) {
        struct timespec until = os_time_after(CLOCK_REALTIME, WAIT_NS);
        if (pthread_cond_timedwait(&pool.done, &pool.lock, &until) == 0)
            continue;
        pthread_mutex_unlock(&pool.lock);
        stop_asked();
        pthread_mutex_lock(&pool.lock);
    }
}

/* Gives a loop to the workers and works on it until all of it is done. */
static void run_loop(struct loop *loop)
{
    pthread_mutex_lock(&pool.lock);
    start_workers();
    loop->after = pool.loops;
    pool.loops = loop;
    atomic_fetch_add(&pool.gifts, 1);
    while (loop->next < loop->count)
        run_next(loop);
    take_out(loop);
    wait_for_others(loop);
    pthread_mutex_unlock(&pool.lock);
}

void parallel_run(unsigned count, void (*work)(void *context, unsigned i),
                  void *context)
{
    struct loop loop = {
        .work = work, .context = context, .count = count, .stop = stop_current()
    };
    if (count > 1)
        run_loop(&loop);
    else if (count == 1)
        work(context, 0);
}

void parallel_run_rows(unsigned count, uint64_t rows,
                       void (*work)(void *context, unsigned i), void *context)
{
    if (rows >= ROWS_MIN)
        parallel_run(count, work, context);
    for (unsigned i = 0; rows < ROWS_MIN && i < count; i++)
        work(context, i);
}

/* Bytes that are copied by several threads, a part each. */
struct copying {
    char *to;
    const char *from;
    size_t size;
};

static void copy_part(void *context, unsigned part)
{
    const struct copying *copying = context;
    size_t at = (size_t)part * COPY_BYTES, left = copying->size - at;
    assert(at < copying->size);
    memcpy(copying->to + at, copying->from + at,
           left < COPY_BYTES ? left : COPY_BYTES);
}

void parallel_copy(void *to, const void *from, size_t size)
{
    struct copying copying = { .to = to, .from = from, .size = size };
    size_t parts = size / COPY_BYTES + (size % COPY_BYTES > 0);
    if (parts > 1 && parts <= UINT_MAX)
        parallel_run((unsigned)parts, copy_part, &copying);
    else if (size > 0)
        memcpy(to, from, size);
}

unsigned parallel_workers(void)
{
    pthread_mutex_lock(&pool.lock);
    start_workers();
    unsigned count = pool.count;
    pthread_mutex_unlock(&pool.lock);
    return count;
}

void parallel_expect(void)
{
    atomic_store(&pool.expected, os_time_ns() + EXPECT_NS);
    pthread_mutex_lock(&pool.lock);
    start_workers();
    wake_workers(EXPECTING);
    pthread_mutex_unlock(&pool.lock);
}

unsigned parallel_start(pthread_t *threads, unsigned count,
                        void *(*live)(void *context), void *context)
{
    sigset_t all, before;
    unsigned started = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < count
           && pthread_create(&threads[started], NULL, live, context) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

unsigned parallel_threads(unsigned threads, uint64_t rows)
{
    uint64_t most = rows / ROWS_MIN;

    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    if (most < threads)
        threads = (unsigned)most;
    return threads > 0 ? threads : 1;
}
