/* SPDX-License-Identifier: MIT */
/*
 * Packed words: what is unpacked is what was packed, whatever the words are; and
 * bytes that only look like packed words do no harm, and are told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/tablet/block.h"
#include "data/tablet/dictionary.h"
#include "data/tablet/tablet_inner.h"
#include "data/tablet/tablet_pack.h"
#include "data/words/words_check.h"
#include "fixtures/chance.h"
#include "fixtures/sample_tables.h"

enum { TEXTS_MAX = 200000, ALIKE = 20000, GUARD = 64, DAMAGES = 3000 };

static char room[4 << 20];
static struct vdbq_text texts[TEXTS_MAX];
static size_t text_count, room_used;

static void add_text(const void *bytes, size_t length)
{
    assert_true(room_used + length <= sizeof room && text_count < TEXTS_MAX);
    memcpy(room + room_used, bytes, length);
    texts[text_count++] =
        (struct vdbq_text){ .bytes = room + room_used, .length = length };
    room_used += length;
}

/* Words as a tablet has them; the dictionary is released. */
static struct tablet_words *words_of(struct dictionary *dictionary)
{
    uint32_t count = dictionary->count;
    uint32_t bytes = count > 0 ? dictionary->ends[count - 1] : 0;
    struct tablet_words *words = calloc(1, TABLET_WORDS_SIZE(count, bytes));

    *words = (struct tablet_words){ .count = count, .bytes = bytes };
    memcpy(words + 1, dictionary->ends, count * sizeof(uint32_t));
    memcpy((uint32_t *)(words + 1) + count, dictionary->bytes, bytes);
    dictionary_release(dictionary);
    text_count = room_used = 0;
    return words;
}

/* The words of all texts. */
static struct tablet_words *make_words(void)
{
    return words_of(dictionary_make(texts, text_count, NULL));
}

/* Unpacks into exactly as much memory as is said, with a guard behind it. */
static const char *unpack(const void *packed, const struct words_sizes *sizes,
                          uint8_t *to)
{
    struct words_area area = { packed, (const uint8_t *)packed + sizes->file };
    const struct words_source source = words_in_memory(&area);
    const char *fault;

    memset(to, 0xaa, sizes->memory + GUARD);
    fault = words_unpack(&source, sizes, 3, to);
    for (unsigned i = 0; i < GUARD; i++)
        assert_int_equal(to[sizes->memory + i], 0xaa);
    return fault;
}

/* Packs and unpacks words, which are freed; their packed bytes. */
static uint64_t there_and_back(struct tablet_words *words)
{
    uint64_t size = words_size(words);
    uint8_t *packed = malloc(size), *back = malloc(size + GUARD);
    uint64_t packed_size = words_pack(words, packed);
    struct words_sizes sizes;

    assert_int_equal(packed_size % TABLET_ALIGN, 0);
    if (packed_size > 0) {
        assert_true(packed_size < size);
        assert_true(words_sizes(packed, true, &sizes));
        assert_int_equal(sizes.file, packed_size);
        assert_int_equal(sizes.memory, size);
        assert_null(unpack(packed, &sizes, back));
        assert_memory_equal(back, words, size);
    }
    free(packed);
    free(back);
    free(words);
    return packed_size;
}

/* ------------------------------------------------------------ the words -- */

/* Texts that begin alike, of up to `most` bytes. */
static void add_alike(unsigned count, unsigned most)
{
    static const char *const parts[] = {
        "ab", "c", "", "the quick ", "é", "/path", "0", "\xf0\x9f\x9a\x80"
    };
    char text[4096];

    for (unsigned i = 0; i < count; i++) {
        size_t length = 0, wanted = chance_below(most + 1);
        while (length < wanted) {
            const char *part = parts[chance_below(8)];
            size_t size = strlen(part);
            memcpy(text + length, part, size);
            length += size + (size == 0);
            text[length - 1] = size == 0 ? 'x' : text[length - 1];
        }
        add_text(text, length);
    }
}

static void all_kinds_of_words(void **state)
{
    char number[32];

    (void)state;
    chance_start();
    for (unsigned round = 0; round < 40; round++) {
        add_alike((unsigned)chance_below(3000),
                  (unsigned)chance_below(round < 20 ? 12 : 300));
        there_and_back(make_words());
    }
    for (unsigned i = 0; i < ALIKE; i++) {
        snprintf(number, sizeof number, "customer #%09u", i * 7);
        add_text(number, strlen(number));
    }
    /* half of it would be 270 kB */
    assert_in_range(there_and_back(make_words()), 1, 100000);
}

