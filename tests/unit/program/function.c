/* SPDX-License-Identifier: MIT */
/*
 * Functions on the host: calls as Lookup writes them, for a word, and what
 * they give. Where SQLite has the function, the answers are SQLite's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "program/functions/function.h"
#include "program/functions/function_table.h"

/* What a call gives, as text. */
struct expectation {
    const char *call;
    const char *word;
    const char *value; /* "NULL", "fails", a text or a number */
};

static const struct expectation expectations[] = {
    { "lower(?)", "AbÄ-Z[@", "abÄ-z[@" },
    { "upper(?)", "abä{z`", "ABä{Z`" },
    { "substr(?, 1, instr(?, '.') - 1)", "ab.cd", "ab" },
    { "substr(?, 1, instr(?, '.') - 1)", "abcd", "" },
    { "substr(?, -length(?) + 10 - instr(?, 'c'))", "abcdef", "abcdef" },
    { "substr('abcdef', length(?) - instr(?, '?') - -1, 2)", "ab", "cd" },
    { "replace(?, upper(substr(?, 1, 1)), ?)", "Ab", "Abb" },
    { "concat(?, '-', ?)", "ab", "ab-ab" },
    { "like(?, concat(substr(?, 1, 1), '%'))", "%b", "1" },
    { "like(?, concat(substr(?, 2, 1), '%'))", "ab", "0" },
    { "substr(?, unicode(substr(?, 9, 1)))", "ab", "NULL" },
    { "length(?)", "", "0" },
    { "length(?)", "aäß€😀", "5" },
    { "octet_length(?)", "aäß€😀", "12" },
    { "substr(?, 2)", "aäß€", "äß€" },
    { "substr(?, 2, 2)", "aäß€", "äß" },
    { "substr(?, 0)", "hello", "hello" },
    { "substr(?, 0, 2)", "hello", "h" },
    { "substr(?, -3)", "hello", "llo" },
    { "substr(?, -3, 2)", "hello", "ll" },
    { "substr(?, -7, 4)", "hello", "he" },
    { "substr(?, 3, -2)", "hello", "he" },
    { "substr(?, 1, -2)", "hello", "" },
    { "substr(?, 9)", "hello", "" },
    { "substr(?, 2, 0)", "hello", "" },
    { "substring('hello', 2, 3)", "", "fails" },
    { "trim(?)", "  a b ", "a b" },
    { "trim(?, 'xä')", "xäaäxä", "a" },
    { "ltrim(?)", "  a ", "a " },
    { "rtrim(?)", "  a ", "  a" },
    { "rtrim(?, 'äb')", "abäb", "a" },
    { "trim(?)", "   ", "" },
    { "replace(?, 'aa', 'b')", "aaaaa", "bba" },
    { "replace(?, '', 'b')", "abc", "abc" },
    { "replace(?, 'x', '')", "xaxbx", "ab" },
    { "replace('a-b', '-', ?)", "+++", "a+++b" },
    { "instr(?, 'ß')", "aäß€", "3" },
    { "instr(?, 'x')", "abc", "0" },
    { "instr(?, '')", "abc", "1" },
    { "concat('<', ?, '>')", "a", "<a>" },
    { "concat_ws(', ', 'a', ?, 'c')", "b", "a, b, c" },
    { "reverse(?)", "aäß€", "€ßäa" },
    { "repeat(?, 3)", "ab", "ababab" },
    { "repeat(?, -1)", "ab", "" },
    { "repeat(?, 1000000000)", "ab", "fails" },
    { "lpad(?, 5, 'äb')", "xy", "äbäxy" },
    { "lpad(?, 1)", "xy", "x" },
    { "rpad(?, 4)", "xy", "xy  " },
    { "rpad(?, 4, '')", "xy", "xy" },
    { "left(?, 2)", "äöü", "äö" },
    { "left(?, -1)", "äöü", "äö" },
    { "right(?, 2)", "äöü", "öü" },
    { "right(?, -1)", "äöü", "öü" },
    { "right(?, 9)", "äöü", "äöü" },
    { "starts_with(?, 'ab')", "abc", "1" },
    { "starts_with(?, 'abcd')", "abc", "0" },
    { "ends_with(?, 'bc')", "abc", "1" },
    { "contains(?, 'b')", "abc", "1" },
    { "contains(?, 'x')", "abc", "0" },
    { "split_part(?, ',', 2)", "a,b,c", "b" },
    { "split_part(?, ',', -1)", "a,b,c", "c" },
    { "split_part(?, ',', 4)", "a,b,c", "" },
    { "hex(?)", "aÄ\n", "61C3840A" },
    { "unicode(?)", "€uro", "8364" },
    { "unicode(?)", "", "NULL" },
    { "like(?, 'a%')", "ABC", "1" },
    { "like(?, '%b%')", "abc", "1" },
    { "like(?, '_b_')", "abc", "1" },
    { "like(?, '_')", "ä", "1" },
    { "like(?, '__')", "ä", "0" },
    { "like(?, 'Ä')", "ä", "0" },
    { "like(?, '')", "", "1" },
    { "like(?, '%')", "", "1" },
    { "like(?, '')", "a", "0" },
    { "like(?, '%a%b%c')", "xxaxxbxbxc", "1" },
    { "like(?, 'a\\%b', '\\')", "a%b", "1" },
    { "like(?, 'a\\%b', '\\')", "axb", "0" },
    { "like(?, '%\\_', '\\')", "ab_", "1" },
    { "like(?, 'it''s %')", "It's so", "1" },
    { "like(?, 'a%%%b')", "ab", "1" },
    { "like('abc', ?)", "a%", "1" },
    { "glob(?, 'a*')", "abc", "1" },
    { "glob(?, 'A*')", "abc", "0" },
    { "glob(?, '?b[a-c]')", "abc", "1" },
    { "glob(?, '?b[^a-c]')", "abc", "0" },
    { "glob(?, '*[]]')", "a]", "1" },
    { "glob(?, '[a')", "a", "0" },
    { "to_date(?)", "2024-02-29", "19782" },
    { "to_date(?)", "2023-02-29", "fails" },
    { "to_date(?)", "1969-12-31", "-1" },
    { "to_date(?)", "2024-02-29 13:05:00", "19782" },
    { "to_moment(?)", "1970-01-02 00:00:01.5", "86401500000" },
    { "to_moment(?)", "noon", "NULL" },
    { "to_moment(?)", "12:30", "946729800000000" },
    { "to_moment(?)", "2440588.5", "86400000000" },
    { "to_moment(?)", "12", "NULL" },
    { "to_moment(?)", "1e300", "NULL" },
    { "moved(0, ?)", "+1.5 days", "129600000000" },
    { "moved(0, ?)", "-1 MONTH", "-2678400000000" },
    { "moved(0, ?)", "+1.5 months", "3974400000000" },
    { "moved(2505600000000, ?)", "+1 month", "5184000000000" },
    { "moved(0, ?)", "-00:00:01.5", "-1500000" },
    { "moved(86400000001, ?)", "start of day", "86400000000" },
    { "moved(86400000001, ?)", "start of year", "0" },
    { "moved(0, ?)", "weekday 4", "0" },
    { "moved(0, ?)", "weekday 3", "518400000000" },
    { "moved(-345600000000, ?)", "weekday 0", "-345600000000" },
    { "moved(0, ?)", "+8100 years", "NULL" },
    { "moved(0, ?)", "-1e18 seconds", "NULL" },
    { "moved(0, ?)", "tomorrow", "NULL" },
    { "moved(0, ?)", "", "NULL" },
    { "to_decimal(?, 100, 200)", "1", "fails" },
    { "to_date(?)", "0001-01-01", "-719162" },
    { "to_date(?)", "today", "fails" },
    { "to_timestamp(?)", "1969-12-31T23:59:59Z", "-1000000" },
    { "to_integer(?)", " -12abc", "-12" },
    { "to_integer(?)", "abc", "0" },
    { "to_integer(?)", "2147483648", "fails" },
    { "to_smallint(?)", "32767.9", "32767" },
    { "to_bigint(?)", "-9223372036854775808", "-9223372036854775808" },
    { "to_bigint(?)", "99999999999999999999", "9223372036854775807" },
    { "to_bigint(?)", "1e3", "1" },
    { "to_double(?)", "1.5e2x", "150" },
    { "to_double(?)", ".", "0" },
    { "to_double(?)", ".5", "0.5" },
    { "to_decimal(?, 5, 2)", "123.455", "12346" },
    { "to_decimal(?, 5, 2)", "-123.454", "-12345" },
    { "to_decimal(?, 5, 2)", "1000", "fails" },
    { "to_decimal(?, 5, 2)", "1.5e1", "1500" },
    { "to_decimal(?, 5, 2)", "999.995", "fails" },
    { "to_decimal(?, 5, 2)", "0.00499", "0" },
    { "to_decimal(?, 18, 0)", "999999999999999999", "999999999999999999" },
    { "to_boolean(?)", "TRUE", "1" },
    { "to_boolean(?)", "off", "0" },
    { "to_boolean(?)", "maybe", "fails" },
};

