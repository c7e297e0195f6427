/* SPDX-License-Identifier: MIT */
/*
 * Tablets with texts: every encoding of their codes, from no word at all to
 * one for each row, and blocks that only look like such tablets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/type.h"
#include "data/catalogue/facts.h"
#include "data/tablet/dictionary_sort.h"
#include "data/tablet/block.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/sample_tables.h"

enum { ROWS_MAX = 1024, COLUMNS = 3, LONG_BYTES = 20000 };

static struct column columns[COLUMNS] = { { .name = "s", .type = VDBQ_TEXT },
                                          { .name = "i", .type = VDBQ_INTEGER },
                                          { .name = "t", .type = VDBQ_TEXT } };
static const struct table table = { .id = 1,
                                    .name = "t",
                                    .column_count = COLUMNS,
                                    .columns = columns,
                                    .key = NO_KEY };

/* The values of a tablet, and the tablet. Both columns hold the same texts,
 * `t` without the NULLs. */
static struct made {
    uint32_t rows;
    struct vdbq_text texts[ROWS_MAX];
    char room[ROWS_MAX][16];
    int32_t integers[ROWS_MAX];
    int32_t numbers[COLUMNS][ROWS_MAX];
    uint8_t nulls[ROWS_MAX];
    struct block block;
    struct column_facts facts[COLUMNS];
} made;

static void build(enum encoding_choice choice)
{
    const struct vdbq_vector vectors[COLUMNS] = {
        { VDBQ_TEXT, made.numbers[0], made.nulls },
        { VDBQ_INTEGER, made.integers, NULL },
        { VDBQ_TEXT, made.numbers[2], NULL }
    };
    static struct vdbq_text some[ROWS_MAX];
    struct dictionary *words[COLUMNS] = { NULL };
    struct tablet_column described[COLUMNS];

    for (uint32_t k = 0; k < made.rows; k++)
        some[k] = made.nulls[k] ? (struct vdbq_text){ 0 } : made.texts[k];
    words[0] = dictionary_make(some, made.rows, (uint32_t *)made.numbers[0]);
    words[2] =
        dictionary_make(made.texts, made.rows, (uint32_t *)made.numbers[2]);
    assert_true(words[0] != NULL && words[2] != NULL);
    struct tablet_source source = { .table = &table,
                                    .rows = made.rows,
                                    .vectors = vectors,
                                    .dictionaries = words,
                                    .choice = choice };
    block_destroy(&made.block);
    made.block = block_create(tablet_describe(&source, described, made.facts));
    memset(made.block.bytes, 0xaa, made.block.size);
    tablet_build(&source, described, made.block.bytes);
    dictionary_release(words[0]);
    dictionary_release(words[2]);
}

static struct tablet_column *at(unsigned c)
{
    return (struct tablet_column *)((struct tablet *)made.block.bytes + 1) + c;
}

static enum vdbq_status check(void)
{
    return tablet_check(&table, made.block.bytes, made.block.size, made.rows,
                        ERROR);
}

/* Texts of about `variety` words, every third of them NULL where that is
 * asked for; all of them where there are no words. */
static void fill(uint32_t rows, uint32_t variety, bool with_nulls)
{
    made.rows = rows;
    for (uint32_t k = 0; k < rows; k++) {
        uint32_t word = variety == 0 ? 0 : k * 11 % variety;
        made.texts[k] = sample_text(word);
        if (word >= 7) {
            snprintf(made.room[k], sizeof *made.room, "%08x", word);
            made.texts[k] = (struct vdbq_text){ made.room[k], 8 };
        }
        made.integers[k] = (int32_t)k;
        made.nulls[k] = variety == 0 || (with_nulls && k % 3 == 1);
    }
}

static void assert_text(const struct dictionary *words, int32_t code,
                        struct vdbq_text expected)
{
    struct vdbq_text text = dictionary_text(words, (uint32_t)code);

