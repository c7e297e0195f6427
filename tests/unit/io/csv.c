/* SPDX-License-Identifier: MIT */
/*
 * src/io: numbers to and from text against the C library, the CSV reader, the
 * buffered writer, widths of text. Random values hang on one printed seed.
 */
#include "io/csv.h"
#include "io/number.h"
#include "io/out.h"
#include "io/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 200000 };

static uint64_t state;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
}

static double random_double(unsigned kind)
{
    uint64_t bits = next_random();
    double value;
    switch (kind % 5) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return value;
    case 1:
        return (double)((int64_t)(bits % 2000001) - 1000000) / 1000;
    case 2:
        return ldexp((double)(bits >> 11), -53 - (int)(next_random() % 70));
    case 3:
        return ldexp(1, (int)(bits % 400) - 200);
    default:
        return (double)(bits % 1000000) / (double)(1 + next_random() % 1000);
    }
}

static const char *print_double(double value)
{
    static char room[NUMBER_ROOM + 1];
    *number_from_double(value, room) = 0;
    return room;
}

static const char *print_float(float value)
{
    static char room[NUMBER_ROOM + 1];
    *number_from_float(value, room) = 0;
    return room;
}

static void doubles_read_back(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double value = random_double(i), again;
        if (!isfinite(value))
            continue;
        const char *text = print_double(value);
        double expected = strtod(text, NULL);
        assert_memory_equal(&expected, &value, sizeof value);
        assert_non_null(strpbrk(text, ".e"));
        assert_int_equal(number_to_double(text, strlen(text), &again),
                         NUMBER_OK);
        assert_memory_equal(&again, &value, sizeof value);
    }
}

/* The digits of a text without zeros at either end. */
static int digits_in(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '0')
            zeros += count > 0;
        else if (*text >= '1' && *text <= '9')
            count += zeros + 1, zeros = 0;
    }
    return count;
}

/* Whether a number of so many digits beside the value reads back as it. */
static bool some_reads_back(double value, int count)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    char *power = strchr(text, 'e');
    int exponent = atoi(power + 1) - (count - 1);
    *power = 0;
    if (count > 1)
        memmove(text + 1, text + 2, strlen(text + 1));
    int64_t nearest = strtoll(text, NULL, 10);
    for (int64_t digits = nearest - 1; digits <= nearest + 1; digits++) {
        snprintf(text, sizeof text, "%" PRId64 "e%d", digits, exponent);
        if (strtod(text, NULL) == value)
            return true;
    }
    return false;
}

/* No text with fewer digits would do: also above powers of two, where the
 * nearest one may lie too far below. */
static void doubles_are_short(void **unused)
{
    (void)unused;
    for (int exponent = -1074; exponent < 1024; exponent++) {
        double value = ldexp(1, exponent);
        int count = digits_in(print_double(value));
        assert_true(count == 1 || !some_reads_back(value, count - 1));
        value = fabs(random_double((unsigned)exponent));
        if (!isfinite(value) || value == 0)
            continue;
        count = digits_in(print_double(value));
        assert_true(count == 1 || !some_reads_back(value, count - 1));
    }
}

static void floats_read_back(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        float value = (float)random_double(i), again;
        if (!isfinite(value))
            continue;
        const char *text = print_float(value);
        float expected = strtof(text, NULL);
        assert_memory_equal(&expected, &value, sizeof value);
        assert_true(strlen(text) <= 20);
        assert_int_equal(number_to_float(text, strlen(text), &again),
                         NUMBER_OK);
        assert_memory_equal(&again, &value, sizeof value);
    }
}

