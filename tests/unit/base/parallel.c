/* SPDX-License-Identifier: MIT */
/* Loops that the process's workers share: base/threads/parallel.h. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads/parallel.h"

enum { CALLS_MAX = 300, GIVERS = 4, ROUNDS = 200 };

static void count_call(void *context, unsigned i)
{
    atomic_fetch_add((atomic_uint *)context + i, 1);
}

/* Whether a loop makes each of its calls once, and no other. */
static bool runs_once(unsigned count)
{
    atomic_uint calls[CALLS_MAX + 1];
    bool once = true;

    memset(calls, 0, sizeof calls);
    parallel_run(count, count_call, calls);
    for (unsigned i = 0; i <= CALLS_MAX; i++)
        once &= atomic_load(&calls[i]) == (i < count);
    return once;
}

static void each_call_is_made_once(void **state)
{
    (void)state;
    for (unsigned count = 0; count <= CALLS_MAX; count++)
        assert_true(runs_once(count));
}

/* Whole, whatever part of it the last thread has; what is beside stays. */
static void bytes_are_copied(void **state)
{
    enum { MOST = (4 << 20) + 3 };
    static const size_t sizes[] = { 0, 1, 1 << 16, (1 << 16) + 1, MOST };
    char *from = malloc(MOST), *to = malloc(MOST + 1);
    (void)state;
    assert_true(from != NULL && to != NULL);
    for (size_t i = 0; i < MOST; i++)
        from[i] = (char)(i * 7 + i / 1000);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(to, 'x', MOST + 1);
        parallel_copy(to, from, sizes[i]);
        assert_memory_equal(to, from, sizes[i]);
        assert_int_equal(to[sizes[i]], 'x');
    }
    free(from);
    free(to);
}

/* A loop in each call of a loop. */
static void run_inner(void *context, unsigned i)
{
    if (!runs_once(i))
        atomic_fetch_add((atomic_uint *)context, 1);
}

static void loops_lie_in_loops(void **state)
{
    atomic_uint wrong = 0;

    (void)state;
    parallel_run(CALLS_MAX, run_inner, &wrong);
    assert_int_equal(wrong, 0);
}

static void *give_loops(void *context)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        if (!runs_once(i % CALLS_MAX))
            atomic_fetch_add((atomic_uint *)context, 1);
    return NULL;
}

static void several_threads_give_loops(void **state)
{
    pthread_t givers[GIVERS];
    atomic_uint wrong = 0;

    (void)state;
    assert_int_equal(parallel_start(givers, GIVERS, give_loops, &wrong),
                     GIVERS);
    for (unsigned i = 0; i < GIVERS; i++)
        pthread_join(givers[i], NULL);
    assert_int_equal(wrong, 0);
}

/* Whether the threads are asleep, awake, or on their way to either. */
static void loops_may_be_expected(void **state)
{
    const struct timespec long_enough = { .tv_nsec = 3000000 };

    (void)state;
    for (unsigned round = 0; round < ROUNDS / 10; round++) {
        parallel_expect();
        for (unsigned count = 0; count <= CALLS_MAX; count += 7)
            assert_true(runs_once(count));
        parallel_expect();
        if (round % 5 == 0)
            nanosleep(&long_enough, NULL);
    }
    assert_true(parallel_workers() < PARALLEL_THREADS_MAX);
}

/* A child of fork() has no workers of its parent, and starts its own; the
 * thread sanitizer knows no threads of children. */
static void a_child_starts_its_own(void **state)
{
    int status = 0;

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    assert_true(runs_once(CALLS_MAX));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(runs_once(CALLS_MAX) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(runs_once(CALLS_MAX));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_made_once),
        cmocka_unit_test(loops_lie_in_loops),
        cmocka_unit_test(bytes_are_copied),
        cmocka_unit_test(several_threads_give_loops),
        cmocka_unit_test(loops_may_be_expected),
        cmocka_unit_test(a_child_starts_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
