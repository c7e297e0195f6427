/* SPDX-License-Identifier: MIT */
/*
 * Numbers of rows' words, of tables in memory and in files: any rows, some of which
 * have words that the table does not have, get those of a plain loop; also where
 * they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/paged.h"
#include "data/tablet/dictionary.h"
#include "exec/dictionary/dictionary_table.h"
#include "fixtures/random_rows.h"

enum { WORDS = 200000, ROWS = 50000 };

static uint32_t words[ROWS], expected[ROWS], numbers[ROWS];

/* A table of different numbers, in a file where no memory is to be had. */
static uint32_t *make_table(uint64_t memory)
{
    paged_limit(memory);
    uint32_t *table = paged_alloc(WORDS * sizeof *table);
    assert_non_null(table);
    for (uint32_t i = 0; i < WORDS; i++)
        table[i] = i * 2654435761U;
    return table;
}

/* Rows of a table's words below `span`, one of `none` of a word that it has not. */
static void make_rows(const uint32_t *table, uint32_t count, uint32_t span,
                      unsigned none)
{
    for (unsigned i = 0; i < ROWS; i++) {
        bool lacks = random_below(none) == 0;
        words[i] = lacks ? count + random_below(3) : random_below(span);
        expected[i] = words[i] < count ? table[words[i]] : DICTIONARY_NONE;
    }
}

static void check(const struct dictionary_table *table, uint64_t rows)
{
    memset(numbers, 0, sizeof numbers);
    dictionary_follow(table, words, rows, numbers);
    assert_memory_equal(numbers, expected, rows * sizeof *numbers);
    memcpy(numbers, words, sizeof numbers);
    dictionary_follow(table, numbers, rows, numbers);
    assert_memory_equal(numbers, expected, rows * sizeof *numbers);
    assert_memory_equal(numbers + rows, words + rows,
                        (ROWS - rows) * sizeof *numbers);
}

static void rows_get_those_of_a_plain_loop(void **state)
{
    (void)state;
    for (unsigned in_file = 0; in_file < 2; in_file++) {
        uint32_t *numbers_of = make_table(in_file ? 0 : UINT64_MAX);
        static const uint32_t counts[] = { WORDS, WORDS - 1, 1 << 16, 70000,
                                           3 };
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            const struct dictionary_table table = { numbers_of, counts[i] };
            assert_int_equal(dictionary_table_parts(&table), in_file);
            make_rows(numbers_of, counts[i], counts[i], 5);
            check(&table, ROWS);
            check(&table, 1025);
            check(&table, 7);
            make_rows(numbers_of, counts[i], 1 + counts[i] / 9, 1000);
            check(&table, ROWS - 1);
        }
        paged_release(numbers_of);
    }
    paged_limit(UINT64_MAX);
}

/* Without words there is no table. */
static void no_words_give_none(void **state)
{
    const struct dictionary_table table = { NULL, 0 };

    (void)state;
    make_rows(NULL, 0, 1, 1);
    assert_false(dictionary_table_parts(&table));
    check(&table, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_get_those_of_a_plain_loop),
        cmocka_unit_test(no_words_give_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
