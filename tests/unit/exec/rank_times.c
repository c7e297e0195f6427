/* SPDX-License-Identifier: MIT */
/*
 * What ranks spend their time on: works inside one another count once, and a
 * timeline has all of a run, however long that is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "exec/stream/ranks.h"

static uint64_t slot_sum(const struct rank_timeline *timeline, size_t slot)
{
    uint64_t sum = 0;
    for (size_t work = 0; work < RANK_WORKS; work++)
        sum += timeline->ns[slot][work];
    return sum;
}

static uint64_t work_sum(const struct rank_timeline *timeline, size_t work)
{
    uint64_t sum = 0;
    for (size_t slot = 0; slot < RANK_SLOTS; slot++)
        sum += timeline->ns[slot][work];
    return sum;
}

/* Passes so much time. */
static void pass(uint64_t ns)
{
    uint64_t end = os_time_ns() + ns;
    while (os_time_ns() < end)
        ;
}

static void inner_works_count_once(void **state)
{
    (void)state;
    struct ranks ranks = { .begun = rank_now() };
    struct rank_clock sends = rank_start(&ranks);
    pass(300000);
    struct rank_clock waits = rank_start(&ranks);
    pass(500000);
    rank_spend(&ranks, RANK_WAIT, waits);
    pass(100000);
    rank_spend(&ranks, RANK_EXCHANGE, sends);
    pass(200000);
    rank_spend_run(&ranks, RANK_COMPUTE);
    uint64_t all = os_time_ns() - ranks.begun.ns, sum = 0;
    uint64_t ns[RANK_WORKS];
    for (size_t work = 0; work < RANK_WORKS; work++) {
        ns[work] = ranks.cost.spent[work].ns;
        sum += ns[work];
    }
    assert_true(sum <= all);
    assert_true(ns[RANK_WAIT] >= 500000);
    assert_true(ns[RANK_EXCHANGE] >= 400000);
    assert_true(ns[RANK_COMPUTE] >= 200000);
    assert_int_equal(ns[RANK_MERGE], 0);
    assert_true(ns[RANK_EXCHANGE] + ns[RANK_WAIT] <= all - 200000);
    assert_true(ranks.cost.spent[RANK_WAIT].processor_ns > 0);
    assert_true(ranks.cost.spent[RANK_MERGE].processor_ns == 0);
}

static void timelines_hold_all(void **state)
{
    (void)state;
    struct ranks ranks = { .begun = rank_now() };
    for (unsigned i = 0; i < 40; i++) {
        struct rank_clock clock = rank_start(&ranks);
        pass(100000);
        rank_spend(&ranks, i % 2 == 0 ? RANK_WAIT : RANK_MERGE, clock);
    }
    struct rank_timeline *timeline = &ranks.cost.timeline;
    assert_true(timeline->slot_ns * RANK_SLOTS >= 4000000);
    for (size_t slot = 0; slot < RANK_SLOTS; slot++)
        assert_true(slot_sum(timeline, slot) <= timeline->slot_ns);
    for (size_t work = 0; work < RANK_WORKS; work++) /* but for slots' ends */
        assert_true(work_sum(timeline, work) <= ranks.cost.spent[work].ns
                    && work_sum(timeline, work) + 200000
                           >= ranks.cost.spent[work].ns);
    uint64_t waited = work_sum(timeline, RANK_WAIT);
    rank_timeline_widen(timeline, 8 * timeline->slot_ns);
    assert_int_equal(work_sum(timeline, RANK_WAIT), waited);
    assert_int_equal(slot_sum(timeline, RANK_SLOTS - 1), 0);
}

static void nobody_counts(void **state)
{
    (void)state;
    struct rank_timeline none = { 0 };
    rank_spend(NULL, RANK_WAIT, rank_start(NULL));
    rank_spend_run(NULL, RANK_REST);
    rank_timeline_widen(&none, 1 << 20);
    assert_int_equal(none.slot_ns, 1 << 20);
    assert_int_equal(slot_sum(&none, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_works_count_once),
        cmocka_unit_test(timelines_hold_all),
        cmocka_unit_test(nobody_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
