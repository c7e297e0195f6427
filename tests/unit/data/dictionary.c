/* SPDX-License-Identifier: MIT */
/*
 * Words, types and their text forms, and columns of texts: what is stored is
 * read back, and a tablet with any byte of its words changed is refused or
 * still safe to read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/type.h"
#include "base/text.h"
#include "base/paged.h"
#include "data/tablet/block.h"
#include "data/tablet/dictionary_sort.h"
#include "data/database/database.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

static struct vdbq_text text_of(const char *bytes)
{
    return (struct vdbq_text){ bytes, strlen(bytes) };
}

/* -------------------------------------------------------------- words -- */

static void words_are_sorted_and_different(void **state)
{
    const struct vdbq_text texts[] = { text_of("pear"),    text_of("apple"),
                                       text_of(""),        text_of("pear"),
                                       text_of("app"),     { NULL, 0 },
                                       text_of("\xc3\xa4") };
    uint32_t numbers[7], number;
    struct dictionary *words = dictionary_make(texts, 7, numbers);

    (void)state;
    assert_non_null(words);
    assert_int_equal(words->count, 5);
    for (unsigned i = 0; i < 7; i++) {
        struct vdbq_text back = dictionary_text(words, numbers[i]);
        if (texts[i].bytes == NULL)
            continue;
        assert_int_equal(back.length, texts[i].length);
        assert_memory_equal(back.bytes, texts[i].bytes, back.length);
    }
    assert_int_equal(numbers[2], 0);
    assert_int_equal(numbers[4], 1);
    assert_int_equal(numbers[6], 4);
    assert_true(dictionary_find(words, text_of("apple"), &number));
    assert_int_equal(number, 2);
    assert_false(dictionary_find(words, text_of("b"), &number));
    assert_int_equal(number, 3);
    assert_int_equal(dictionary_text(words, 5).length, 0);
    dictionary_release(words);
}

static void many_words_are_found_again(void **state)
{
    enum { COUNT = 3000 };
    static char bytes[COUNT][12];
    static struct vdbq_text texts[COUNT];
    static uint32_t numbers[COUNT];
    struct dictionary *words;

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        sprintf(bytes[i], "%u", (unsigned)chance_below(2000));
        texts[i] = text_of(bytes[i]);
    }
    words = dictionary_make(texts, COUNT, numbers);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t number;
        assert_true(dictionary_find(words, texts[i], &number));
        assert_int_equal(number, numbers[i]);
    }
    dictionary_release(words);
}

/* Texts of which some come again and some are none: several threads make the words
 * that one makes, and give the same numbers. */
static void threads_number_texts_alike(void **state)
{
    enum { COUNT = 400000, BYTES = 12 };
    char(*bytes)[BYTES] = malloc(COUNT * sizeof *bytes);
    struct vdbq_text *texts = malloc(COUNT * sizeof *texts);
    uint32_t *alone = malloc(COUNT * sizeof *alone);
    uint32_t *shared = malloc(COUNT * sizeof *shared);

    (void)state;
    for (unsigned below = 10; below <= 100000000; below *= 100) {
        for (unsigned i = 0; i < COUNT; i++) {
            snprintf(bytes[i], BYTES, "%u", (unsigned)chance_below(below));
            texts[i] = chance_below(50) == 0 ? (struct vdbq_text){ 0 }
                                             : text_of(bytes[i]);
        }
        struct dictionary *words = dictionary_make(texts, COUNT, alone);
        struct dictionary *same = dictionary_make_shared(texts, COUNT, shared);
        assert_non_null(words);
        assert_non_null(same);
        assert_int_equal(words->count, same->count);
        assert_memory_equal(words->ends, same->ends, words->count * 4);
        assert_memory_equal(words->bytes, same->bytes,
                            words->ends[words->count - 1]);
        assert_memory_equal(alone, shared, COUNT * sizeof *alone);
        dictionary_release(words);
        dictionary_release(same);
    }
    free(bytes);
    free(texts);
    free(alone);
    free(shared);
}