/* Calls made directly: arguments that are no texts. */
struct direct {
    const char *name;
    struct function_value arguments[2];
    const char *value;
};

static const struct direct directs[] = {
    { "from_integer", { { .integer = INT64_MIN } }, "-9223372036854775808" },
    { "from_double", { { .real = 2 } }, "2.0" },
    { "from_double", { { .real = 0.1 } }, "0.1" },
    { "from_double", { { .real = 1e300 } }, "1.0e+300" },
    { "from_float", { { .real = 0.1f } }, "0.1" },
    { "from_decimal", { { .integer = -1250 }, { .integer = 2 } }, "-12.50" },
    { "from_decimal", { { .integer = 5 }, { .integer = 2 } }, "0.05" },
    { "from_decimal", { { .integer = 7 }, { .integer = 0 } }, "7" },
    { "from_boolean", { { .integer = 1 } }, "true" },
    { "from_date", { { .integer = 19782 } }, "2024-02-29" },
    { "from_date", { { .integer = -719162 } }, "0001-01-01" },
    { "from_timestamp", { { .integer = -1 } }, "1969-12-31 23:59:59.999999" },
    { "from_timestamp", { { .integer = 0 } }, "1970-01-01 00:00:00" },
    { "strftime",
      { { .text = { "%Y-%m-%d %H:%M:%S %j %w %W %%", 29 } },
        { .integer = 1709211900000000 } },
      "2024-02-29 13:05:00 060 4 09 %" },
    { "strftime",
      { { .text = { "%A %b %e %I %p %V %G", 20 } }, { .integer = 0 } },
      "Thursday Jan  1 12 AM 01 1970" },
    { "strftime", { { .text = { "%", 1 } }, { .integer = 0 } }, "NULL" },
    { "char",
      { { .integer = 8364 }, { .integer = 0x110000 } },
      "€\xef\xbf\xbd" },
};

