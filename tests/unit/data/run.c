/* SPDX-License-Identifier: MIT */
/*
 * Runs of random tablets: what a look-up finds by a run, by all values, and by
 * comparing row by row is the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "cl/hash.h"
#include "data/index/run_cache.h"
#include "data/tablet/dictionary_sort.h"
#include "fixtures/chance.h"
#include "fixtures/model/run_model.h"
#include "fixtures/sample_tables.h"

/* ---------------------------------------------------------------- order -- */

static void check_order(const struct run *run, const unsigned *of,
                        unsigned count)
{
    bool seen[ROWS_MAX] = { false };

    for (uint32_t i = 0; i < rows; i++) {
        int order = 0;
        assert_true(run_row(run, i) < rows && !seen[run_row(run, i)]);
        seen[run_row(run, i)] = true;
        for (unsigned c = 0; c < count && i > 0 && order == 0; c++)
            order = compare(of[c], run_row(run, i - 1), run_row(run, i));
        assert_true(order <= 0);
        if (i > 0 && order == 0)
            assert_true(run_row(run, i - 1) < run_row(run, i));
    }
}

static void test_finds(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 300; n++) {
        if (!is_taken(n))
            continue;
        make_tablet();
        for (unsigned i = 0; i < 20; i++) {
            struct asked asked = any_question();
            struct run *run = run_make(block.bytes, asked.of, asked.count);
            assert_non_null(run);
            check_order(run, asked.of, asked.count);
            check_found(&asked, run, NULL);
            if (i % 4 == 0 && columns[asked.of[0]].type == VDBQ_TEXT)
                check_texts(&run->columns[0]);
            if (asked.equal_count > 0 || asked.list_count > 0
                || asked.low < rows || asked.high < rows)
                check_found(&asked, NULL, NULL);
            run_destroy(run);
        }
        block_destroy(&block);
    }
}

static void test_ends(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 100; n++) {
        struct asked asked = any_question();
        struct run_terms terms = any_ends(&asked);
        struct run *run;
        make_tablet();
        run = run_make(block.bytes, asked.of, asked.count);
        assert_non_null(run);
        check_ends(&asked, &terms, run, NULL);
        run_destroy(run);
        block_destroy(&block);
    }
}

/* A text that the tablet has not lies between its neighbours. */
static void test_texts_between(void **state)
{
    static const char *const tried[] = { "", "a", "aa", "b", "zz", "zzzz" };

    (void)state;
    make_tablet();
    for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct vdbq_text text = { tried[i], strlen(tried[i]) };
        struct run_value value = run_value_text(block.bytes, 4, text, NULL);
        uint32_t below = 0, count = tablet_words(block.bytes, 4)->count;
        bool there = false;
        for (uint32_t k = 0; k < count; k++) {
            int order = text_compare(tablet_word(block.bytes, 4, k), text);
            below += order < 0;
            there |= order == 0;
        }
        assert_int_equal(value.exact, there);
        assert_true(value.value == run_value_integer(below).value);
    }
    block_destroy(&block);
}

/* ---------------------------------------------------------------- cache -- */

static void test_keeps_some(void **state)
{
    const unsigned of[] = { 1 };
    struct tablet_ref tablets[3] = { { .identity = { 1, 1 } },
                                     { .identity = { 1, 2 } },
                                     { .identity = { 2, 1 } } };
    struct run_cache *cache = run_cache_create();
    uint64_t size;

    (void)state;
    assert_non_null(cache);
    make_tablet();
    for (unsigned i = 0; i < 3; i++) {
        struct run_want want = { &tablets[i], of, 1 };
        struct run *run = run_make(block.bytes, of, 1);
        size = run->size_bytes;
        assert_null(run_cache_find(cache, &want));
        assert_true(run_cache_keep(cache, &want, run, 2 * size));
        assert_ptr_equal(run_cache_find(cache, &want), run);
        assert_true(run_cache_bytes(cache) <= 2 * size);
        if (i == 1)
            run_cache_find(cache, &(struct run_want){ &tablets[0], of, 1 });
    }
    assert_non_null(
        run_cache_find(cache, &(struct run_want){ &tablets[0], of, 1 }));
    assert_null(
        run_cache_find(cache, &(struct run_want){ &tablets[1], of, 1 }));
    run_cache_shrink(cache, 0);
    assert_int_equal(run_cache_bytes(cache), 0);
    run_cache_destroy(cache);
    block_destroy(&block);
}

/* A value of the run of a tablet; others have others. */
static uint64_t value_hash(unsigned tablet, uint64_t value)
{
    return hash_number(tablet * UINT64_C(1000003) + value * 7919);
}

/* What is made of them. */
struct sieving {
    unsigned tablet;
    uint64_t values, stops; /* so many were told of; the next one is to stop */
    uint64_t first;         /* value of all */
};

static bool sieve_value(void *context, uint64_t value, uint64_t *hash)
{
    struct sieving *sieving = context;

    if (sieving->values == 0)
        sieving->first = value;
    *hash = value_hash(sieving->tablet, value);
    return ++sieving->values <= sieving->stops;
}

/* A tablet whose run by a column has values, and keys that are no sequence. */
static void make_tablet_with_values(const unsigned *of)
{
    for (bool has = false; !has;) {
        make_tablet();
        struct run *run = run_make(block.bytes, of, 1);
        has = run->keys != NULL && run->columns[0].bits > 0
              && run_key(run, run->rows - 1) > 0;
        run_destroy(run);
        if (!has)
            block_destroy(&block);
    }
}