static void joined_words_keep_their_order(void **state)
{
    const struct vdbq_text a[] = { text_of("b"), text_of("d") };
    const struct vdbq_text b[] = { text_of("a"), text_of("b") };
    const struct vdbq_text c[] = { text_of("c") };
    struct dictionary *parts[] = { dictionary_make(a, 2, NULL),
                                   dictionary_make(b, 2, NULL),
                                   dictionary_make(c, 1, NULL),
                                   dictionary_make(c, 0, NULL) };
    uint32_t of_a[2], of_b[2], of_c[1];
    uint32_t *const numbers[] = { of_a, of_b, of_c, NULL };
    struct dictionary *all = dictionary_join(parts, 4, numbers, 0);

    (void)state;
    assert_int_equal(all->count, 4);
    assert_int_equal(of_a[0], 1);
    assert_int_equal(of_a[1], 3);
    assert_int_equal(of_b[0], 0);
    assert_int_equal(of_b[1], 1);
    assert_int_equal(of_c[0], 2);
    dictionary_release(all);
    all = dictionary_join(parts, 1, NULL, 0);
    assert_ptr_equal(all, parts[0]);
    dictionary_release(all);
    for (unsigned i = 0; i < 4; i++)
        dictionary_release(parts[i]);
}

/* A dictionary of random texts, the empty one at times; `*from` is where random
 * numbers go on. */
static struct dictionary *make_random(uint64_t *from, size_t count,
                                      unsigned kind)
{
    char(*rooms)[24] = malloc((count + 1) * sizeof *rooms);
    struct vdbq_text *texts = malloc((count + 1) * sizeof *texts);
    for (size_t i = 0; i < count; i++) {
        *from = *from * 6364136223846793005u + 1442695040888963407u;
        unsigned number = (unsigned)(*from >> 33) % 200000;
        /* all over, in one place, or behind all others */
        snprintf(rooms[i], sizeof rooms[i],
                 kind == 0   ? "%u"
                 : kind == 1 ? "5%08u"
                             : "x\xff%u",
                 number);
        texts[i] =
            text_of(number == 7   ? ""
                    : number == 9 ? "\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                                  : rooms[i]);
    }
    struct dictionary *made = dictionary_make(texts, count, NULL);
    assert_non_null(made);
    free(texts);
    free(rooms);
    return made;
}

/* The words are those of all parts, in order, each once, whoever joins them. */
static void expect_joined(struct dictionary *const *parts, size_t count,
                          unsigned threads)
{
    uint32_t **numbers = calloc(count, sizeof *numbers);
    size_t words = 0;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = malloc((parts[i]->count + 1u) * sizeof **numbers);
        words += parts[i]->count;
    }
    struct dictionary *all = dictionary_join(parts, count, numbers, threads);
    bool *met = calloc(words + 1, 1);
    assert_non_null(all);
    assert_true(all->count <= words);
    for (uint32_t i = 1; i < all->count; i++)
        assert_true(
            text_compare(dictionary_text(all, i - 1), dictionary_text(all, i))
            < 0);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < parts[i]->count; k++) {
            assert_true(numbers[i][k] < all->count);
            assert_int_equal(text_compare(dictionary_text(all, numbers[i][k]),
                                          dictionary_text(parts[i], k)),
                             0);
            met[numbers[i][k]] = true;
        }
    for (uint32_t i = 0; i < all->count; i++)
        assert_true(met[i]);
    for (size_t i = 0; i < count; i++)
        free(numbers[i]);
    free(numbers);
    free(met);
    dictionary_release(all);
}

/* Parts of few words, most of which others have, too. */
static void many_parts_are_joined(void **state)
{
    enum { PARTS = 700, WORDS = 4, KINDS = 130 };
    struct dictionary *parts[PARTS];
    (void)state;
    for (unsigned count = 1; count <= PARTS; count += 1 + count / 3) {
        for (unsigned i = 0; i < count; i++) {
            char rooms[WORDS][12];
            struct vdbq_text texts[WORDS];
            for (unsigned k = 0; k < WORDS; k++) {
                sprintf(rooms[k], "w%u", (unsigned)chance_below(KINDS));
                texts[k] = text_of(rooms[k]);
            }
            parts[i] = dictionary_make(texts, chance_below(WORDS + 1), NULL);
            assert_non_null(parts[i]);
        }
        expect_joined(parts, count, 1);
        expect_joined(parts, count, 5);
        for (unsigned i = 0; i < count; i++)
            dictionary_release(parts[i]);
    }
}

