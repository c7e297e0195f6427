/* SPDX-License-Identifier: MIT */
/*
 * Threads that live as long as one piece of work: starting one costs some ten
 * microseconds, so that work of fewer rows than ROWS_MIN a thread stays where
 * it is.
 */
#include "base/threads/parallel.h"

#include <signal.h>
#include <stdbool.h>

enum { ROWS_MIN = 1 << 15 };

struct share {
    void (*work)(void *context, unsigned i);
    void *context;
    unsigned i;
    pthread_t thread;
    bool started;
};

static void *run_share(void *argument)
{
    struct share *share = argument;
    share->work(share->context, share->i);
    return NULL;
}

void parallel_run(unsigned count, void (*work)(void *context, unsigned i),
                  void *context)
{
    struct share shares[PARALLEL_THREADS_MAX];

    for (unsigned i = 1; i < count; i++) {
        shares[i] = (struct share){ .work = work, .context = context, .i = i };
        shares[i].started =
            pthread_create(&shares[i].thread, NULL, run_share, &shares[i]) == 0;
    }
    if (count > 0)
        work(context, 0);
    for (unsigned i = 1; i < count; i++)
        if (shares[i].started)
            pthread_join(shares[i].thread, NULL);
        else
            work(context, i);
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