/* Several threads pack words of which there are this many. */
static void many_words(void **state)
{
    char number[32];

    (void)state;
    for (unsigned i = 0; i < TEXTS_MAX; i++) {
        snprintf(number, sizeof number, "%09u", i * 7);
        add_text(number, strlen(number));
    }
    assert_true(there_and_back(make_words()) > 0);
}

/* A word may be longer than a unit, and than what is behind it. */
static void long_words(void **state)
{
    static char text[300000];

    (void)state;
    chance_start();
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + chance_below(4));
    for (unsigned i = 0; i < 8; i++) {
        add_text(text, i * 40000);
        add_text(text + i, UNIT_RAW - i);
        add_text(text + 100 * i, 5);
    }
    assert_true(there_and_back(make_words()) > 0);
}

#define ASCII UINT64_C(0x7f7f7f7f7f7f7f7f)

static void what_does_not_pay(void **state)
{
    (void)state;
    chance_start();
    assert_int_equal(there_and_back(make_words()), 0);
    for (unsigned i = 0; i < 5000; i++) {
        uint64_t noise[4];
        for (unsigned k = 0; k < 4; k++)
            noise[k] = chance_below(UINT64_MAX) & ASCII;
        add_text(noise, sizeof noise);
    }
    there_and_back(make_words());
    /* So well packed that nobody would believe it. */
    memset(room, 'a', 2 << 20);
    texts[text_count++] =
        (struct vdbq_text){ .bytes = room, .length = 2 << 20 };
    assert_int_equal(there_and_back(make_words()), 0);
}

/* --------------------------------------------------------------- damage -- */

/* What is told of these words, which are in whatever order. */
static const char *told_of(const char *const *list, uint32_t count)
{
    struct dictionary *dictionary;
    struct tablet_words *words;
    uint8_t *packed, *back;
    struct words_sizes sizes;
    const char *fault;

    for (uint32_t i = 0; i < 2000; i++) {
        char text[64];
        snprintf(text, sizeof text, "a word before all others, number %05u", i);
        add_text(text, strlen(text));
    }
    for (uint32_t i = 0; i < count; i++)
        add_text(list[i], strlen(list[i]));
    dictionary = dictionary_list(texts, (uint32_t)text_count);
    words = words_of(dictionary);
    packed = malloc(words_size(words));
    back = malloc(words_size(words) + GUARD);
    assert_true(words_pack(words, packed) > 0);
    assert_true(words_sizes(packed, true, &sizes));
    fault = unpack(packed, &sizes, back);
    if (fault == NULL)
        assert_null(words_fault(words, sizes.memory));
    else
        assert_string_equal(words_fault(words, sizes.memory), fault);
    free(words);
    free(packed);
    free(back);
    return fault;
}

/* What is proven as words are unpacked is what is proven of others. */
static void words_are_proven(void **state)
{
    static const char order[] = "the words are not in order";
    static const struct {
        const char *words[3];
        const char *fault;
    } lists[] = { { { "b", "ba", "bb" }, NULL },
                  { { "b", "b\xc3\xa9", "b\xc3\xaa" }, NULL },
                  { { "b", "bb", "ba" }, order },
                  { { "b", "ba", "ba" }, order },
                  { { "bab", "ba", "bb" }, order },
                  { { "a", "b", "c" }, order },
                  { { "", "b", "c" }, order },
                  { { "b\xc3\xaa", "b\xc3\xa9", "c" }, order },
                  { { "b", "b\xc3", "c" }, "a word is not UTF-8" } };

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *fault = told_of(lists[i].words, 3);
        if (lists[i].fault == NULL)
            assert_null(fault);
        else
            assert_string_equal(fault, lists[i].fault);
    }
}

static void damage_is_told(void **state)
{
    struct tablet_words *words;
    uint64_t size, packed_size;
    uint8_t *packed, *copy, *back;
    struct words_sizes sizes, other;
    unsigned told = 0;

    (void)state;
    chance_start();
    add_alike(8000, 40);
    words = make_words();
    size = words_size(words);
    packed = malloc(size);
    packed_size = words_pack(words, packed);
    assert_true(packed_size > 0 && words_sizes(packed, true, &sizes));
    copy = malloc(packed_size);
    back = malloc(size + GUARD);
    for (unsigned i = 0; i < DAMAGES; i++) {
        uint64_t near = i % 2 == 0 ? 128 : packed_size;
        memcpy(copy, packed, packed_size);
        for (unsigned k = 0; k <= i % 3; k++)
            copy[chance_below(near)] = (uint8_t)chance_below(256);
        if (!words_sizes(copy, true, &other) || other.file != sizes.file
            || other.memory != sizes.memory) {
            assert_non_null(unpack(copy, &sizes, back));
            told++;
        } else if (unpack(copy, &sizes, back) != NULL) {
            told++;
        }
    }
    assert_true(told > DAMAGES / 2);
    free(words);
    free(packed);
    free(copy);
    free(back);
}