static void many_words_are_joined_by_pieces(void **state)
{
    static const size_t counts[][5] = { { 60000, 60000, 3, 0, 40000 },
                                        { 0, 90000 },
                                        { 3, 90000 },
                                        { 90000, 1, 70000 },
                                        { 0, 0, 0 },
                                        { 50000, 50000, 50000, 50000, 1 } };
    uint64_t from = 11;
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned kinds = 0; kinds < 3; kinds++) {
            struct dictionary *parts[5];
            for (unsigned k = 0; k < 5; k++)
                parts[k] = make_random(&from, counts[i][k], k * kinds % 3);
            for (unsigned threads = 0; threads < 8; threads += 3)
                expect_joined(parts, 5, threads);
            for (unsigned k = 0; k < 5; k++)
                dictionary_release(parts[k]);
        }
}

/* Each word has the number of its like among others, if there is one. */
static void expect_found(const struct dictionary *from,
                         const struct dictionary *to, unsigned threads)
{
    uint32_t *numbers = dictionary_translate(from, to, threads), place;
    assert_non_null(numbers);
    for (uint32_t i = 0; i < from->count; i++) {
        bool there = dictionary_find(to, dictionary_text(from, i), &place);
        assert_int_equal(numbers[i], there ? place : DICTIONARY_NONE);
    }
    paged_release(numbers);
}

/* As many as the others, few among many and many among few, by shares. */
static void words_are_found_among_others(void **state)
{
    static const size_t counts[][2] = { { 90000, 90000 }, { 3, 90000 },
                                        { 90000, 3 },     { 0, 100 },
                                        { 90000, 0 },     { 2000, 90000 } };
    uint64_t from = 5;
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned kinds = 0; kinds < 9; kinds++) {
            struct dictionary *sides[2];
            for (unsigned k = 0; k < 2; k++)
                sides[k] = make_random(&from, counts[i][k],
                                       k == 0 ? kinds % 3 : kinds / 3);
            for (unsigned threads = 0; threads < 8; threads += 3)
                expect_found(sides[0], sides[1], threads);
            for (unsigned k = 0; k < 2; k++)
                dictionary_release(sides[k]);
        }
}

/* -------------------------------------------------------------- types -- */

/* Reads a value and prints it; "-" where it is none. */
static const char *again(enum vdbq_type type, unsigned scale, const char *text)
{
    static char room[TYPE_TEXT_MAX];
    int64_t value;

    if (!type_parse(type, 18, scale, text, strlen(text), &value))
        return "-";
    type_print(type, scale, &value, room);
    return room;
}

/* With a zero behind it. */
static const char *copy_of(struct vdbq_text text)
{
    static char copy[16];
    assert_true(text.length < sizeof copy);
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    return copy;
}

