/* SPDX-License-Identifier: MIT */
/*
 * The cases and accents of all characters, as utf8proc knows them, and what
 * functions make of texts of whatever bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "program/letters/accent.h"
#include "program/functions/function.h"
#include "program/letters/letter.h"
#include "program/letters/utf8.h"

static bool is_other_version(void)
{
    const char *version = utf8proc_unicode_version();

    if (strcmp(version, letter_unicode) == 0)
        return false;
    print_message("utf8proc knows Unicode %s, we know %s\n", version,
                  letter_unicode);
    return true;
}

/* ------------------------------------------------------- all characters -- */

/* utf8proc gives it a capital, which in Unicode it has not: its uppercase is
 * SS, and U+1E9E has it as its small letter. */
enum { SHARP_S = 0xdf };

static uint32_t peer_upper(uint32_t c)
{
    return c == SHARP_S ? c : (uint32_t)utf8proc_toupper((utf8proc_int32_t)c);
}

static uint32_t peer_lower(uint32_t c)
{
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
}

/* utf8proc folds fully: where that gives several characters, simple folding
 * leaves the character or makes it small. */
static bool is_folded(uint32_t c, uint32_t folded)
{
    utf8proc_int32_t to[8];
    int boundary = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)c, to, 8, UTF8PROC_CASEFOLD, &boundary);

    if (count > 1)
        return folded == c || folded == peer_lower(c);
    return count == 1 && folded == (uint32_t)to[0];
}

static void all_characters_change_as_utf8proc_says(void **state)
{
    unsigned changed = 0;

    (void)state;
    if (is_other_version())
        skip();
    for (uint32_t c = 0; c <= UTF8_MAX; c++) {
        uint32_t upper = letter_changed(c, LETTER_UPPER);
        uint32_t lower = letter_changed(c, LETTER_LOWER);
        if (upper != peer_upper(c) || lower != peer_lower(c))
            fail_msg("U+%04X: %04X and %04X, not %04X and %04X", c, upper,
                     lower, peer_upper(c), peer_lower(c));
        if ((c < 0xd800 || c > 0xdfff)
            && !is_folded(c, letter_changed(c, LETTER_FOLD)))
            fail_msg("U+%04X is folded to %04X", c,
                     letter_changed(c, LETTER_FOLD));
        changed += upper != c || lower != c;
    }
    assert_true(changed > 2700);
}

/* Syllables of Hangul are made of letters that are no marks. */
static bool is_hangul(uint32_t c)
{
    return c >= 0xac00 && c <= 0xd7a3;
}

static void all_accents_are_those_of_utf8proc(void **state)
{
    (void)state;
    if (is_other_version())
        skip();
    for (uint32_t c = 0; c <= UTF8_MAX; c++) {
        utf8proc_int32_t to[20];
        int boundary = 0;
        utf8proc_ssize_t count;
        if ((c >= 0xd800 && c <= 0xdfff) || is_hangul(c)) {
            assert_false(accent_is_mark(c));
            assert_int_equal(accent_base(c), c);
            continue;
        }
        count = utf8proc_decompose_char((utf8proc_int32_t)c, to, 20,
                                        UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK,
                                        &boundary);
        if (accent_is_mark(c) != (count == 0)
            || (count > 0 && (count > 1 || accent_base(c) != (uint32_t)to[0])))
            fail_msg("U+%04X: U+%04X is left", c, accent_base(c));
    }
}