static void print(const struct function *function, enum vdbq_status status,
                  const struct function_value *value, char *room, size_t size)
{
    if (status != VDBQ_OK)
        snprintf(room, size, "fails");
    else if (value->null)
        snprintf(room, size, "NULL");
    else if (function->result == VDBQ_TEXT)
        snprintf(room, size, "%.*s", (int)value->text.length,
                 value->text.bytes);
    else if (function->result == VDBQ_DOUBLE || function->result == VDBQ_FLOAT)
        snprintf(room, size, "%.17g", value->real);
    else
        snprintf(room, size, "%lld", (long long)value->integer);
}

static void expect(const struct expectation *expected)
{
    struct arena arena = { 0 };
    struct error error = { 0 };
    struct function_lookup lookup;
    struct function_value value = { 0 };
    char got[256] = "fails";

    if (function_lookup_read(expected->call, &arena, &lookup, &error)
        == VDBQ_OK) {
        struct vdbq_text word = { expected->word, strlen(expected->word) };
        enum vdbq_status status = function_lookup_call(
            &lookup, lookup.arguments, word, &arena, &value, &error);
        assert_true(status == VDBQ_OK || lookup.function->fails
                    || lookup.nests);
        assert_true(!value.null || lookup.function->nulls || lookup.nests
                    || status != VDBQ_OK);
        print(lookup.function, status, &value, got, sizeof got);
    }
    if (strcmp(got, expected->value) != 0)
        fail_msg("%s of \"%s\" gives \"%s\", not \"%s\"", expected->call,
                 expected->word, got, expected->value);
    arena_finish(&arena);
}