    assert_true(code >= 0 && (uint32_t)code < words->count);
    assert_int_equal(text.length, expected.length);
    assert_memory_equal(text.bytes, expected.bytes, expected.length);
}

static void assert_values(void)
{
    static int32_t codes[ROWS_MAX];
    const void *block = made.block.bytes;

    for (unsigned c = 0; c < COLUMNS; c += 2) {
        struct dictionary *words = dictionary_of_tablet(block, c);
        tablet_values(block, c, codes);
        for (uint32_t k = 0; k < made.rows; k++) {
            bool null = c == 0 && made.nulls[k] != 0;
            assert_int_equal(tablet_null(block, c, k), null);
            if (!null)
                assert_text(words, codes[k], made.texts[k]);
        }
        dictionary_release(words);
    }
}

static const uint32_t sizes[] = { 1, 2, 63, 64, 65, 511, 512, 513, 1023 };
static const uint32_t varieties[] = { 0, 1, 2, 7, 100, 2000 };
static const enum encoding_choice choices[] = { CHOOSE_AUTO, CHOOSE_PLAIN,
                                                CHOOSE_PACKED };
enum { SIZES = 9, VARIETIES = 6, CHOICES = 3 };

static void texts_come_back(void **unused)
{
    (void)unused;
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned v = 0; v < VARIETIES; v++)
            for (unsigned choice = 0; choice < CHOICES; choice++)
                for (unsigned nulls = 0; nulls < 2; nulls++) {
                    fill(sizes[s], varieties[v], nulls != 0);
                    build(choices[choice]);
                    assert_int_equal(check(), VDBQ_OK);
                    assert_values();
                }
}

/* Of a column without NULLs; the facts of one whose words nobody counted say
 * the same. */
static void words_are_counted(void **unused)
{
    (void)unused;
    for (unsigned v = 0; v < VARIETIES; v++) {
        struct column_facts read, old;
        fill(1023, varieties[v], true);
        build(CHOOSE_AUTO);
        tablet_facts(made.block.bytes, 2, &read);
        old = read;
        old.maximum = 0;
        assert_int_equal(read.maximum,
                         tablet_words(made.block.bytes, 2)->count);
        assert_true(facts_equal(VDBQ_TEXT, &read, &made.facts[2]));
        assert_true(facts_equal(VDBQ_TEXT, &old, &made.facts[2]));
        old.maximum = read.maximum + 1;
        assert_false(facts_equal(VDBQ_TEXT, &old, &made.facts[2]));
    }
}

static void codes_are_encoded(void **unused)
{
    (void)unused;
    fill(1000, 1, false);
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_CONSTANT);
    assert_int_equal(tablet_words(made.block.bytes, 0)->count, 1);
    fill(1000, 0, true);
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_CONSTANT);
    assert_int_equal(tablet_words(made.block.bytes, 0)->count, 0);
    assert_int_equal(tablet_words(made.block.bytes, 0)->bytes, 0);
    fill(1000, 100, true);
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_PACKED);
    assert_int_equal(at(0)->bits, 7);
    build(CHOOSE_PLAIN);
    assert_int_equal(at(0)->encoding, ENCODING_PLAIN);
    for (uint32_t k = 0; k < 1000; k++) { /* in order, all different */
        snprintf(made.room[k], sizeof *made.room, "%08x", k);
        made.texts[k] = (struct vdbq_text){ made.room[k], 8 };
    }
    build(CHOOSE_AUTO);
    assert_int_equal(at(2)->encoding, ENCODING_SEQUENCE);
    assert_int_equal(check(), VDBQ_OK);
    assert_values();
}

static void long_texts_are_kept(void **unused)
{
    static char bytes[LONG_BYTES];

    (void)unused;
    memset(bytes, 'x', sizeof bytes);
    fill(3, 7, false);
    for (uint32_t k = 0; k < 3; k++)
        made.texts[k] = (struct vdbq_text){ bytes, LONG_BYTES - k };
    build(CHOOSE_AUTO);
    assert_int_equal(check(), VDBQ_OK);
    assert_values();
    assert_int_equal(tablet_words(made.block.bytes, 2)->bytes,
                     3 * LONG_BYTES - 3);
}

