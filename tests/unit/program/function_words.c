/* SPDX-License-Identifier: MIT */
/* Calls of many words at once give what they give of each word alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/functions/function.h"

enum { WORDS = 3000, WORD_BYTES = 40, UNTOUCHED = 77 };

static unsigned chance(unsigned below)
{
    static unsigned long long seed = 20240607;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

/* Words, and how many characters each one has been given. */
struct list {
    char bytes[WORDS * WORD_BYTES];
    uint32_t ends[WORDS];
    int64_t characters[WORDS];
};

/* Makes words of the first `kinds` of these characters: one kind has one byte. */
static void make_words(struct list *list, uint32_t first, uint32_t end,
                       unsigned kinds)
{
    static const char *const characters[] = { "a", "é", "日", "😀" };
    uint32_t at = first > 0 ? list->ends[first - 1] : 0;
    for (uint32_t i = first; i < end; i++) {
        unsigned count = chance(WORD_BYTES / 4);
        list->characters[i] = count;
        for (; count > 0; count--) {
            const char *one = characters[chance(kinds)];
            memcpy(list->bytes + at, one, strlen(one));
            at += (uint32_t)strlen(one);
        }
        list->ends[i] = at;
    }
}

static void read_call(const char *call, struct arena *arena,
                      struct function_lookup *lookup)
{
    struct error error = { 0 };
    assert_int_equal(function_lookup_read(call, arena, lookup, &error),
                     VDBQ_OK);
}

static int64_t call_of_one(const struct function_lookup *lookup,
                           const struct list *list, uint32_t word)
{
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX], value;
    struct arena arena = { 0 };
    struct error error = { 0 };
    uint32_t start = word > 0 ? list->ends[word - 1] : 0;
    struct vdbq_text text = { list->bytes + start, list->ends[word] - start };
    memcpy(arguments, lookup->arguments, sizeof arguments);
    assert_int_equal(
        function_lookup_call(lookup, arguments, text, &arena, &value, &error),
        VDBQ_OK);
    arena_finish(&arena);
    return value.integer;
}

/* Some of the words are asked for; the others' values stay as they are. */
static void expect_same(const char *call, const struct list *list,
                        uint32_t first, uint32_t end)
{
    struct arena arena = { 0 };
    struct function_lookup lookup;
    read_call(call, &arena, &lookup);
    unsigned width = function_words_width(&lookup);
    assert_in_set(width, ((const uintmax_t[]){ 1, 8 }), 2);
    struct function_words words = { list->bytes, list->ends, first, end };
    char *values = malloc((size_t)WORDS * width);
    assert_non_null(values);
    memset(values, UNTOUCHED, (size_t)WORDS * width);
    function_words_call(&lookup, &words, values);
    for (uint32_t i = 0; i < WORDS; i++) {
        int64_t value = values[i];
        if (width == sizeof value)
            memcpy(&value, values + i * sizeof value, sizeof value);
        if (i < first || i >= end)
            assert_int_equal(values[i * width], UNTOUCHED);
        else
            assert_int_equal(value, call_of_one(&lookup, list, i));
        if (width == sizeof value && i >= first && i < end)
            assert_int_equal(value, list->characters[i]);
    }
    free(values);
    arena_finish(&arena);
}

static void words_at_once_are_words_alone(void **state)
{
    static struct list list;
    (void)state;
    for (int i = 0; i < 20; i++) {
        uint32_t plain = chance(WORDS), mixed = plain + chance(WORDS - plain);
        make_words(&list, 0, plain, 1);
        make_words(&list, plain, mixed, 4);
        make_words(&list, mixed, WORDS, 2);
        uint32_t first = chance(WORDS), end = first + chance(WORDS - first) + 1;
        expect_same("length(?)", &list, 0, WORDS);
        expect_same("length(?)", &list, first, end);
        expect_same("like(?, '%aé%')", &list, first, end);
        expect_same("starts_with(?, 'aa')", &list, first, end);
    }
}

static void others_are_computed_word_by_word(void **state)
{
    static const char *const calls[] = { "length(lower(?))", "octet_length(?)",
                                         "like(lower(?), '%a%')",
                                         "instr(?, 'a')" };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct arena arena = { 0 };
        struct function_lookup lookup;
        read_call(calls[i], &arena, &lookup);
        assert_int_equal(function_words_width(&lookup), 0);
        arena_finish(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_at_once_are_words_alone),
        cmocka_unit_test(others_are_computed_word_by_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