/* Beyond characters nothing changes, and nothing is read. */
static void what_is_no_character_stays(void **state)
{
    static const uint32_t none[] = { 0xd800, 0xdfff, 0x110000, 0x7fffffff,
                                     UINT32_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        for (enum letter_change c = LETTER_UPPER; c <= LETTER_NEXT; c++)
            assert_int_equal(letter_changed(none[i], c), none[i]);
    assert_int_equal(letter_next(UINT32_MAX), LETTER_NONE);
    assert_int_equal(accent_base(UINT32_MAX), UINT32_MAX);
    assert_false(accent_is_mark(UINT32_MAX));
}

/* A circle has all characters that are folded to the same, each once. */
static void circles_have_all_that_is_folded_to_the_same(void **state)
{
    uint8_t *alike = calloc(UTF8_MAX + 1, 1);

    (void)state;
    assert_non_null(alike);
    for (uint32_t c = 0; c <= UTF8_MAX; c++)
        alike[letter_changed(c, LETTER_FOLD)]++;
    for (uint32_t c = 0; c <= UTF8_MAX; c++) {
        uint32_t folded = letter_changed(c, LETTER_FOLD), at = c;
        int length = 0;
        do {
            assert_int_equal(letter_changed(at, LETTER_FOLD), folded);
            at = letter_changed(at, LETTER_NEXT);
            length++;
        } while (at != c && length < 9);
        assert_int_equal(length, alike[folded]);
    }
    free(alike);
}

static bool has_case(uint32_t c)
{
    bool found = false;

    for (enum letter_change change = LETTER_UPPER; change <= LETTER_NEXT;
         change++)
        found |= letter_changed(c, change) != c;
    return found;
}

static void letters_with_a_case_are_found_in_turn(void **state)
{
    uint32_t next = letter_next(0);

    (void)state;
    for (uint32_t c = 0; c <= UTF8_MAX; c++) {
        assert_int_equal(has_case(c), c == next);
        next = c == next ? letter_next(c + 1) : next;
    }
    assert_int_equal(next, LETTER_NONE);
}

/* ----------------------------------------------------------- functions -- */

/* What becomes of a character; NOTHING: it is left out. */
enum { NOTHING = 0x7fffffff };

static uint32_t to_upper(uint32_t c)
{
    return letter_changed(c, LETTER_UPPER);
}

static uint32_t to_lower(uint32_t c)
{
    return letter_changed(c, LETTER_LOWER);
}

static uint32_t to_folded(uint32_t c)
{
    return letter_changed(c, LETTER_FOLD);
}

static uint32_t to_base(uint32_t c)
{
    return accent_is_mark(c) ? NOTHING : accent_base(c);
}

static const struct {
    const char *name;
    uint32_t (*change)(uint32_t c);
} functions[] = { { "unicode_upper", to_upper },
                  { "unicode_lower", to_lower },
                  { "casefold", to_folded },
                  { "strip_accents", to_base } };
enum { FUNCTIONS = sizeof functions / sizeof *functions, LONGEST = 64 };

/* What utf8proc makes of a text: a byte that is none of UTF-8 stays. */
static size_t expected_text(const unsigned char *bytes, size_t length,
                            uint32_t (*change)(uint32_t c), char *to)
{
    const char *from = to;

    for (size_t at = 0; at < length;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t read =
            utf8proc_iterate(bytes + at, (utf8proc_ssize_t)(length - at), &c);
        if (read > 0 && change((uint32_t)c) != NOTHING)
            to += utf8proc_encode_char((utf8proc_int32_t)change((uint32_t)c),
                                       (utf8proc_uint8_t *)to);
        else if (read <= 0)
            *to++ = (char)bytes[at];
        at += read > 0 ? (size_t)read : 1;
    }
    return (size_t)(to - from);
}

/* All functions of a text, of which a copy ends where memory does. */
static void expect_functions(const unsigned char *bytes, size_t length)
{
    struct arena arena = { 0 };
    struct error error = { 0 };
    char *copy = malloc(length + (length == 0)), expected[2 * LONGEST];

    assert_non_null(copy);
    memcpy(copy, bytes, length);
    for (int i = 0; i < FUNCTIONS; i++) {
        const struct function_value argument = { .text = { copy, length } };
        struct function_value value = { 0 };
        size_t size =
            expected_text(bytes, length, functions[i].change, expected);
        assert_int_equal(function_call(function_find(functions[i].name),
                                       &argument, 1, &arena, &value, &error),
                         VDBQ_OK);
        assert_int_equal(value.text.length, size);
        assert_memory_equal(value.text.bytes, expected, size);
    }
    free(copy);
    arena_finish(&arena);
}

/* Of each character: alone, where most that can grow do, and among others. */
static void texts_of_each_character_change(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= UTF8_MAX; c++) {
        char bytes[4];
        unsigned char text[LONGEST];
        size_t length = utf8_write(c, bytes), at = 0;
        if (!has_case(c) && to_base(c) == c && c % 16 != 0)
            continue;
        expect_functions((const unsigned char *)bytes, length);
        for (int i = 0; i < 9; i++, at += length)
            memcpy(text + at, bytes, length);
        memcpy(text + at, "abcdefGHIJ", 10);
        memcpy(text + at + 10, bytes, length);
        expect_functions(text, at + 10 + length);
    }
}

/* Bytes that are no UTF-8: all of one or two, and the beginnings and ends of
 * longer ones. */
static void bytes_that_are_no_utf8_stay(void **state)
{
    static const unsigned char edges[] = { 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                           0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xe0,
                                           0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff };
    enum { EDGES = sizeof edges };
    unsigned char bytes[5] = { 0 };

    (void)state;
    expect_functions(bytes, 0);
    for (unsigned i = 0; i < 65536; i++) {
        bytes[0] = (unsigned char)(i >> 8);
        bytes[1] = (unsigned char)i;
        expect_functions(bytes, 1 + (i % 256 != 0));
    }
    for (unsigned i = 0; i < EDGES * EDGES * EDGES * EDGES; i++) {
        unsigned rest = i;
        for (int k = 0; k < 4; k++, rest /= EDGES)
            bytes[k] = edges[rest % EDGES];
        bytes[4] = 'q';
        expect_functions(bytes, 3 + i % 3);
    }
}

static unsigned long long seed = 20230914;

static unsigned chance(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static void random_texts_change(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        unsigned char text[LONGEST];
        size_t length = 0, most = chance(LONGEST - 8);
        while (length < most) {
            unsigned kind = chance(8);
            uint32_t letter = letter_next(chance(chance(2) ? 0x250 : 0x1e943));
            if (kind == 0)
                text[length++] = (unsigned char)chance(256);
            else if (kind < 4)
                text[length++] = (unsigned char)chance(128);
            else
                length += utf8_write(letter, (char *)text + length);
        }
        expect_functions(text, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_characters_change_as_utf8proc_says),
        cmocka_unit_test(all_accents_are_those_of_utf8proc),
        cmocka_unit_test(what_is_no_character_stays),
        cmocka_unit_test(circles_have_all_that_is_folded_to_the_same),
        cmocka_unit_test(letters_with_a_case_are_found_in_turn),
        cmocka_unit_test(texts_of_each_character_change),
        cmocka_unit_test(bytes_that_are_no_utf8_stay),
        cmocka_unit_test(random_texts_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