/* Texts of any precision are rounded as the C library rounds them. */
static void decimals_round_once(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char text[512];
        double real = random_double(i), value;
        float small;
        if (!isfinite(real) || fabs(real) > 1e300)
            continue;
        snprintf(text, sizeof text, i % 2 ? "%.*g" : "%.*e",
                 (int)(next_random() % 25), real);
        double expected = strtod(text, NULL);
        assert_int_equal(number_to_double(text, strlen(text), &value),
                         NUMBER_OK);
        assert_memory_equal(&value, &expected, sizeof value);
        float near = strtof(text, NULL);
        enum number_status status = number_to_float(text, strlen(text), &small);
        assert_int_equal(status, isinf(near) ? NUMBER_RANGE : NUMBER_OK);
        if (status == NUMBER_OK)
            assert_memory_equal(&small, &near, sizeof small);
    }
}

/* Decimals at and beside the middle between two floats. */
static void floats_are_rounded_once(void **unused)
{
    static const char *const texts[] = {
        "16777217",
        "16777217.0000000001",
        "16777216.9999999999",
        "1.00000005960464477539",
        "1.00000005960464477540",
        "1.00000005960464477538",
        "1.1754943e-38",
        "1e-45",
        "7.006e-46",
        "3.4028235e38",
        "3.40282356e38",
        "0.000000000000000000000000001",
    };
    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        float value = 0, expected = strtof(texts[i], NULL);
        assert_int_equal(number_to_float(texts[i], strlen(texts[i]), &value),
                         NUMBER_OK);
        assert_memory_equal(&value, &expected, sizeof value);
    }
}

static void floats_have_the_fewest_digits(void **unused)
{
    (void)unused;
    assert_string_equal(print_double(0.1), "0.1");
    assert_string_equal(print_double(1), "1.0");
    assert_string_equal(print_double(-0.0), "-0.0");
    assert_string_equal(print_double(1e22), "1e+22");
    assert_string_equal(print_double(1e-7), "1e-07");
    assert_string_equal(print_double(5e-324), "5e-324");
    assert_string_equal(print_double(0.0001), "0.0001");
    assert_string_equal(print_double(1e15), "1000000000000000.0");
    assert_string_equal(print_double(9007199254740993.0), "9007199254740992.0");
    assert_string_equal(print_double(1.7976931348623157e308),
                        "1.7976931348623157e+308");
    assert_string_equal(print_double(INFINITY), "inf");
    assert_string_equal(print_double(-INFINITY), "-inf");
    assert_string_equal(print_double(NAN), "nan");
    assert_string_equal(print_float(0.1f), "0.1");
    assert_string_equal(print_float(16777216.0f), "16777216.0");
    assert_string_equal(print_float(1e-45f), "1e-45");
    assert_string_equal(print_float(3.4028235e38f), "3.4028235e+38");
}

static void whole_numbers_are_printed(void **unused)
{
    char room[NUMBER_ROOM + 1], expected[32];
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        int64_t value = (int64_t)next_random() >> (next_random() % 64);
        value = i ? value : INT64_MIN;
        *number_from_int(value, room) = 0;
        snprintf(expected, sizeof expected, "%lld", (long long)value);
        assert_string_equal(room, expected);
    }
}

struct kind_case {
    const char *text;
    enum number_kind kind;
};

