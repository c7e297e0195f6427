/* SPDX-License-Identifier: MIT */
/* Sorting words may be stopped at any moment: all are sorted, or there is nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/dictionary_sort.h"
#include "fixtures/chance.h"

enum { WORDS = 30000, THREADS = 4, WORD_BYTES = 12 };

/* Memory that nobody wrote to has anything in it. */
static void *resize_dirty(void *old, size_t size)
{
    char *memory = realloc(old, size);

    for (size_t i = 0; old == NULL && memory != NULL && i < size; i++)
        memory[i] = (char)i;
    return memory;
}

/* Different words in any order. */
static struct dictionary *any_words(void)
{
    struct dictionary *words = dictionary_room(WORDS, WORDS * WORD_BYTES);
    uint32_t end = 0;

    assert_non_null(words);
    for (uint32_t i = 0; i < WORDS; i++) {
        char word[WORD_BYTES + 1];
        int length = snprintf(word, sizeof word, "%u_%u",
                              (unsigned)chance_below(1000), i);
        end = dictionary_put(words, i, end,
                             (struct vdbq_text){ word, (size_t)length });
    }
    words->unordered = true;
    return words;
}

static void expect_same(const struct dictionary *words,
                        const struct dictionary *sorted,
                        const uint32_t *numbers)
{
    assert_int_equal(sorted->count, WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_true(i == 0
                    || text_compare(dictionary_text(sorted, i - 1),
                                    dictionary_text(sorted, i))
                           < 0);
        assert_int_equal(text_compare(dictionary_text(words, i),
                                      dictionary_text(sorted, numbers[i])),
                         0);
    }
}

/* Sorts them, and is stopped by an ask; whether it had ended before that. */
static bool stopped_at(struct dictionary *words, uint64_t ask)
{
    static uint32_t numbers[WORDS];
    struct stop stop = { .cancelled = false };
    struct stop_work former;
    struct dictionary *sorted;
    bool late;

    stop_watch(true);
    stop_cancel_at(ask);
    former = stop_enter(&stop);
    sorted = dictionary_sorted(words, numbers, THREADS);
    stop_leave(former);
    late = stop_asks() < ask;
    stop_watch(false);
    if (late)
        assert_non_null(sorted);
    if (sorted != NULL)
        expect_same(words, sorted, numbers);
    dictionary_release(sorted);
    return late;
}

static void sorting_is_whole_or_nothing(void **state)
{
    struct dictionary *words = any_words();
    uint64_t ask = 1;

    (void)state;
    for (; !stopped_at(words, ask); ask += FEWER)
        assert_true(ask < WORDS);
    printf("%u asks\n", (unsigned)ask);
    dictionary_release(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_is_whole_or_nothing),
    };

    chance_start();
    memory_calls = (struct memory_calls){ resize_dirty, free };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
