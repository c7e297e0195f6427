/* SPDX-License-Identifier: MIT */
/*
 * Gathered words: whatever threads put in comes back by its number, and numbers
 * say as much as was asked of them; sorted, they are whole or nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/dictionary_sort.h"
#include "data/tablet/gather.h"
#include "fixtures/chance.h"

enum { GATHERS = 5, TEXTS_MAX = 30000, BYTES = 40 };

/* Texts as several threads make them. */
struct made {
    struct gather gathers[GATHERS];
    size_t counts[GATHERS];
    char (*bytes[GATHERS])[BYTES];
    uint32_t *places[GATHERS];
};

static struct vdbq_text made_text(const struct made *made, unsigned i, size_t k)
{
    const char *bytes = made->bytes[i][k];
    return (struct vdbq_text){ bytes, strlen(bytes) };
}

/* Puts `count` texts of `kinds` into each gather but one, which stays empty. */
static void make(struct made *made, size_t count, unsigned kinds)
{
    *made = (struct made){ 0 };
    for (unsigned i = 0; i < GATHERS; i++) {
        made->counts[i] = i == 2 ? 0 : count;
        made->bytes[i] = calloc(count + 1, sizeof *made->bytes[i]);
        made->places[i] = calloc(count + 1, sizeof *made->places[i]);
        gather_init(&made->gathers[i]);
        for (size_t k = 0; k < made->counts[i]; k++) {
            unsigned kind = (unsigned)chance_below(kinds);
            snprintf(made->bytes[i][k], BYTES, "%.*s%u", (int)(kind % 25),
                     "the beginning of many a text", kind);
            if (kind == 3)
                made->bytes[i][k][0] = '\0';
            assert_true(gather_add(&made->gathers[i], made_text(made, i, k),
                                   &made->places[i][k]));
        }
    }
}

static void finish(struct made *made)
{
    for (unsigned i = 0; i < GATHERS; i++) {
        gather_finish(&made->gathers[i]);
        free(made->bytes[i]);
        free(made->places[i]);
    }
}

static uint32_t number_of(const struct made *made, unsigned i, size_t k)
{
    return made->gathers[i].numbers[made->places[i][k]];
}

/* Every text comes back. */
static void expect_texts(const struct made *made,
                         const struct dictionary *words)
{
    for (unsigned i = 0; i < GATHERS; i++)
        for (size_t k = 0; k < made->counts[i]; k++) {
            assert_true(number_of(made, i, k) < words->count);
            assert_int_equal(
                text_compare(dictionary_text(words, number_of(made, i, k)),
                             made_text(made, i, k)),
                0);
        }
}

/* Words are different: as many as those that are sorted. */
static void expect_different(const struct made *made,
                             const struct dictionary *words)
{
    size_t count = 0;
    struct vdbq_text *texts =
        calloc((size_t)GATHERS * TEXTS_MAX, sizeof *texts);
    for (unsigned i = 0; i < GATHERS; i++)
        for (size_t k = 0; k < made->counts[i]; k++)
            texts[count++] = made_text(made, i, k);
    struct dictionary *sorted = dictionary_make(texts, count, NULL);
    assert_int_equal(words->count, sorted->count);
    for (uint32_t i = 0; !words->unordered && i < words->count; i++)
        assert_int_equal(
            text_compare(dictionary_text(words, i), dictionary_text(sorted, i)),
            0);
    dictionary_release(sorted);
    free(texts);
}

/* Numbers rise with each word that comes first, whoever counts. */
static void expect_first_come(const struct made *made,
                              const struct dictionary *words)
{
    uint32_t next = 0;
    for (unsigned i = 0; i < GATHERS; i++)
        for (size_t k = 0; k < made->counts[i]; k++) {
            assert_true(number_of(made, i, k) <= next);
            next += number_of(made, i, k) == next;
        }
    assert_int_equal(next, words->count);
}

static void expect(size_t count, unsigned kinds, enum texts_use use,
                   unsigned threads)
{
    struct made made;
    make(&made, count, kinds);
    struct dictionary *words =
        gather_together(made.gathers, GATHERS, use, threads);
    assert_non_null(words);
    expect_texts(&made, words);
    if (use == TEXTS_ORDERED)
        assert_false(words->unordered);
    if (use != TEXTS_GIVEN)
        expect_different(&made, words);
    if (use == TEXTS_COMPARED)
        expect_first_come(&made, words);
    dictionary_release(words);
    finish(&made);
}

static void texts_come_back(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 65, 3000, TEXTS_MAX };
    static const unsigned kinds[] = { 1, 7, 4000, 1000000 };
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (unsigned use = TEXTS_GIVEN; use <= TEXTS_ORDERED; use++)
                expect(counts[i], kinds[k], (enum texts_use)use,
                       1 + (unsigned)(i + k) % 4);
}

/* Puts numbers from `first` to `end` into a gather, as texts. */
static void add_numbers(struct gather *gather, unsigned first, unsigned end,
                        uint32_t *places)
{
    for (unsigned i = first; i < end; i++) {
        char bytes[BYTES];
        int length = snprintf(bytes, sizeof bytes, "%u", i);
        assert_true(gather_add(
            gather, (struct vdbq_text){ bytes, (size_t)length }, &places[i]));
    }
}

/* Among many different texts nobody looks for equal ones before the end, where
 * they are found. Where few come, each is copied once. */