static void kinds(void **unused)
{
    static const struct kind_case cases[] = {
        { "", NUMBER_NOTHING },
        { "  ", NUMBER_NOTHING },
        { "NaN", NUMBER_NOTHING },
        { "-nan", NUMBER_NOTHING },
        { "0", NUMBER_INT32 },
        { " -7 ", NUMBER_INT32 },
        { "+7", NUMBER_INT32 },
        { "0000000000000000000007", NUMBER_INT32 },
        { "2147483647", NUMBER_INT32 },
        { "2147483648", NUMBER_INT64 },
        { "-2147483648", NUMBER_INT32 },
        { "-2147483649", NUMBER_INT64 },
        { "9223372036854775807", NUMBER_INT64 },
        { "9223372036854775808", NUMBER_DOUBLE },
        { "-9223372036854775808", NUMBER_INT64 },
        { "-9223372036854775809", NUMBER_DOUBLE },
        { "99999999999999999999", NUMBER_DOUBLE },
        { "1.", NUMBER_DOUBLE },
        { ".5", NUMBER_DOUBLE },
        { "-1.5e-3", NUMBER_DOUBLE },
        { "1E5", NUMBER_DOUBLE },
        { "inf", NUMBER_DOUBLE },
        { "-Infinity", NUMBER_DOUBLE },
        { ".", NUMBER_TEXT },
        { "-", NUMBER_TEXT },
        { "e5", NUMBER_TEXT },
        { "1e", NUMBER_TEXT },
        { "1 2", NUMBER_TEXT },
        { "0x10", NUMBER_TEXT },
        { "abc", NUMBER_TEXT },
        { "1,5", NUMBER_TEXT },
        { "12a", NUMBER_TEXT },
        { "--1", NUMBER_TEXT },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(number_kind(cases[i].text, strlen(cases[i].text)),
                         cases[i].kind);
}

static void ranges(void **unused)
{
    int32_t small;
    int64_t whole;
    double real;
    float narrow;
    (void)unused;
    assert_int_equal(number_to_int32("2147483648", 10, &small), NUMBER_RANGE);
    assert_int_equal(number_to_int32("1.0", 3, &small), NUMBER_WRONG);
    assert_int_equal(number_to_int32("inf", 3, &small), NUMBER_WRONG);
    assert_int_equal(number_to_int32("", 0, &small), NUMBER_NULL);
    assert_int_equal(number_to_int64("-9223372036854775808", 20, &whole),
                     NUMBER_OK);
    assert_true(whole == INT64_MIN);
    assert_int_equal(number_to_int64("18446744073709551616", 20, &whole),
                     NUMBER_RANGE);
    assert_int_equal(number_to_double("1e400", 5, &real), NUMBER_RANGE);
    assert_int_equal(number_to_double("-inf", 4, &real), NUMBER_OK);
    assert_true(isinf(real) && real < 0);
    assert_int_equal(number_to_double("nan", 3, &real), NUMBER_NULL);
    assert_int_equal(number_to_float("1e39", 4, &narrow), NUMBER_RANGE);
    assert_int_equal(number_to_float("1e-60", 5, &narrow), NUMBER_OK);
    assert_true(narrow == 0);
}

/* ----------------------------------------------------------------- csv -- */

/* All of a text, fields between brackets, records on lines. */
static const char *read_all(const char *text, char delimiter)
{
    static char room[1024];
    char field_room[256];
    struct csv_reader reader = { text,      text + strlen(text),
                                 delimiter, '"',
                                 false,     0 };
    struct csv_field field;
    char *at = room;
    while (csv_record(&reader)) {
        enum csv_next next = CSV_MORE;
        while (next == CSV_MORE) {
            next = csv_next(&reader, &field);
            if (next == CSV_STRAY || next == CSV_OPEN)
                return next == CSV_OPEN ? "open" : "stray";
            csv_copy(&field, field_room, sizeof field_room);
            at += sprintf(at, "[%s]", field_room);
        }
        at += sprintf(at, "|");
    }
    *at = 0;
    return room;
}

static void records(void **unused)
{
    (void)unused;
    assert_string_equal(read_all("", ','), "");
    assert_string_equal(read_all("\n\r\n", ','), "");
    assert_string_equal(read_all("1,2\n3,4\n", ','), "[1][2]|[3][4]|");
    assert_string_equal(read_all("1,2\r\n3,4", ','), "[1][2]|[3][4]|");
    assert_string_equal(read_all("1,2\r\n3,4\r\n", ','), "[1][2]|[3][4]|");
    assert_string_equal(read_all("3,4\r", ','), "[3][4]|");
    assert_string_equal(read_all(",\n1,", ','), "[][]|[1][]|");
    assert_string_equal(read_all("a;b,c\n", ';'), "[a][b,c]|");
    assert_string_equal(read_all("\"a\",\"b,\"\"c\"\"\"\r\n", ','),
                        "[a][b,\"c\"]|");
    assert_string_equal(read_all("\"a\nb\",2\n", ','), "[a\nb][2]|");
    assert_string_equal(read_all("\"\"", ','), "[]|");
    assert_string_equal(read_all("\"\"\"\"", ','), "[\"]|");
    assert_string_equal(read_all("1,\"2", ','), "open");
    assert_string_equal(read_all("\"1\"2,3", ','), "stray");
    assert_string_equal(read_all("5\",\"a\"\n", ','), "[5\"][a]|");
}

/* An empty line is a record where records have one field, and only there. */
static void single_records(void **unused)
{
    const char *text = "\na\n\r\n\"\"\n\n";
    struct csv_reader reader = { text, text + strlen(text), ',', '"', true, 0 };
    struct csv_field field;
    unsigned records = 0, empty = 0, quoted = 0;
    (void)unused;
    for (; csv_record(&reader); records++) {
        assert_int_equal(csv_next(&reader, &field), CSV_LAST);
        empty += !field.length;
        quoted += field.quote != 0;
    }
    assert_int_equal(records, 5);
    assert_int_equal(empty, 4);
    assert_int_equal(quoted, 1);
}

/* What a text is separated and quoted by. */
static void sniffs(void **unused)
{
    static const struct {
        const char *text;
        char delimiter, quote;
    } cases[] = {
        { "", ',', '"' },
        { "a\nb\n", ',', '"' },
        { "a,b\n1,2\n", ',', '"' },
        { "a;b\n1;2\n", ';', '"' },
        { "a|b\n1|2", '|', '"' },
        { "a\tb\n1\t2\n", '\t', '"' },
        { "1,5;2,5\n3,5;4,5\n", ';', '"' },
        { "x;y\n1,5;2,5\n", ';', '"' },
        { "\"a;b\",c\n\"d;e\",f\n", ',', '"' },
        { "\"a\";\"b, c\"\n\"d\";\"e\"\n", ';', '"' },
        { "'a','b, c'\n'd','e'\n", ',', '\'' },
        { "'a';1\n'it''s';2\n", ';', '\'' },
        { "'tis,a\n'twas,b\n", ',', '"' },
        { "\"it's\",'x'\n\"b\",'y'\n", ',', '"' },
        { "a,b\n1,2\n3\n4,5\n", ',', '"' },
        { "a;b\n1;2\n3\n4;5\n", ';', '"' },
        { "hello; world\nmore\nand more\n", ',', '"' },
        { "a;b\n\"x\n;y\";2\n", ';', '"' },
        { "a,b\n\"open,1\n", ',', '"' },
        { "d;t\n1;x, y\n2;z\n", ';', '"' },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        struct csv_dialect found = csv_sniff(text, text + strlen(text),
                                             (struct csv_dialect){ 0 }, ',');
        assert_int_equal(found.delimiter, cases[i].delimiter);
        assert_int_equal(found.quote, cases[i].quote);
    }
    struct csv_dialect asked = { '|', CSV_UNQUOTED, 0 };
    const char *text = "a;b\n1;2\n";
    asked = csv_sniff(text, text + strlen(text), asked, ',');
    assert_int_equal(asked.delimiter, '|');
    assert_int_equal(asked.quote, CSV_UNQUOTED);
}

/* However a text is cut, the parts are whole records. */
static void splits(void **unused)
{
    static const char text[] = "a,b\n1,\"x\ny\"\n\"p\"\"\n\",2\n3,4\n\n5,"
                               "\"\"\n6,7\n5\" nail,\"a\nb\"\n"
                               "\"\",8\"\n\"\n\",c";
    (void)unused;
    for (size_t size = 1; size < sizeof text; size++) {
        char whole[512] = "";
        struct csv_reader reader = { text, text + strlen(text), ',', '"', false,
                                     0 };
        while (reader.at < reader.end) {
            const char *end = csv_split(&reader, size);
            char part[sizeof text];
            memcpy(part, reader.at, (size_t)(end - reader.at));
            part[end - reader.at] = 0;
            strcat(whole, read_all(part, ','));
            reader.at = end;
        }
        assert_string_equal(whole, read_all(text, ','));
    }
}

/* What stands in quotes and what is undoubled is said and done. */
static void undoubles(void **unused)
{
    const char *text = "\"\"\"a\"\"\"\"b\"\"\",\"\",,c";
    struct csv_reader reader = {
        text, text + strlen(text), ',', '"', false, 0
    };
    struct csv_field field;
    char room[32];
    (void)unused;
    assert_int_equal(csv_next(&reader, &field), CSV_MORE);
    assert_true(field.quote && field.doubled);
    assert_int_equal(csv_undouble(&field, room), 6);
    assert_memory_equal(room, "\"a\"\"b\"", 6);
    assert_int_equal(csv_next(&reader, &field), CSV_MORE);
    assert_true(field.quote && !field.doubled && field.length == 0);
    assert_int_equal(csv_next(&reader, &field), CSV_MORE);
    assert_true(!field.quote && field.length == 0);
    assert_int_equal(csv_next(&reader, &field), CSV_LAST);
    assert_true(!field.quote);
    assert_int_equal(csv_undouble(&field, room), 1);
}

static void positions(void **unused)
{
    const char *text = "ab\ncd\n\nef";
    uint64_t line, column;
    (void)unused;
    csv_position(text, text, &line, &column);
    assert_true(line == 1 && column == 1);
    csv_position(text, text + 4, &line, &column);
    assert_true(line == 2 && column == 2);
    csv_position(text, text + 7, &line, &column);
    assert_true(line == 4 && column == 1);
}

/* ----------------------------------------------------------- the writer -- */

static void writer_grows(void **unused)
{
    struct out out;
    char part[1000];
    (void)unused;
    memset(part, 'x', sizeof part);
    assert_true(out_open(&out, -1));
    for (int i = 0; i < 1000; i++)
        out_bytes(&out, part, sizeof part);
    out_print(&out, "%d%s", 7, "y");
    assert_int_equal(out.length, 1000 * 1000 + 2);
    assert_memory_equal(out.bytes + 1000 * 1000, "7y", 2);
    assert_int_equal(out.error, 0);
    out_close(&out);
}

static void writer_keeps_its_error(void **unused)
{
    struct out out;
    (void)unused;
    assert_true(out_open(&out, 12345));
    out_repeat(&out, "0123456789", OUT_CAPACITY);
    assert_false(out_flush(&out));
    assert_int_not_equal(out.error, 0);
    out_close(&out);
}

static void widths(void **unused)
{
    (void)unused;
    assert_int_equal(utf8_width("abc", 3), 3);
    assert_int_equal(utf8_width("\xc3\xa9", 2), 1);
    assert_int_equal(utf8_width("e\xcc\x81", 3), 1);
    assert_int_equal(utf8_width("\xe6\x97\xa5", 3), 2);
    assert_int_equal(utf8_width("\xff\xfe", 2), 2);
    assert_int_equal(utf8_width("\xe6\x97", 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(doubles_are_short),
        cmocka_unit_test(floats_read_back),
        cmocka_unit_test(decimals_round_once),
        cmocka_unit_test(floats_are_rounded_once),
        cmocka_unit_test(floats_have_the_fewest_digits),
        cmocka_unit_test(whole_numbers_are_printed),
        cmocka_unit_test(kinds),
        cmocka_unit_test(ranges),
        cmocka_unit_test(records),
        cmocka_unit_test(single_records),
        cmocka_unit_test(sniffs),
        cmocka_unit_test(splits),
        cmocka_unit_test(undoubles),
        cmocka_unit_test(positions),
        cmocka_unit_test(writer_grows),
        cmocka_unit_test(writer_keeps_its_error),
        cmocka_unit_test(widths),
    };
    const char *seed = getenv("VDBQ_TEST_SEED");
    state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("seed: VDBQ_TEST_SEED=%llu\n", (unsigned long long)state);
    state = state * 2 + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