/* --------------------------------------------------------------- sort -- */

enum { SORTED = 6000, SORTED_BYTES = 60 };

/* A text of few different bytes, 0 among them, many of which begin alike. */
static struct vdbq_text odd_text(char *room, unsigned kind)
{
    size_t length = (size_t)chance_below(kind == 0 ? 4 : SORTED_BYTES);

    memset(room, 'p', SORTED_BYTES);
    for (size_t i = kind == 1 ? 40 : 0; i < length; i++)
        if (kind < 2 || chance_below(10) == 0)
            room[i] = (char)chance_below(kind == 0 ? 256 : 2);
    return (struct vdbq_text){ room, length };
}

static void sorted_texts_are_in_order(void **unused)
{
    static char room[SORTED][SORTED_BYTES];
    static struct vdbq_text texts[SORTED];
    static uint32_t numbers[SORTED];

    (void)unused;
    for (unsigned run = 0; run < 30; run++) {
        uint32_t count = run < 5 ? run : (uint32_t)chance_below(SORTED);
        for (uint32_t i = 0; i < count; i++)
            texts[i] = odd_text(room[i], run % 3);
        struct dictionary *words = dictionary_make(texts, count, numbers);
        assert_non_null(words);
        for (uint32_t i = 1; i < words->count; i++)
            assert_true(text_compare(dictionary_text(words, i - 1),
                                     dictionary_text(words, i))
                        < 0);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(
                text_compare(dictionary_text(words, numbers[i]), texts[i]), 0);
        dictionary_release(words);
    }
}

/* One more differs at every depth. */
static void deep_texts_are_sorted(void **unused)
{
    enum { DEEP = 4000 };
    static char room[DEEP * 8];
    static struct vdbq_text texts[DEEP];
    struct dictionary *words;

    (void)unused;
    memset(room, 'x', sizeof room);
    for (uint32_t i = 0; i < DEEP; i++)
        texts[i] = (struct vdbq_text){ room, (DEEP - i) * sizeof(uint64_t) };
    words = dictionary_make(texts, DEEP, NULL);
    assert_non_null(words);
    assert_int_equal(words->count, DEEP);
    for (uint32_t i = 0; i < DEEP; i++)
        assert_int_equal(dictionary_text(words, i).length, (i + 1) * 8);
    dictionary_release(words);
}

/* -------------------------------------------------------------- check -- */

/* Changes a field, expects CORRUPT, and puts it back. */
#define REFUSES(field, value)                                                  \
    do {                                                                       \
        uint8_t saved[sizeof(field)];                                          \
        memcpy(saved, &(field), sizeof(field));                                \
        (field) = (value);                                                     \
        assert_int_equal(check(), VDBQ_CORRUPT);                               \
        memcpy(&(field), saved, sizeof(field));                                \
        assert_int_equal(check(), VDBQ_OK);                                    \
    } while (0)

static void damaged_places_are_refused(void **unused)
{
    struct tablet *head;

    (void)unused;
    fill(100, 7, true);
    build(CHOOSE_AUTO);
    head = made.block.bytes;
    REFUSES(head->format, 2);
    REFUSES(head->format, 4);
    REFUSES(head->variable, 0);
    REFUSES(head->variable, head->variable + 1);
    REFUSES(head->variable, head->size);
    REFUSES(head->variable, UINT64_MAX - 63);
    REFUSES(head->variable_size, 0);
    REFUSES(head->variable_size, head->variable_size + 64);
    REFUSES(head->variable_size, UINT64_MAX - 63);
    for (unsigned c = 0; c < COLUMNS; c += 2) {
        REFUSES(at(c)->words, at(c)->words + 1);
        REFUSES(at(c)->words, UINT32_MAX);
        REFUSES(at(c)->type, TYPE_I32);
    }
    REFUSES(at(1)->words, 1);
    REFUSES(at(1)->type, TYPE_WORD);
}