static void few_texts_come_again(void **state)
{
    enum { DIFFERENT = 100000, AGAIN = 1000 };
    uint32_t *places = calloc(DIFFERENT, sizeof *places), before[AGAIN];
    struct gather gather;
    (void)state;
    gather_init(&gather);
    add_numbers(&gather, 0, DIFFERENT, places);
    memcpy(before, places, sizeof before);
    assert_true(gather.is_off);
    add_numbers(&gather, 0, AGAIN, places);
    assert_int_equal(gather.count, DIFFERENT + AGAIN);
    struct dictionary *words = gather_together(&gather, 1, TEXTS_COMPARED, 2);
    assert_int_equal(words->count, DIFFERENT);
    for (unsigned i = 0; i < AGAIN; i++)
        assert_int_equal(gather.numbers[places[i]], gather.numbers[before[i]]);
    dictionary_release(words);
    gather_finish(&gather);
    gather_init(&gather);
    for (unsigned i = 0; i < DIFFERENT / AGAIN; i++)
        add_numbers(&gather, 0, AGAIN, places);
    assert_false(gather.is_off);
    gather_finish(&gather);
    free(places);
}

/* A join sorts what is in no order, also where words are there twice. */
static void unordered_words_are_joined(void **state)
{
    (void)state;
    for (unsigned use = TEXTS_GIVEN; use <= TEXTS_COMPARED; use++) {
        struct made made[2];
        struct dictionary *parts[2];
        uint32_t *numbers[2];
        for (unsigned i = 0; i < 2; i++) {
            make(&made[i], 2000, 3000);
            parts[i] = gather_together(made[i].gathers, GATHERS,
                                       (enum texts_use)use, 2);
            assert_true(parts[i]->unordered);
            numbers[i] = calloc(parts[i]->count, sizeof *numbers[i]);
        }
        struct dictionary *all = dictionary_join(parts, 2, numbers, 3);
        assert_false(all->unordered);
        for (uint32_t i = 1; i < all->count; i++)
            assert_true(text_compare(dictionary_text(all, i - 1),
                                     dictionary_text(all, i))
                        < 0);
        for (unsigned i = 0; i < 2; i++) {
            for (uint32_t k = 0; k < parts[i]->count; k++)
                assert_int_equal(
                    text_compare(dictionary_text(all, numbers[i][k]),
                                 dictionary_text(parts[i], k)),
                    0);
            dictionary_release(parts[i]);
            free(numbers[i]);
            finish(&made[i]);
        }
        dictionary_release(all);
    }
}

/* Each word has the number of its like, or none has it there. */
static void expect_translated(const struct dictionary *from,
                              const struct dictionary *to)
{
    uint32_t *numbers = dictionary_translate(from, to, 3);
    uint32_t *order = calloc((to != NULL ? to->count : 0) + 1, sizeof *order);
    struct dictionary *sorted =
        to != NULL && to->unordered
            ? dictionary_sorted((struct dictionary *)to, order, 1)
            : dictionary_hold((struct dictionary *)to);
    assert_non_null(numbers);
    for (uint32_t i = 0; from != NULL && i < from->count; i++) {
        struct vdbq_text text = dictionary_text(from, i);
        uint32_t place;
        bool found = sorted != NULL && dictionary_find(sorted, text, &place);
        assert_int_equal(numbers[i] != DICTIONARY_NONE, found);
        if (found)
            assert_int_equal(
                text_compare(dictionary_text(to, numbers[i]), text), 0);
    }
    dictionary_release(sorted);
    free(order);
    paged_release(numbers);
}

/* Words are found among others, in whatever order either are, also where those that
 * are looked for are there twice. */
static void words_in_any_order_are_translated(void **state)
{
    static const size_t counts[] = { 1, 2000, TEXTS_MAX };
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned use = TEXTS_GIVEN; use <= TEXTS_ORDERED; use++) {
            struct made made[2];
            make(&made[0], 3000, 5000);
            make(&made[1], counts[i], 7000);
            struct dictionary *to =
                gather_together(made[0].gathers, GATHERS, TEXTS_COMPARED, 2);
            struct dictionary *from = gather_together(made[1].gathers, GATHERS,
                                                      (enum texts_use)use, 2);
            expect_translated(from, to);
            expect_translated(NULL, to);
            expect_translated(from, NULL);
            if (!from->repeats)
                expect_translated(to, from);
            dictionary_release(to);
            dictionary_release(from);
            finish(&made[0]);
            finish(&made[1]);
        }
}

/* ------------------------------------------------------ sorting that is stopped -- */

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

/* Asked to stop at any moment, all is sorted, or there is nothing. */
static void sorting_is_whole_or_nothing(void **state)
{
    const struct memory_calls calls = memory_calls;

    (void)state;
    for (unsigned round = 0; round < fewer(5); round++) {
        struct dictionary *words = any_words();
        uint64_t ask = 1;
        memory_calls.resize = resize_dirty;
        memory_calls.release = free;
        for (; !stopped_at(words, ask); ask += FEWER)
            assert_true(ask < WORDS);
        memory_calls = calls;
        dictionary_release(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(few_texts_come_again),
        cmocka_unit_test(unordered_words_are_joined),
        cmocka_unit_test(words_in_any_order_are_translated),
        cmocka_unit_test(sorting_is_whole_or_nothing),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
