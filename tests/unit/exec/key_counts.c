/* SPDX-License-Identifier: MIT */
/*
 * Counts of keys: against plain arrays, however many threads add and however the
 * values come; what does not fit is not added; and all rows come back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "exec/rows/key_counts.h"
#include "fixtures/random_rows.h"

enum { ROWS = 20000, SPAN = 30000, LOW = -9000, BATCHES = 7, BLOCK = 1 << 10 };

/* Rows of one column, and how often each value came in those that were added. */
struct rows {
    int32_t values[ROWS];
    uint8_t nulls[ROWS];
    uint32_t expected[SPAN]; /* by value, less LOW */
    struct row_set_column column;
};

static struct rows rows;

/* Few values come often, most once or twice; one in `nulls` rows is NULL. */
static void make_rows(unsigned span, unsigned nulls)
{
    memset(&rows, 0, sizeof rows);
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned most = random_below(4) == 0 ? 3 : span;
        rows.values[i] = LOW + (int32_t)random_below(most);
        rows.nulls[i] = nulls > 0 && random_below(nulls) == 0;
    }
    rows.column =
        (struct row_set_column){ .type = VDBQ_INTEGER,
                                 .width = sizeof(int32_t),
                                 .values = rows.values,
                                 .nulls = nulls > 0 ? rows.nulls : NULL };
}

/* Adds rows [first, end); whether they fit. */
static bool add(struct key_counts *counts, unsigned first, unsigned end,
                uint64_t bytes, unsigned threads)
{
    struct error error = { 0 };
    struct row_set_column part = rows.column;
    bool fits = false;

    part.values = rows.values + first;
    part.nulls = part.nulls != NULL ? rows.nulls + first : NULL;
    assert_int_equal(key_counts_add(counts, &part, end - first,
                                    &(struct key_counts_limits){
                                        .bytes = bytes, .threads = threads },
                                    &fits, &error),
                     VDBQ_OK);
    for (unsigned i = first; i < end && fits; i++)
        if (!rows.nulls[i])
            rows.expected[rows.values[i] - LOW]++;
    return fits;
}

/* Asks for every value, and for some that never came. */
static void judge_counts(const struct key_counts *counts)
{
    uint32_t codes[BLOCK], starts[BLOCK], found[BLOCK];
    int64_t shift = LOW - counts->low;

    for (unsigned at = 0; at < SPAN; at += BLOCK) {
        unsigned count = SPAN - at < BLOCK ? SPAN - at : BLOCK;
        for (unsigned i = 0; i < count; i++)
            codes[i] = (uint32_t)(at + i + shift);
        key_counts_find(counts, codes, count, starts, found);
        for (unsigned i = 0; i < count; i++) {
            uint32_t expected = rows.expected[at + i];
            expected = counts->once ? expected > 0 : expected;
            assert_int_equal(found[i], expected);
            assert_int_equal(starts[i], expected > 0 ? 0 : ROW_SET_NO_ROW);
        }
    }
    codes[0] = (uint32_t)counts->values;
    codes[1] = UINT32_MAX;
    key_counts_find(counts, codes, 2, starts, found);
    assert_int_equal(found[0] + found[1], 0);
}

/* Takes all rows back, some at a time. */
static void judge_rows(const struct key_counts *counts)
{
    static int64_t values[BLOCK];
    struct row_set_column column = { .type = VDBQ_BIGINT,
                                     .width = sizeof(int64_t),
                                     .values = values };
    struct key_counts_place place = { 0 };
    uint64_t sum = 0, some = 1;

    while (some > 0) {
        some = key_counts_give(counts, &place, &column, 1 + sum % BLOCK);
        sum += some;
        for (uint64_t i = 0; i < some; i++)
            rows.expected[values[i] - LOW]--;
    }
    assert_int_equal(sum, counts->rows);
    for (unsigned i = 0; i < SPAN; i++)
        assert_int_equal(rows.expected[i], 0);
}

/* Batches whose values spread to both sides of those before. */
static void values_are_counted(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 16; threads *= 4) {
        struct key_counts counts = { 0 };
        make_rows(SPAN, threads > 1 ? 9 : 0);
        for (unsigned i = 0; i < ROWS / 2; i++)
            rows.values[i] += rows.values[i] < LOW + SPAN / 2 ? SPAN / 3 : 0;
        for (unsigned i = 0; i < BATCHES; i++)
            assert_true(add(&counts, ROWS * i / BATCHES,
                            ROWS * (i + 1) / BATCHES, UINT64_MAX, threads));
        assert_null(counts.bits);
        assert_true(counts.more_used > 0);
        judge_counts(&counts);
        judge_rows(&counts);
        key_counts_finish(&counts);
    }
}

/* Where nobody asks how often, there are bits alone. */
static void once_takes_bits(void **state)
{
    struct key_counts counts = { .once = true };

    (void)state;
    make_rows(SPAN, 5);
    assert_true(add(&counts, 0, ROWS, SPAN / 4, 2));
    assert_non_null(counts.bits);
    assert_true(key_counts_bytes(&counts) <= SPAN / 4);
    judge_counts(&counts);
    key_counts_finish(&counts);
}

/* Rows that repeat a value have no room for bytes, others none for bits: those
 * that were added before stay as they were. */
static void what_does_not_fit_is_left_out(void **state)
{
    struct key_counts counts = { 0 };

    (void)state;
    make_rows(SPAN, 0);
    for (unsigned i = 0; i < ROWS / 2; i++)
        rows.values[i] = LOW + (int32_t)(i * 7919u % ROWS);
    for (unsigned threads = 1; threads <= 4; threads *= 2) {
        assert_true(add(&counts, 0, ROWS / 2, SPAN / 4, threads));
        assert_false(add(&counts, ROWS / 2, ROWS, SPAN / 4, threads));
        assert_non_null(counts.bits);
        rows.values[ROWS - 1] = INT32_MAX;
        assert_false(add(&counts, ROWS - 1, ROWS, SPAN / 4, threads));
        judge_counts(&counts);
        judge_rows(&counts);
        key_counts_finish(&counts);
    }
}

/* The ends of 64 bits are far apart, and near no overflow. */
static void ends_of_numbers(void **state)
{
    static const int64_t ends[] = { INT64_MAX, INT64_MIN, INT64_MAX - 1 };
    const struct key_counts_limits limits = { .bytes = 1 << 20, .threads = 2 };
    struct key_counts counts = { 0 };
    struct row_set_column column = { .type = VDBQ_BIGINT,
                                     .width = sizeof(int64_t),
                                     .values = (void *)ends };
    struct error error = { 0 };
    bool fits = true;

    (void)state;
    assert_int_equal(
        key_counts_add(&counts, &column, 2, &limits, &fits, &error), VDBQ_OK);
    assert_false(fits);
    assert_int_equal(
        key_counts_add(&counts, &column, 1, &limits, &fits, &error), VDBQ_OK);
    assert_true(fits);
    column.values = (void *)(ends + 2);
    assert_int_equal(
        key_counts_add(&counts, &column, 1, &limits, &fits, &error), VDBQ_OK);
    assert_true(fits);
    assert_int_equal(counts.rows, 2);
    key_counts_finish(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_counted),
        cmocka_unit_test(once_takes_bits),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(ends_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