/* ------------------------------------------------------------- tablets -- */

static struct column columns[] = { { .name = "s", .type = VDBQ_TEXT },
                                   { .name = "i", .type = VDBQ_INTEGER },
                                   { .name = "t", .type = VDBQ_TEXT },
                                   { .name = "u", .type = VDBQ_TEXT } };
enum { COLUMNS = 4, ROWS = 3000 };
static const struct table table = { .id = 1,
                                    .name = "t",
                                    .column_count = COLUMNS,
                                    .columns = columns,
                                    .key = NO_KEY };

/* A tablet of rows with three columns of texts: many, few, none. */
static struct block make_tablet(void)
{
    static int32_t numbers[COLUMNS][ROWS];
    static uint8_t nulls[ROWS];
    struct dictionary *words[COLUMNS] = { NULL };
    struct vdbq_vector vectors[COLUMNS];
    struct tablet_column described[COLUMNS];
    struct column_facts facts[COLUMNS];
    struct block block;

    memset(nulls, 1, sizeof nulls);
    for (unsigned c = 0; c < COLUMNS; c++) {
        vectors[c] = (struct vdbq_vector){ columns[c].type, numbers[c],
                                           c == 3 ? nulls : NULL };
        text_count = room_used = 0;
        add_alike(c == 3 ? 0 : ROWS, c == 2 ? 3 : 60);
        if (columns[c].type == VDBQ_TEXT)
            words[c] =
                dictionary_make(texts, text_count, (uint32_t *)numbers[c]);
    }
    text_count = room_used = 0;
    const struct tablet_source source = {
        .table = &table, .rows = ROWS, .vectors = vectors, .dictionaries = words
    };
    block = block_create(tablet_describe(&source, described, facts));
    tablet_build(&source, described, block.bytes);
    for (unsigned c = 0; c < COLUMNS; c++)
        dictionary_release(words[c]);
    return block;
}

static struct block copy_of(const struct block *block)
{
    struct block copy = block_create(block->size);

    memcpy(copy.bytes, block->bytes, block->size);
    return copy;
}

/* The tablet is checked where it may be read, and comes back as it was. */
static void tablets_come_back(void **state)
{
    struct block block, whole;
    const struct tablet *head;

    (void)state;
    chance_start();
    block = make_tablet();
    whole = copy_of(&block);
    assert_true(tablet_pack(&block, NULL));
    head = block.bytes;
    assert_true(block.size < whole.size && head->size == block.size);
    assert_int_equal(head->format, TABLET_FORMAT);
    assert_true(tablet_column(head, 0)->words_packed);
    assert_int_equal(tablet_check_head(&table, head, block.size, ROWS, ERROR),
                     VDBQ_OK);
    assert_int_equal(tablet_check(&table, head, block.size, ROWS, ERROR),
                     VDBQ_CORRUPT);
    assert_int_equal(tablet_unpack(&block, NULL, ERROR), VDBQ_OK);
    assert_int_equal(block.size, whole.size);
    assert_memory_equal(block.bytes, whole.bytes, whole.size);
    block_destroy(&block);
    block_destroy(&whole);
}

/* Whatever becomes of a bit, nothing is read or written beside the blocks, and
 * what passes all checks can be read. */
static void damaged_tablets(void **state)
{
    struct block block, copy;
    unsigned told = 0;

    (void)state;
    chance_start();
    block = make_tablet();
    assert_true(tablet_pack(&block, NULL));
    for (unsigned i = 0; i < DAMAGES; i++) {
        uint64_t words = ((const struct tablet *)block.bytes)->variable;
        copy = copy_of(&block);
        ((uint8_t *)copy.bytes)[i % 2 == 0 ? chance_below(64 + 64 * COLUMNS)
                                           : words + chance_below(128)] ^=
            (uint8_t)(1u << chance_below(8));
        bool sound =
            tablet_check_head(&table, copy.bytes, copy.size, ROWS, ERROR)
                == VDBQ_OK
            && tablet_unpack(&copy, NULL, ERROR) == VDBQ_OK
            && tablet_check(&table, copy.bytes, copy.size, ROWS, ERROR)
                   == VDBQ_OK;
        told += !sound;
        block_destroy(&copy);
    }
    assert_true(told > DAMAGES / 2);
    block_destroy(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_words),
        cmocka_unit_test(many_words),
        cmocka_unit_test(long_words),
        cmocka_unit_test(what_does_not_pay),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(words_are_proven),
        cmocka_unit_test(tablets_come_back),
        cmocka_unit_test(damaged_tablets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
