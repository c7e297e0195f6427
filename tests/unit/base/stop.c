/* SPDX-License-Identifier: MIT */
/*
 * What stops a thread's work: its own stop, and those of whom it works for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"

static struct error error;

static void nothing_stops_who_works_for_nobody(void **state)
{
    (void)state;
    assert_null(stop_current());
    assert_false(stop_asked());
    assert_int_equal(stop_pause(&error), VDBQ_OK);
    assert_int_equal(stop_or_no_memory(&error), VDBQ_NO_MEMORY);
}

static void a_cancel_is_heard(void **state)
{
    struct stop stop = { 0 };
    (void)state;
    struct stop_work former = stop_enter(&stop);
    assert_false(stop_asked());
    atomic_store(&stop.cancelled, true);
    assert_true(stop_asked());
    assert_int_equal(stop_pause(&error), VDBQ_CANCELLED);
    assert_int_equal(stop_or_no_memory(&error), VDBQ_CANCELLED);
    stop_leave(former);
    assert_false(stop_asked());
}

/* A call within a call stops with it, not the other way round. */
static void the_outer_stop_holds(void **state)
{
    struct stop outer = { 0 }, inner = { 0 };
    (void)state;
    struct stop_work former = stop_enter(&outer), between = stop_enter(&inner);
    atomic_store(&outer.cancelled, true);
    assert_true(stop_asked());
    atomic_store(&outer.cancelled, false);
    atomic_store(&inner.cancelled, true);
    assert_true(stop_asked());
    stop_leave(between);
    assert_ptr_equal(stop_current(), &outer);
    assert_false(stop_asked());
    stop_leave(former);
}

static void ask(void *context, unsigned i)
{
    atomic_uint *asked = context;
    (void)i;
    atomic_fetch_add(asked, stop_asked());
}

static void threads_of_a_loop_ask_for_its_giver(void **state)
{
    enum { CALLS = 100 };
    struct stop stop = { .cancelled = true };
    atomic_uint asked = 0;
    (void)state;
    parallel_run(CALLS, ask, &asked);
    assert_int_equal(asked, 0);
    struct stop_work former = stop_enter(&stop);
    parallel_run(CALLS, ask, &asked);
    stop_leave(former);
    assert_int_equal(asked, CALLS);
}

static void what_is_shared_is_made_to_its_end(void **state)
{
    struct stop stop = { .cancelled = true };
    (void)state;
    struct stop_work former = stop_enter(&stop), own = stop_help(&stop_never);
    assert_false(stop_asked());
    stop_leave(own);
    assert_true(stop_asked());
    stop_leave(former);
}

static void loops_ask_now_and_then(void **state)
{
    struct stop stop = { .cancelled = true };
    uint64_t since = 0, rows = 0;
    (void)state;
    struct stop_work former = stop_enter(&stop);
    while (!stop_at(rows))
        rows++;
    assert_int_equal(rows, STOP_ROWS);
    for (rows = 100; !stop_after(&since, 100); rows += 100)
        continue;
    assert_true(rows >= STOP_ROWS && rows < STOP_ROWS + 100);
    stop_leave(former);
}

/* What a progress function was told last, and when it ends the work. */
struct told {
    uint64_t calls, done, all;
    double share;
    uint64_t calls_most;
};

static bool note(void *context, uint64_t done, uint64_t all)
{
    struct told *told = context;
    double share = (double)done / (double)all;
    assert_true(done <= all && share >= told->share);
    told->done = done;
    told->all = all;
    told->share = share;
    return ++told->calls < told->calls_most;
}

static void progress_goes_on_over_steps(void **state)
{
    struct told told = { .calls_most = 100 };
    struct stop stop = { .progress = note, .progress_context = &told };
    (void)state;
    struct stop_work former = stop_enter(&stop);
    stop_begin(1);
    stop_tell(30, 120); /* of one step: rows */
    assert_int_equal(told.done, 30);
    assert_int_equal(told.all, 120);
    stop_begin(4);
    told.share = 0;
    stop_step();
    stop_tell(5, 10);
    assert_int_equal(told.done, 15);
    assert_int_equal(told.all, 40);
    stop_tell(0, 10); /* never back */
    assert_int_equal(told.done, 15);
    for (int i = 0; i < 9; i++)
        stop_step();
    stop_tell(1, 1);
    assert_int_equal(told.done, told.all);
    stop_leave(former);
}

static void progress_may_end_the_work(void **state)
{
    struct told told = { .calls_most = 1 };
    struct stop stop = { .progress = note, .progress_context = &told };
    (void)state;
    struct stop_work former = stop_enter(&stop);
    stop_begin(1);
    stop_tell(1, 2);
    assert_true(stop_asked());
    stop_tell(2, 2);
    assert_int_equal(told.calls, 1);
    stop_leave(former);
}

static void spend(void *context, unsigned i)
{
    volatile uint64_t *sum = context;
    (void)i;
    for (unsigned k = 0; k < 50000000; k++)
        *sum += k;
}

/* Of any thread that works for it. */
static void gaps_are_measured(void **state)
{
    struct stop stop = { 0 };
    uint64_t sums[8] = { 0 };
    (void)state;
    struct stop_work former = stop_enter(&stop);
    stop_watch(true);
    for (int i = 0; i < 1000; i++)
        stop_asked();
    uint64_t none = stop_widest_ns();
    spend(sums, 0);
    stop_asked();
    uint64_t alone = stop_widest_ns();
    stop_watch(true);
    parallel_run(2, spend, sums);
    uint64_t together = stop_widest_ns();
    stop_watch(false);
    stop_leave(former);
    assert_true(alone > 10 * none);
    assert_true(together > alone / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_stops_who_works_for_nobody),
        cmocka_unit_test(a_cancel_is_heard),
        cmocka_unit_test(the_outer_stop_holds),
        cmocka_unit_test(threads_of_a_loop_ask_for_its_giver),
        cmocka_unit_test(what_is_shared_is_made_to_its_end),
        cmocka_unit_test(loops_ask_now_and_then),
        cmocka_unit_test(progress_goes_on_over_steps),
        cmocka_unit_test(progress_may_end_the_work),
        cmocka_unit_test(gaps_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
