/* SPDX-License-Identifier: MIT */
/* The account of memory: what queries and their steps may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/account.h"
#include "base/threads/parallel.h"

enum { LIMIT = 1 << 20, THREADS = 4, TURNS = 20000 };

/* A query that is alone has all; what it gives back is there again. */
static void one_query_has_all(void **state)
{
    struct account query = { 0 };
    struct account_share share = { .account = &query };
    (void)state;
    account_open(&query, LIMIT, 0);
    assert_int_equal(account_room(&share), LIMIT);
    assert_true(account_take(&share, LIMIT - 10));
    assert_false(account_take(&share, 11));
    assert_int_equal(query.used_bytes, LIMIT - 10);
    account_give(&share, 1000);
    assert_int_equal(account_room(&share), 1010);
    assert_int_equal(*account_process_bytes(), LIMIT - 1010);
    account_give_all(&share);
    assert_int_equal(*account_process_bytes(), 0);
    assert_int_equal(share.most_bytes, LIMIT - 10);
    assert_int_equal(query.most_bytes, LIMIT - 10);
    account_close(&query);
}

/* None starves: not a second query, nor a second step. */
static void each_has_its_part(void **state)
{
    struct account first = { 0 }, second = { 0 };
    struct account_share greedy = { .account = &first };
    struct account_share next = { .account = &first };
    struct account_share other = { .account = &second };
    (void)state;
    account_open(&first, LIMIT, 0);
    assert_true(account_take(&greedy, LIMIT));
    assert_int_equal(account_room(&next), LIMIT / 8);
    account_open(&second, LIMIT, 0);
    assert_int_equal(account_room(&other), LIMIT / 2);
    assert_int_equal(account_room(&next), LIMIT / 16);
    assert_true(account_take(&other, LIMIT / 2));
    assert_int_equal(account_room(&other), 0);
    assert_false(account_take(&greedy, 1));
    account_give_all(&greedy);
    account_close(&first);
    assert_int_equal(account_room(&other), LIMIT / 2);
    account_give_all(&other);
    account_close(&second);
    assert_int_equal(*account_process_bytes(), 0);
}

static void no_account_is_no_limit(void **state)
{
    struct account_share share = { 0 };
    (void)state;
    assert_int_equal(account_room(&share), UINT64_MAX);
    assert_true(account_take(&share, UINT64_MAX / 2));
    account_give_all(&share);
    account_spilled(&share, 7);
    assert_int_equal(share.spill_bytes, 7);
}

static void plans_leave_a_query_its_part(void **state)
{
    struct account first = { 0 }, second = { 0 };
    struct account_share one = { .account = &first };
    struct account_share two = { .account = &second };
    (void)state;
    account_open(&first, LIMIT, 2 * LIMIT);
    assert_int_equal(*account_process_bytes(), 2 * LIMIT);
    assert_int_equal(account_room(&one), LIMIT); /* its fair part */
    account_open(&second, LIMIT, 0);
    assert_int_equal(account_room(&one), LIMIT / 2);
    assert_int_equal(account_room(&two), LIMIT / 2);
    account_close(&first);
    assert_int_equal(account_room(&two), LIMIT);
    account_close(&second);
    assert_int_equal(*account_process_bytes(), 0);
}

/* One thread: takes and gives. */
static void take_and_give(void *context, unsigned number)
{
    struct account_share *share = context;
    (void)number;
    for (unsigned i = 0; i < TURNS; i++) {
        uint64_t bytes = 1 + i % 100;
        if (account_take(share, bytes))
            account_give(share, bytes);
    }
}

static void threads_share_a_step(void **state)
{
    struct account query = { 0 };
    struct account_share share = { .account = &query };
    (void)state;
    account_open(&query, 150, 0);
    parallel_run(THREADS, take_and_give, &share);
    assert_int_equal(share.used_bytes, 0);
    assert_int_equal(query.used_bytes, 0);
    assert_int_equal(*account_process_bytes(), 0);
    /* each may have got what was there once */
    assert_true(query.most_bytes <= 150 + (THREADS - 1) * 100);
    account_close(&query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_query_has_all),
        cmocka_unit_test(each_has_its_part),
        cmocka_unit_test(no_account_is_no_limit),
        cmocka_unit_test(plans_leave_a_query_its_part),
        cmocka_unit_test(threads_share_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