/* Keeps a run and searches it in vain until it is sieved. */
static void sieve_run(struct run_cache *cache, const struct run_want *want,
                      struct sieving *sieving)
{
    assert_true(run_cache_keep(
        cache, want, run_make(block.bytes, want->columns, 1), UINT64_MAX));
    for (unsigned i = 0; i < ROWS_MAX && sieving->values == 0; i++) {
        assert_false(run_cache_lacks(
            cache, want, run_cache_ask(cache, &(uint64_t){ 0 }, 1)));
        run_cache_vain(cache, want, UINT64_MAX, sieve_value, sieving);
    }
    assert_true(sieving->values > 0);
}

/* What a run has it never lacks, and seldom has what it lacks; more runs are sieved than
 * a pane has sets for. */
static void test_sieves(void **state)
{
    enum { TABLETS = 150 };
    static struct tablet_ref tablets[TABLETS];
    static struct sieving sieved[TABLETS];
    const unsigned of[] = { 1 };
    struct run_cache *cache = run_cache_create();
    unsigned lacking = 0;

    (void)state;
    assert_non_null(cache);
    make_tablet_with_values(of);
    for (unsigned i = 0; i < TABLETS; i++) {
        tablets[i].identity = (struct identity){ 1, i };
        sieved[i] = (struct sieving){ .tablet = i, .stops = UINT64_MAX };
        sieve_run(cache, &(struct run_want){ &tablets[i], of, 1 }, &sieved[i]);
    }
    for (unsigned i = 0; i < TABLETS; i++) {
        const uint64_t hashes[] = { value_hash(TABLETS + i, 700),
                                    value_hash(i, sieved[i].first) };
        uint64_t asked = run_cache_ask(cache, hashes, 1 + i % 2);
        for (unsigned k = 0; k < TABLETS; k++) {
            struct run_want want = { &tablets[k], of, 1 };
            bool lacks = run_cache_lacks(cache, &want, asked);
            assert_false(run_cache_lacks(cache, &want, asked - 1));
            assert_false(lacks && k == i && i % 2 > 0);
            lacking += lacks;
        }
    }
    assert_true(lacking > TABLETS * TABLETS * 8 / 10);
    run_cache_shrink(cache, 0);
    assert_int_equal(run_cache_bytes(cache), 0);
    run_cache_destroy(cache);
    block_destroy(&block);
}

/* No sieve is asked that was left half done, and none is made without room. */
static void test_no_sieves(void **state)
{
    const unsigned of[] = { 1 };
    struct tablet_ref tablet = { .identity = { 1, 1 } };
    struct run_want want = { &tablet, of, 1 };
    struct sieving sieving = { .stops = 0 };
    struct run_cache *cache = run_cache_create();
    uint64_t bytes;

    (void)state;
    assert_non_null(cache);
    make_tablet_with_values(of);
    sieve_run(cache, &want, &sieving);
    bytes = run_cache_bytes(cache);
    sieving = (struct sieving){ .stops = UINT64_MAX };
    for (unsigned i = 0; i < 2 * ROWS_MAX; i++)
        run_cache_vain(cache, &want, bytes, sieve_value, &sieving);
    assert_int_equal(sieving.values, 0);
    assert_int_equal(run_cache_bytes(cache), bytes);
    assert_false(run_cache_lacks(
        cache, &want,
        run_cache_ask(cache, &(uint64_t){ value_hash(0, 1) }, 1)));
    run_cache_destroy(cache);
    block_destroy(&block);
}

/* ------------------------------------------------------------- single keys -- */

/* The places of a key that is looked for alone, and how many are less. */
static void check_alone(const struct run *run, uint32_t key)
{
    const uint32_t *keys = run->keys;
    uint64_t range;
    uint32_t places[2], less = 0, more = 0;

    for (; less < run->rows && keys[less] < key; less++)
        continue;
    for (more = less; more < run->rows && keys[more] == key; more++)
        continue;
    run_put_range(run, &range, 0, (struct run_keys){ key, key });
    run_find_ranges(run, &range, 1, places);
    assert_int_equal(places[0], less);
    assert_int_equal(places[1], more);
}

/* Keys without gaps, at the same distance, twice each, ever farther apart, all the
 * same, with one at the end that is far away, and drawn. */
static void test_keys_alone(void **state)
{
    enum { KEYS = 300, SHAPES = 7 };
    uint32_t keys[KEYS] = { 0 };
    struct run run = { .rows = KEYS,
                       .tablet_rows = KEYS,
                       .column_count = 1,
                       .key_bits = 32,
                       .keys = keys };

    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            uint32_t drawn =
                (i > 0 ? keys[i - 1] : 0) + (uint32_t)chance_below(3);
            const uint32_t shapes[SHAPES] = {
                i, 3 * i, i / 2, i * i, 7, i + 1 < KEYS ? i : UINT32_MAX, drawn
            };
            keys[i] = shapes[shape];
        }
        run.rows = KEYS;
        for (uint32_t key = 0; key < 3 * KEYS + 2; key++)
            check_alone(&run, key);
        for (uint32_t i = 0; i < KEYS; i++)
            check_alone(&run, keys[i]);
        run.rows = 1;
        check_alone(&run, keys[0]);
        check_alone(&run, keys[0] + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds),         cmocka_unit_test(test_ends),
        cmocka_unit_test(test_texts_between), cmocka_unit_test(test_keeps_some),
        cmocka_unit_test(test_sieves),        cmocka_unit_test(test_no_sieves),
        cmocka_unit_test(test_keys_alone),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