/* Parts are held and neither copied nor sorted; joined, they are as others. */
static void parts_have_the_words(void **state)
{
    static const struct vdbq_text texts[] = { { "b", 1 },
                                              { "a", 1 },
                                              { "", 0 } };
    struct dictionary *all = dictionary_make(texts, 3, NULL);
    struct dictionary *none = dictionary_make(NULL, 0, NULL);
    struct dictionary *one = dictionary_make(texts, 1, NULL);
    struct dictionary *list[] = { none, all, none, one, all, none };
    struct dictionary *parts = dictionary_of_parts(list, 6);
    struct dictionary *nothing = dictionary_of_parts(list, 0);
    uint32_t numbers[7], first;
    static const char *const words[] = { "", "a", "b", "b", "", "a", "b", "" };
    (void)state;
    assert_int_equal(nothing->count, 0);
    assert_int_equal(parts->count, 7);
    assert_int_equal(one->holders, 2);
    assert_int_equal(all->holders, 3);
    for (uint32_t i = 0; i < 8; i++)
        assert_string_equal(copy_of(dictionary_text(parts, i)), words[i]);
    assert_ptr_equal(dictionary_part(parts, 2, &first), all);
    assert_int_equal(first, 0);
    assert_ptr_equal(dictionary_part(parts, 3, &first), one);
    assert_int_equal(first, 3);
    assert_ptr_equal(dictionary_part(parts, 4, &first), all);
    assert_int_equal(first, 4);
    struct dictionary *sorted = dictionary_sorted(parts, numbers, 2);
    assert_non_null(sorted);
    assert_int_equal(sorted->count, 3);
    for (uint32_t i = 0; i < 7; i++)
        assert_string_equal(copy_of(dictionary_text(sorted, numbers[i])),
                            words[i]);
    dictionary_release(sorted);
    dictionary_release(parts);
    assert_int_equal(all->holders, 1);
    dictionary_release(nothing);
    dictionary_release(none);
    dictionary_release(one);
    dictionary_release(all);
}

static void dates_and_times_are_read_and_printed(void **state)
{
    int32_t days;

    (void)state;
    assert_string_equal(again(VDBQ_DATE, 0, " 2024-02-29 "), "2024-02-29");
    assert_string_equal(again(VDBQ_DATE, 0, "2023-02-29"), "-");
    assert_string_equal(again(VDBQ_DATE, 0, "1900-02-29"), "-");
    assert_string_equal(again(VDBQ_DATE, 0, "2000-2-9"), "2000-02-09");
    assert_string_equal(again(VDBQ_DATE, 0, "0000-01-01"), "-");
    assert_string_equal(again(VDBQ_DATE, 0, "9999-12-31"), "9999-12-31");
    assert_string_equal(again(VDBQ_DATE, 0, "2024-01-01x"), "-");
    assert_string_equal(again(VDBQ_TIMESTAMP, 0, "1969-12-31T23:59:59.5Z"),
                        "1969-12-31 23:59:59.5");
    assert_string_equal(again(VDBQ_TIMESTAMP, 0, "0001-01-01 00:00"),
                        "0001-01-01 00:00:00");
    assert_string_equal(again(VDBQ_TIMESTAMP, 0, "2024-01-01 24:00"), "-");
    for (int32_t at = DATE_DAYS_MIN; at <= DATE_DAYS_MAX; at += 97) {
        assert_true(date_join(date_split(at), &days));
        assert_int_equal(days, at);
    }
    assert_true(date_join((struct type_day){ 1970, 1, 1 }, &days));
    assert_int_equal(days, 0);
}

static void decimals_are_rounded_and_bounded(void **state)
{
    int64_t digits;

    (void)state;
    assert_string_equal(again(VDBQ_DECIMAL, 2, "12.345"), "12.35");
    assert_string_equal(again(VDBQ_DECIMAL, 2, "-12.345"), "-12.35");
    assert_string_equal(again(VDBQ_DECIMAL, 2, "-.5"), "-0.50");
    assert_string_equal(again(VDBQ_DECIMAL, 0, "1.5"), "2");
    assert_string_equal(again(VDBQ_DECIMAL, 3, "1e3"), "1000.000");
    assert_string_equal(again(VDBQ_DECIMAL, 0, "999999999999999999"),
                        "999999999999999999");
    assert_string_equal(again(VDBQ_DECIMAL, 0, "1000000000000000000"), "-");
    assert_string_equal(again(VDBQ_DECIMAL, 2, "1.2.3"), "-");
    assert_string_equal(again(VDBQ_DECIMAL, 2, "."), "-");
    assert_false(decimal_from_text("100", 3, 4, 2, &digits));
    assert_true(decimal_rescale(-1250, 2, 1, 18, &digits));
    assert_int_equal(digits, -125);
    assert_true(decimal_rescale(-1255, 2, 1, 18, &digits));
    assert_int_equal(digits, -126);
    assert_true(decimal_rescale(14, 1, 0, 18, &digits));
    assert_int_equal(digits, 1);
    assert_false(decimal_rescale(INT64_C(10000000000), 0, 18, 18, &digits));
    assert_string_equal(again(VDBQ_BOOLEAN, 0, "TRUE"), "true");
    assert_string_equal(again(VDBQ_BOOLEAN, 0, "off"), "false");
    assert_string_equal(again(VDBQ_BOOLEAN, 0, "2"), "-");
    assert_string_equal(again(VDBQ_SMALLINT, 0, "32768"), "-");
}