static void calls_give_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++)
        expect(&expectations[i]);
}

static void values_become_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof directs / sizeof *directs; i++) {
        const struct function *function = function_find(directs[i].name);
        struct arena arena = { 0 };
        struct error error = { 0 };
        struct function_value value;
        char got[256];
        assert_non_null(function);
        unsigned count = function->most > 2 ? 2 : function->most;
        enum vdbq_status status = function_call(function, directs[i].arguments,
                                                count, &arena, &value, &error);
        print(function, status, &value, got, sizeof got);
        assert_string_equal(got, directs[i].value);
        arena_finish(&arena);
    }
}

static void malformed_calls_are_refused(void **state)
{
    static const char *const calls[] = {
        "",
        "lower",
        "lower(",
        "lower(?",
        "lower()",
        "lower(?) ",
        "lower(?, ?)",
        "nothing(?)",
        "lower('a')",
        "substr(?, 'a')",
        "substr(?, 2, 3, 4)",
        "substr(?, ?)",
        "like(?, 'a)",
        "like(?, 2)",
        "substr('a', ?)",
        "substr('a', 2)",
        "substr(?, instr(?, '.')",
        "substr(?, instr(?, '.') -)",
        "substr(?, instr(?, '.') - ?)",
        "substr(?, instr(?, '.') * 2)",
        "substr(?, 2 - instr(?, '.'))",
        "substr(?, lower(?))",
        "substr(length(?), 1)",
        "lower(-lower(?))",
        "lower(lower(?) + lower(?))",
        "substr(?, to_double(?))",
        "round(length(?))",
        "lower(lower(lower(lower(lower(lower(lower(lower(lower(?)))))))))",
    };
    struct arena arena = { 0 };
    struct error error = { 0 };
    struct function_lookup lookup;

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_int_equal(
            function_lookup_read(calls[i], &arena, &lookup, &error),
            VDBQ_PROGRAM);
    arena_finish(&arena);
}

/* -------------------------------------------------------------- patterns -- */

/* What patterns and texts of the test are made of, and how they are written. */
static const char *const letters[] = { "a", "A", "b", "B", "Z", "[",
                                       "{", "@", "`", "é", "É", "日",
                                       "%", "*", "_", "?", "!", "\xa9" };
enum { LETTERS = sizeof letters / sizeof *letters };

struct plain {
    char any, one, escape;
    bool folds;
};

static bool same_letter(const struct plain *plain, char a, char b)
{
    bool letter = (a >= 'a' && a <= 'z') || (a >= 'A' && a <= 'Z');
    return a == b || (plain->folds && letter && (a ^ b) == 0x20);
}

static const char *next_character(const char *at)
{
    const char *from = at++;
    while (at - from < 4 && ((unsigned char)*at & 0xc0) == 0x80)
        at++;
    return at;
}

/* What LIKE means, tried in all ways. */
static bool plain_match(const struct plain *plain, const char *pattern,
                        const char *text)
{
    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern == plain->any)
        return plain_match(plain, pattern + 1, text)
               || (*text != '\0'
                   && plain_match(plain, pattern, next_character(text)));
    if (*text == '\0')
        return false;
    if (*pattern == plain->one)
        return plain_match(plain, pattern + 1, next_character(text));
    if (plain->escape != '\0' && *pattern == plain->escape
        && *++pattern == '\0')
        return false;
    for (const char *end = next_character(pattern); pattern < end; pattern++)
        if (!same_letter(plain, *pattern, *text++))
            return false;
    return plain_match(plain, pattern, text);
}