static void damaged_words_are_refused(void **unused)
{
    struct tablet_words *words;
    uint32_t *ends;
    char *bytes;

    (void)unused;
    fill(100, 7, true);
    build(CHOOSE_AUTO);
    words = (struct tablet_words *)tablet_words(made.block.bytes, 0);
    ends = (uint32_t *)(words + 1);
    bytes = (char *)(ends + words->count);
    REFUSES(words->count, words->count - 1);
    REFUSES(words->count, words->count + 1);
    REFUSES(words->count, 0);
    REFUSES(words->count, UINT32_MAX);
    REFUSES(words->bytes, words->bytes - 1);
    REFUSES(words->bytes, words->bytes + 1);
    REFUSES(words->bytes, UINT32_MAX);
    for (unsigned i = 0; i < 7; i++) {
        REFUSES(ends[i], UINT32_MAX);
        REFUSES(ends[i], ends[6] + 1);
        if (i > 0)
            REFUSES(ends[i], i > 1 ? ends[i - 2] : UINT32_MAX / 2);
    }
    REFUSES(ends[1], 0);        /* two empty words         */
    REFUSES(bytes[0], 'b');     /* "b" before "ab"         */
    REFUSES(bytes[0], '\xff');  /* no UTF-8                */
    REFUSES(bytes[ends[6]], 1); /* behind the words        */
}

/* Reads everything that a checked tablet describes. */
static void read_all(void)
{
    static int32_t codes[ROWS_MAX];
    const void *block = made.block.bytes;

    for (unsigned c = 0; c < COLUMNS; c += 2) {
        struct dictionary *words = dictionary_of_tablet(block, c);
        assert_non_null(words);
        tablet_values(block, c, codes);
        for (uint32_t k = 0; k < made.rows; k++)
            if (!tablet_null(block, c, k)) {
                struct vdbq_text text =
                    dictionary_text(words, (uint32_t)codes[k]);
                assert_true(codes[k] >= 0 && (uint32_t)codes[k] < words->count);
                assert_true(text_is_utf8(text.bytes, text.length));
            }
        dictionary_release(words);
    }
}

static void any_byte_may_be_wrong(void **unused)
{
    static const uint32_t rows[] = { 1, 9, 65 };

    (void)unused;
    for (unsigned n = 0; n < 3 * VARIETIES * CHOICES; n++) {
        fill(rows[n % 3], varieties[n / 3 % VARIETIES], n % 2 == 0);
        build(choices[n / 3 / VARIETIES]);
        for (size_t byte = 0; byte < made.block.size; byte++)
            for (unsigned how = 0; how < 11; how++) {
                uint8_t *bytes = made.block.bytes, old = bytes[byte];
                bytes[byte] = how < 8    ? old ^ (uint8_t)(1u << how)
                              : how == 8 ? 0
                              : how == 9 ? 0xff
                                         : (uint8_t)(old + 1);
                if (check() == VDBQ_OK)
                    read_all();
                bytes[byte] = old;
            }
        assert_int_equal(check(), VDBQ_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(words_are_counted),
        cmocka_unit_test(codes_are_encoded),
        cmocka_unit_test(long_texts_are_kept),
        cmocka_unit_test(sorted_texts_are_in_order),
        cmocka_unit_test(deep_texts_are_sorted),
        cmocka_unit_test(damaged_places_are_refused),
        cmocka_unit_test(damaged_words_are_refused),
        cmocka_unit_test(any_byte_may_be_wrong),
    };
    int failed;

    chance_start();
    failed = cmocka_run_group_tests(tests, NULL, NULL);

    block_destroy(&made.block);
    return failed;
}