static void utf8_is_told_apart(void **state)
{
    (void)state;
    assert_true(text_is_utf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 10));
    assert_false(text_is_utf8("\xc0\x80", 2));
    assert_false(text_is_utf8("\xed\xa0\x80", 3));
    assert_false(text_is_utf8("\xf4\x90\x80\x80", 4));
    assert_false(text_is_utf8("\xe2\x82", 2));
    assert_false(text_is_utf8("\x80", 1));
}

/* ------------------------------------------------------------- tables -- */

enum { ROWS = 40, TYPES_STORED = 7 };

static const struct column columns[TYPES_STORED] = {
    { .name = "t", .type = VDBQ_TEXT },
    { .name = "b", .type = VDBQ_BOOLEAN, .not_null = true },
    { .name = "s", .type = VDBQ_SMALLINT, .default_sql = "1 + 1" },
    { .name = "c", .type = VDBQ_DECIMAL, .precision = 9, .scale = 2 },
    { .name = "d", .type = VDBQ_DATE, .unique = true },
    { .name = "m", .type = VDBQ_TIMESTAMP },
    { .name = "u", .type = VDBQ_TEXT }
};

/* Values of the rows from `first` on, and the vectors over them. */
struct values {
    char bytes[ROWS][24];
    struct vdbq_text t[ROWS], u[ROWS];
    int32_t narrow[3][ROWS];
    int64_t wide[2][ROWS];
    uint8_t nulls[ROWS];
    struct vdbq_vector vectors[TYPES_STORED];
};

static void fill(struct values *values, int first)
{
    for (int i = 0; i < ROWS; i++) {
        int row = first + i;
        snprintf(values->bytes[i], sizeof values->bytes[i], "row %d \xc3\xa4",
                 row);
        values->t[i] = text_of(values->bytes[i]);
        values->u[i] = text_of(row % 3 == 0 ? "" : "few");
        values->narrow[0][i] = row % 2;
        values->narrow[1][i] = row - 20;
        values->narrow[2][i] = row * 365;
        values->wide[0][i] = row * 101;
        values->wide[1][i] = row * DAY_MICROSECONDS / 7;
        values->nulls[i] = row % 4 == 1;
    }
    const struct vdbq_vector vectors[] = {
        { VDBQ_TEXT, values->t, NULL },
        { VDBQ_BOOLEAN, values->narrow[0], NULL },
        { VDBQ_SMALLINT, values->narrow[1], values->nulls },
        { VDBQ_DECIMAL, values->wide[0], NULL },
        { VDBQ_DATE, values->narrow[2], NULL },
        { VDBQ_TIMESTAMP, values->wide[1], NULL },
        { VDBQ_TEXT, values->u, values->nulls }
    };
    memcpy(values->vectors, vectors, sizeof vectors);
}

static struct database *open_disk(enum encoding_choice choice)
{
    static struct settings settings;
    struct database_params params = params_on_disk(25);
    struct database *database;

    settings = *params.settings;
    settings.encoding = choice;
    params.settings = &settings;
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    return database;
}

/* Appends in a transaction of its own; its status. */
static enum vdbq_status append(struct database *database,
                               const struct vdbq_vector *vectors, uint64_t rows)
{
    struct transaction *transaction;
    enum vdbq_status status;

    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    status = transaction_append(transaction, 0, rows, vectors, ERROR);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, ERROR);
    transaction_abort(transaction);
    return status;
}

