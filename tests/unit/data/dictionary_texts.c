/* SPDX-License-Identifier: MIT */
/* Texts of rows by the numbers of their words: data/tablet/dictionary_texts.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/paged.h"
#include "data/tablet/dictionary_texts.h"
#include "fixtures/chance.h"

enum { WORDS = 50000, ROWS = 70000, LENGTH = 200 };

/* Words of 0 to LENGTH bytes, different ones. */
static struct dictionary *make_words(void)
{
    static char bytes[WORDS][LENGTH + 1];
    static struct vdbq_text texts[WORDS];
    for (unsigned i = 0; i < WORDS; i++) {
        size_t length = i % LENGTH;
        memset(bytes[i], 'x', LENGTH);
        int written = snprintf(bytes[i], LENGTH, "%08u", i);
        if (length < (size_t)written && i > 0)
            length = (size_t)written;
        bytes[i][written] = 'x';
        texts[i] = (struct vdbq_text){ bytes[i], length };
    }
    struct dictionary *words = dictionary_make(texts, WORDS, NULL);
    assert_non_null(words);
    assert_int_equal(words->count, WORDS);
    return words;
}

/* Looks rows up, and compares each with what its word is. */
static void expect_rows(struct dictionary_texts *texts,
                        const struct dictionary *words, const uint32_t *numbers,
                        uint64_t count)
{
    assert_true(dictionary_texts_look_up(texts, words, numbers, count));
    for (uint64_t i = 0; i < count; i++) {
        struct vdbq_text text = dictionary_text(words, numbers[i]);
        assert_int_equal(texts->texts[i].length, text.length);
        assert_memory_equal(texts->texts[i].bytes, text.bytes, text.length);
    }
}

/* Rows in any order, rows that have no word, one row, none. */
static void look_up_all(const struct dictionary *words)
{
    static uint32_t numbers[ROWS];
    struct dictionary_texts texts = { 0 };
    for (unsigned i = 0; i < ROWS; i++)
        numbers[i] = (uint32_t)chance_below(WORDS + 5);
    numbers[7] = UINT32_MAX;
    expect_rows(&texts, words, numbers, ROWS);
    expect_rows(&texts, words, numbers + 7, 1);
    expect_rows(&texts, words, numbers, 0);
    expect_rows(&texts, words, numbers + 1, ROWS / 2);
    expect_rows(&texts, NULL, numbers, 3);
    for (unsigned i = 0; i < ROWS; i++)
        numbers[i] = i % 2 == 0 ? WORDS - 1 : 0;
    expect_rows(&texts, words, numbers, ROWS);
    dictionary_texts_finish(&texts);
}

static void texts_in_memory_are_found(void **state)
{
    struct dictionary *words = make_words();
    (void)state;
    assert_false(dictionary_in_file(words));
    look_up_all(words);
    dictionary_release(words);
}

static void texts_in_files_are_copied(void **state)
{
    (void)state;
    paged_limit(0);
    struct dictionary *words = make_words();
    assert_true(dictionary_in_file(words));
    look_up_all(words);
    dictionary_release(words);
    assert_int_equal(paged_in_files(), 0);
    paged_limit(UINT64_MAX);
}

/* As many words, in parts: one of them twice, and one without words. */
static struct dictionary *make_parts(void)
{
    static const struct vdbq_text texts[] = { { "a", 1 }, { "b", 1 } };
    struct dictionary *words = make_words();
    struct dictionary *few = dictionary_make(texts, 2, NULL);
    struct dictionary *none = dictionary_make(NULL, 0, NULL);
    struct dictionary *list[] = { few, none, words, few };
    struct dictionary *parts = dictionary_of_parts(list, 4);
    assert_non_null(parts);
    assert_int_equal(parts->count, WORDS + 4);
    dictionary_release(words);
    dictionary_release(few);
    dictionary_release(none);
    return parts;
}

static void texts_of_parts_are_found(void **state)
{
    struct dictionary *words = make_parts();
    (void)state;
    assert_false(dictionary_in_file(words));
    look_up_all(words);
    dictionary_release(words);
    paged_limit(0);
    words = make_parts();
    assert_true(dictionary_in_file(words));
    look_up_all(words);
    dictionary_release(words);
    assert_int_equal(paged_in_files(), 0);
    paged_limit(UINT64_MAX);
}

/* KiB of files that this process has in memory. */
static unsigned long file_kib(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "RssFile:", 8) == 0
            || strncmp(line, "RssShmem:", 9) == 0)
            kib += strtoul(strchr(line, ':') + 1, NULL, 10);
    fclose(status);
    return kib;
}

/* Of words that are a dictionary, or one of its parts. */
static void expect_leaving(struct dictionary *words,
                           const struct dictionary *all)
{
    static uint32_t numbers[ROWS];
    struct dictionary_texts texts = { 0 };
    paged_leave(words, words->ends, WORDS * sizeof *words->ends);
    paged_leave(words, words->bytes, words->ends[WORDS - 1]);
    unsigned long before = file_kib();
    for (unsigned i = 0; i < ROWS; i++)
        numbers[i] = (uint32_t)chance_below(WORDS);
    assert_true(dictionary_texts_look_up(&texts, all, numbers, ROWS));
    assert_true(file_kib() < before + 1024);
    assert_true(words->ends[WORDS - 1] > 4u << 20);
    dictionary_texts_finish(&texts);
}

static void pages_of_files_leave(void **state)
{
    (void)state;
    paged_limit(0);
    struct dictionary *words = make_words();
    expect_leaving(words, words);
    struct dictionary *all = dictionary_of_parts(&words, 1);
    assert_non_null(all);
    expect_leaving(words, all);
    dictionary_release(all);
    dictionary_release(words);
    paged_limit(UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_in_memory_are_found),
        cmocka_unit_test(texts_in_files_are_copied),
        cmocka_unit_test(texts_of_parts_are_found),
        cmocka_unit_test(pages_of_files_leave),
    };
    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