static unsigned long long seed = 20240607;

static unsigned chance(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

/* A text of up to so many of the first letters, ten bytes' room for each. */
static void make_text(char *room, unsigned most, unsigned first)
{
    *room = '\0';
    for (unsigned i = chance(most + 1); i > 0; i--)
        strcat(room, letters[chance(first)]);
}

/* Every way to call it gives what the plain matcher gives. */
static void expect_match(const char *call, const struct plain *plain,
                         const char *pattern, const char *text)
{
    struct arena arena = { 0 };
    struct error error = { 0 };
    struct function_lookup lookup;
    struct function_value value;
    bool expected = plain_match(plain, pattern, text);
    assert_int_equal(function_lookup_read(call, &arena, &lookup, &error),
                     VDBQ_OK);
    for (int ways = 0; ways < 2; ways++) {
        lookup.arguments[0].text = (struct vdbq_text){ text, strlen(text) };
        assert_int_equal(function_call(lookup.function, lookup.arguments,
                                       lookup.count, &arena, &value, &error),
                         VDBQ_OK);
        if (value.integer != expected)
            fail_msg("%s of \"%s\" is %d", call, text, (int)value.integer);
        lookup.arguments[1].pattern = NULL; /* as where it is not constant */
    }
    arena_finish(&arena);
}

static void patterns_match_as_a_plain_matcher_says(void **state)
{
    static const struct plain styles[] = { { '%', '_', '\0', true },
                                           { '%', '_', '!', true },
                                           { '*', '?', '\0', false } };
    static const char *const calls[] = { "like(?, '", "like(?, '",
                                         "glob(?, '" };
    static const char *const ends[] = { "')", "', '!')", "')" };
    char pattern[100], text[400], call[200];

    (void)state;
    for (int i = 0; i < 60000; i++) {
        int style = i % 3;
        /* few letters match often; few patterns have characters cut in two */
        unsigned of_text = 2 + chance(chance(4) == 0 ? LETTERS - 1 : 5);
        make_text(text, chance(2) ? 6 : 40, of_text);
        make_text(pattern, 7, chance(4) == 0 ? LETTERS : LETTERS - 1);
        if (chance(2) == 0) /* a part of the text, between two "any"s */
            sprintf(pattern, "%c%.*s%c", styles[style].any, (int)chance(9),
                    text + chance((unsigned)strlen(text) + 1),
                    styles[style].any);
        if (style == 2 && strchr(pattern, '[') != NULL)
            continue; /* a set, which the plain matcher has not */
        snprintf(call, sizeof call, "%s%s%s", calls[style], pattern,
                 ends[style]);
        expect_match(call, &styles[style], pattern, text);
    }
}

/* Each row of the table is found by its name, and is the only one of it. */
static void names_are_found_without_case(void **state)
{
#define PASS(...)
#define NAME(name, least, most, gives, takes, may, body, meaning) #name,
    static const char *const names[] = { SCALAR_FUNCTIONS(PASS, PASS, NAME)
                                             INNER_FUNCTIONS(NAME) };
    const size_t count = sizeof names / sizeof *names;

    (void)state;
    assert_ptr_equal(function_find("LOWER"), function_find("lower"));
    assert_null(function_find("low"));
    for (size_t i = 0; i < count; i++) {
        const struct function *function = function_find(names[i]);
        assert_non_null(function);
        assert_string_equal(function->name, names[i]);
        for (size_t j = i + 1; j < count; j++)
            assert_ptr_not_equal(function, function_find(names[j]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_give_what_they_should),
        cmocka_unit_test(values_become_texts),
        cmocka_unit_test(malformed_calls_are_refused),
        cmocka_unit_test(patterns_match_as_a_plain_matcher_says),
        cmocka_unit_test(names_are_found_without_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