static struct database *create(unsigned key, enum encoding_choice choice)
{
    struct database *database;
    struct transaction *transaction;

    disk_start(NULL, 0);
    database = open_disk(choice);
    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(transaction_create_table(transaction, "x", columns,
                                              TYPES_STORED, key, ERROR),
                     VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    return database;
}

static void check_text(const void *block, unsigned column, uint32_t row,
                       struct vdbq_text expected)
{
    int32_t codes[ROWS * 2];
    struct dictionary *words = dictionary_of_tablet(block, column);
    struct vdbq_text text;

    tablet_values(block, column, codes);
    text = dictionary_text(words, (uint32_t)codes[row]);
    assert_int_equal(text.length, expected.length);
    assert_memory_equal(text.bytes, expected.bytes, text.length);
    dictionary_release(words);
}

/* Compares a tablet with the values it was made of. */
static void check_tablet(const void *block, int first)
{
    static struct values values;
    const struct tablet *head = block;
    int64_t wide[ROWS * 2];
    int32_t narrow[ROWS * 2];

    for (uint32_t i = 0; i < head->rows; i++) {
        fill(&values, first + (int)i);
        check_text(block, 0, i, values.t[0]);
        assert_int_equal(tablet_null(block, 6, i), values.nulls[0]);
        if (values.nulls[0] == 0)
            check_text(block, 6, i, values.u[0]);
        tablet_values(block, 3, wide);
        assert_int_equal(wide[i], values.wide[0][0]);
        tablet_values(block, 4, narrow);
        assert_int_equal(narrow[i], values.narrow[2][0]);
    }
}

static void rows_of_every_type_come_back(void **state)
{
    static struct values values;
    struct snapshot snapshot;

    (void)state;
    for (enum encoding_choice choice = CHOOSE_AUTO; choice <= CHOOSE_PACKED;
         choice++) {
        struct database *database = create(NO_KEY, choice);
        const struct table *table;
        int first = 0;

        for (int at = 0; at < 80; at += ROWS) {
            fill(&values, at);
            assert_int_equal(append(database, values.vectors, ROWS), VDBQ_OK);
        }
        database_close(database);
        database = open_disk(CHOOSE_AUTO);
        assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
        table = catalogue_table(snapshot.catalogue, "x");
        assert_int_equal(table->rows, 80);
        for (size_t i = 0; i < table->tablet_count; i++) {
            struct block block;
            assert_int_equal(
                tablet_load(database, table, &table->tablets[i], &block, ERROR),
                VDBQ_OK);
            check_tablet(block.bytes, first);
            first += (int)table->tablets[i].rows;
            block_destroy(&block);
        }
        snapshot_close(&snapshot);
        database_close(database);
        disk_end();
    }
}

static void the_catalogue_keeps_columns(void **state)
{
    struct database *database = create(0, CHOOSE_AUTO);
    struct snapshot snapshot;
    struct text text = { 0 };

    (void)state;
    database_close(database);
    database = open_disk(CHOOSE_AUTO);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table_sql(catalogue_table(snapshot.catalogue, "x"), &text);
    assert_string_equal(
        text.bytes,
        "CREATE TABLE x (t TEXT PRIMARY KEY, b BOOLEAN NOT NULL, "
        "s SMALLINT DEFAULT (1 + 1), c DECIMAL(9,2), d DATE UNIQUE, "
        "m TIMESTAMP, u TEXT)");
    text_finish(&text);
    snapshot_close(&snapshot);
    database_close(database);
    disk_end();
}

static void keys_that_are_texts_are_there_once(void **state)
{
    static struct values values;
    struct database *database = create(0, CHOOSE_AUTO);

    (void)state;
    fill(&values, 0);
    assert_int_equal(append(database, values.vectors, ROWS), VDBQ_OK);
    assert_int_equal(append(database, values.vectors, 1), VDBQ_CONSTRAINT);
    assert_non_null(strstr(last_error.message, "'row 0"));
    fill(&values, ROWS);
    assert_int_equal(append(database, values.vectors, 1), VDBQ_OK);
    fill(&values, 2 * ROWS);
    values.t[7] = values.t[3];
    assert_int_equal(append(database, values.vectors, ROWS), VDBQ_CONSTRAINT);
    database_close(database);
    disk_end();
}

static void values_outside_their_type_are_refused(void **state)
{
    static struct values values;
    struct database *database = create(NO_KEY, CHOOSE_AUTO);

    (void)state;
    fill(&values, 0);
    values.narrow[0][3] = 2;
    assert_int_equal(append(database, values.vectors, ROWS), VDBQ_RANGE);
    fill(&values, 0);
    values.wide[0][3] = 1000000000;
    assert_int_equal(append(database, values.vectors, ROWS), VDBQ_RANGE);
    fill(&values, 0);
    values.narrow[2][39] = DATE_DAYS_MAX + 1;
    assert_int_equal(append(database, values.vectors, ROWS), VDBQ_RANGE);
    fill(&values, 0);
    values.t[3] = text_of("\xff");
    assert_int_equal(append(database, values.vectors, ROWS), VDBQ_RANGE);
    fill(&values, 0);
    values.vectors[1].nulls = values.nulls;
    assert_int_equal(append(database, values.vectors, ROWS), VDBQ_CONSTRAINT);
    database_close(database);
    disk_end();
}

/* What a reader does with a tablet that was found right. */
static void read_all(const void *block)
{
    const struct tablet *head = block;
    int64_t values[ROWS * 2];

    for (unsigned i = 0; i < head->columns; i++) {
        struct column_facts facts;
        tablet_values(block, i, values);
        tablet_facts(block, i, &facts);
        if (columns[i].type == VDBQ_TEXT) {
            struct dictionary *words = dictionary_of_tablet(block, i);
            for (uint32_t k = 0; k < words->count; k++)
                dictionary_text(words, k);
            dictionary_release(words);
        }
    }
}

static void damaged_words_are_refused(void **state)
{
    static struct values values;
    struct database *database = create(NO_KEY, CHOOSE_AUTO);
    struct snapshot snapshot;
    struct block block, copy;
    const struct table *table;
    unsigned refused = 0;

    (void)state;
    fill(&values, 0);
    assert_int_equal(append(database, values.vectors, 20), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "x");
    assert_int_equal(
        tablet_load(database, table, &table->tablets[0], &block, ERROR),
        VDBQ_OK);
    copy = block_create(block.size);
    for (size_t i = 0; i < block.size * 8; i++) {
        memcpy(copy.bytes, block.bytes, block.size);
        ((uint8_t *)copy.bytes)[i / 8] ^= (uint8_t)(1u << (i % 8));
        if (tablet_check(table, copy.bytes, copy.size, 20, ERROR) == VDBQ_OK)
            read_all(copy.bytes);
        else
            refused++;
    }
    assert_true(refused > block.size * 4);
    block_destroy(&copy);
    block_destroy(&block);
    snapshot_close(&snapshot);
    database_close(database);
    disk_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_sorted_and_different),
        cmocka_unit_test(many_words_are_found_again),
        cmocka_unit_test(threads_number_texts_alike),
        cmocka_unit_test(joined_words_keep_their_order),
        cmocka_unit_test(many_words_are_joined_by_pieces),
        cmocka_unit_test(many_parts_are_joined),
        cmocka_unit_test(words_are_found_among_others),
        cmocka_unit_test(parts_have_the_words),
        cmocka_unit_test(dates_and_times_are_read_and_printed),
        cmocka_unit_test(decimals_are_rounded_and_bounded),
        cmocka_unit_test(utf8_is_told_apart),
        cmocka_unit_test(rows_of_every_type_come_back),
        cmocka_unit_test(the_catalogue_keeps_columns),
        cmocka_unit_test(keys_that_are_texts_are_there_once),
        cmocka_unit_test(values_outside_their_type_are_refused),
        cmocka_unit_test(damaged_words_are_refused)
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
