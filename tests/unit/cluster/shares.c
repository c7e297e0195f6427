/* SPDX-License-Identifier: MIT */
/*
 * Shares of a table follow how fast ranks were, and stay as they are where that
 * tells little.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster/shares.h"

enum { MS = 1000000 };

/* Part of a rank, in thousandths of all. */
static unsigned part(const struct shares *shares, unsigned rank)
{
    uint64_t rows = shares->first[rank + 1] - shares->first[rank];
    return (unsigned)(rows * 1000 / RANK_SHARE_ALL);
}

static struct shares of(unsigned ranks)
{
    struct shares shares;
    assert_true(shares_init(&shares, ranks));
    return shares;
}

static void test_equal(void **state)
{
    struct shares shares = of(3);
    (void)state;
    assert_int_equal(shares.first[0], 0);
    assert_int_equal(shares.first[3], RANK_SHARE_ALL);
    for (unsigned r = 0; r < 3; r++)
        assert_int_equal(part(&shares, r), 333);
    shares_finish(&shares);
}

/* One device reads thrice as many rows a second: it gets thrice as many. */
static void test_speed(void **state)
{
    struct shares shares = of(2);
    const struct share_run first[] = { { 1000000, 10 * MS },
                                       { 1000000, 30 * MS } };
    const struct share_run second[] = { { 1500000, 15 * MS },
                                        { 500000, 16 * MS } };
    (void)state;
    shares_learn(&shares, first);
    assert_in_range(part(&shares, 0), 748, 751);
    assert_int_equal(shares.first[2], RANK_SHARE_ALL);
    shares_learn(&shares, second); /* which is as it should be */
    assert_in_range(part(&shares, 0), 748, 751);
    shares_finish(&shares);
}

/* A rank keeps some rows however slow it was, so that it is measured again. */
static void test_slow(void **state)
{
    struct shares shares = of(4);
    const struct share_run runs[] = { { 1000000, 10 * MS },
                                      { 1000000, 10 * MS },
                                      { 1000000, 2000 * MS },
                                      { 1000000, 10 * MS } };
    (void)state;
    shares_learn(&shares, runs);
    assert_in_range(part(&shares, 2), 14, 17);
    assert_in_range(part(&shares, 3), 325, 330);
    shares_finish(&shares);
}

static void test_tells_little(void **state)
{
    struct shares shares = of(2);
    const struct share_run few[] = { { 1000000, 10 * MS }, { 100, 30 * MS } };
    const struct share_run quick[] = { { 1000000, MS }, { 1000000, 4 * MS } };
    const struct share_run none[] = { { 1000000, 0 }, { 1000000, 40 * MS } };
    (void)state;
    shares_learn(&shares, few);
    shares_learn(&shares, quick);
    shares_learn(&shares, none);
    assert_int_equal(part(&shares, 0), 500);
    shares_finish(&shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_speed),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_tells_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
