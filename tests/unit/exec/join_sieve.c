/* SPDX-License-Identifier: MIT */
/*
 * The filter in front of a join's slots: what was added passes, whatever thread
 * added it, and of other tags hardly any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/parallel.h"
#include "exec/join/join_keys.h"
#include "exec/join/join_sieve.h"
#include "fixtures/random_rows.h"

enum { ROWS = 10000, THREADS = 4 };

struct adding {
    struct join_sieve sieve;
    uint32_t tags[ROWS];
};

static void add_share(void *context, unsigned share)
{
    struct adding *adding = context;

    for (unsigned i = share; i < ROWS; i += THREADS)
        join_sieve_add(&adding->sieve, adding->tags[i]);
}

/* How many of so many tags pass. */
static unsigned count_kept(const struct join_sieve *sieve, const uint32_t *tags,
                           unsigned count)
{
    uint16_t kept[JOIN_BLOCK];
    unsigned sum = 0;

    for (unsigned at = 0; at < count; at += JOIN_BLOCK) {
        unsigned most = count - at < JOIN_BLOCK ? count - at : JOIN_BLOCK;
        sum += join_sieve_keep(sieve, tags + at, most, kept);
    }
    return sum;
}

static void what_was_added_passes(void **state)
{
    static struct adding adding;
    static uint32_t others[ROWS];

    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        adding.tags[i] = random_below(UINT32_MAX);
        others[i] = random_below(UINT32_MAX);
    }
    assert_int_equal(join_sieve_init(&adding.sieve, ROWS, NULL), VDBQ_OK);
    assert_int_equal(count_kept(&adding.sieve, adding.tags, ROWS), 0);
    parallel_run(THREADS, add_share, &adding);
    assert_int_equal(count_kept(&adding.sieve, adding.tags, ROWS), ROWS);
    assert_in_range(count_kept(&adding.sieve, others, ROWS), 1, ROWS / 10);
    join_sieve_finish(&adding.sieve);
    join_sieve_finish(&adding.sieve);
}

/* Tags that stand for keys exactly: one of ten was added. */
static void neighbours_are_told_apart(void **state)
{
    struct join_sieve sieve;
    uint32_t tags[JOIN_BLOCK];
    uint16_t kept[JOIN_BLOCK];

    (void)state;
    assert_int_equal(join_sieve_init(&sieve, JOIN_BLOCK / 10, NULL), VDBQ_OK);
    for (uint32_t i = 0; i < JOIN_BLOCK; i++) {
        tags[i] = UINT32_MAX / 2 + i;
        if (i % 10 == 3)
            join_sieve_add(&sieve, tags[i]);
    }
    unsigned count = join_sieve_keep(&sieve, tags, JOIN_BLOCK, kept);
    assert_int_equal(count, (JOIN_BLOCK + 6) / 10);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(kept[i], i * 10 + 3);
    join_sieve_finish(&sieve);
}

static void no_rows_let_nothing_through(void **state)
{
    struct join_sieve sieve;
    uint32_t tags[] = { 0, 1, JOIN_NO_TAG };
    uint16_t kept[3];

    (void)state;
    assert_int_equal(join_sieve_init(&sieve, 0, NULL), VDBQ_OK);
    assert_int_equal(join_sieve_keep(&sieve, tags, 3, kept), 0);
    join_sieve_finish(&sieve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_passes),
        cmocka_unit_test(neighbours_are_told_apart),
        cmocka_unit_test(no_rows_let_nothing_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
