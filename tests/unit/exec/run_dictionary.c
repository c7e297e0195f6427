/* SPDX-License-Identifier: MIT */
/*
 * Words of a run: programs over morsels of codes with dictionaries of their
 * own give the texts, and the values of calls, that they should; and where a
 * run adds no word to those of one dictionary, there are no order codes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cl/tablet.h"
#include "device/device.h"
#include "exec/dictionary/run_dictionary.h"
#include "exec/launch/launcher.h"

enum { MORSELS = 2, ROWS = 3 };

/* What the morsels hold, and the codes in each one's dictionary. */
static const char *const texts[MORSELS][ROWS] = { { "Anna", "bob", "anna" },
                                                  { "Carl", "bob", "Zoé" } };

static const char program_text[] = "Table 0 0 0 0 \"t\"\n"
                                   "ResultColumn 1 0 0 0 \"word\"\n"
                                   "ResultColumn 1 0 0 0 \"lower\"\n"
                                   "ResultColumn 2 0 0 0 \"length\"\n"
                                   "ResultColumn 1 0 0 0 \"is bob\"\n"
                                   "ResultColumn 1 0 0 0 \"like\"\n"
                                   "ResultColumn 1 0 0 0 \"parameter\"\n"
                                   "Parallel 0 0 18\n"
                                   "Column.WORD 0 0 0\n"
                                   "Lookup.WORD 1 0 0 0 \"lower(?)\"\n"
                                   "Lookup.I64 2 1 0 0 \"length(?)\"\n"
                                   "Text 6 0 0 0 \"bob\"\n"
                                   "IsEq.I32 3 1 6\n"
                                   "Lookup.I32 4 0 0 0 \"like(?, 'a%')\"\n"
                                   "Parameter.WORD 7 0\n"
                                   "IsLt.I32 5 0 7\n"
                                   "Result 0 6\n"
                                   "Converge\n"
                                   "Finish\n";

static const int types[] = { TYPE_WORD };

static void make_program(struct program *program, const char *text)
{
    struct error error = { 0 };
    program_init(program);
    assert_int_equal(program_read(text, program, &error), VDBQ_OK);
    struct program_table *table = vector_at(&program->tables, 0);
    table->column_count = 1;
    table->column_types = types;
    table->key_type = TYPE_I64;
    if (program_check(program, &error) != VDBQ_OK)
        fail_msg("%s", error.message);
}

static struct vdbq_text text_of(const char *bytes)
{
    return (struct vdbq_text){ bytes, strlen(bytes) };
}

/* The base of all morsels, and each one's codes. */
static struct dictionary_base *make_base(size_t morsels, int32_t codes[][ROWS])
{
    struct dictionary *dictionaries[MORSELS] = { NULL };
    for (size_t c = 0; c < morsels; c++) {
        struct vdbq_text all[ROWS];
        for (int i = 0; i < ROWS; i++)
            all[i] = text_of(texts[c][i]);
        dictionaries[c] = dictionary_make(all, ROWS, (uint32_t *)codes[c]);
        assert_non_null(dictionaries[c]);
    }
    struct dictionary_base *base =
        dictionary_base_make(dictionaries, morsels, 1);
    assert_non_null(base);
    for (size_t c = 0; c < morsels; c++)
        dictionary_release(dictionaries[c]);
    return base;
}

static void make_table(struct run_dictionary *table,
                       const struct program *program,
                       struct dictionary_base *base, const char *parameter)
{
    struct error error = { 0 };
    struct parameter value = { .type = VDBQ_TEXT, .text = text_of(parameter) };
    enum vdbq_status status = run_dictionary_init(
        table,
        &(struct run_dictionary_params){ .program = program,
                                         .base = base,
                                         .parameters = &value,
                                         .parameter_count = 1 },
        &error);
    if (status != VDBQ_OK)
        fail_msg("%s", error.message);
}

static void expect_row(const struct run_dictionary *table,
                       const struct vdbq_batch *batch, uint64_t row,
                       const char *text)
{
    char lower[16];
    size_t length = strlen(text), characters = 0;
    const int32_t *narrow[6];
    for (int i = 0; i < 6; i++)
        narrow[i] = batch->column[i].values;
    for (size_t i = 0; i <= length; i++) {
        lower[i] =
            text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
        characters += text[i] != '\0' && (text[i] & 0xc0) != 0x80;
    }
    struct vdbq_text word =
        dictionary_text(table->dictionary, (uint32_t)narrow[0][row]);
    struct vdbq_text small =
        dictionary_text(table->dictionary, (uint32_t)narrow[1][row]);
    assert_int_equal(word.length, length);
    assert_memory_equal(word.bytes, text, length);
    assert_int_equal(small.length, length);
    assert_memory_equal(small.bytes, lower, length);
    assert_int_equal(((const int64_t *)batch->column[2].values)[row],
                     characters);
    assert_int_equal(narrow[3][row], strcmp(lower, "bob") == 0);
    assert_int_equal(narrow[4][row], lower[0] == 'a');
    assert_int_equal(narrow[5][row], strcmp(text, "Bert") < 0);
}

static void run_morsel(struct launcher *launcher,
                       const struct run_dictionary *table, size_t morsel,
                       int32_t *codes)
{
    struct column_input input = { .width = 4, .encoding = ENCODING_PLAIN };
    struct error error = { 0 };
    struct vdbq_batch batch;
    struct launcher_request request = {
        .morsels = { { .inputs = &input,
                       .order_codes = run_dictionary_codes(table, morsel),
                       .host = (u8 *)codes,
                       .rows = ROWS } },
        .count = 1,
    };
    assert_int_equal(launcher_start(launcher, &request, &error), VDBQ_OK);
    assert_int_equal(launcher_batch(launcher, &batch, &error), VDBQ_OK);
    assert_int_equal(batch.rows, ROWS);
    for (int i = 0; i < ROWS; i++)
        expect_row(table, &batch, (uint64_t)i, texts[morsel][i]);
    assert_int_equal(launcher_batch(launcher, &batch, &error), VDBQ_OK);
    assert_int_equal(batch.rows, 0);
}

/* Morsels run by turns, so that order codes change, and stay. */
static void calls_follow_the_words(void **state)
{
    static const size_t order[] = { 0, 1, 1, 0 };
    int32_t codes[MORSELS][ROWS];
    struct dictionary_base *base = make_base(MORSELS, codes);
    struct program program;
    struct run_dictionary table;
    struct device *device;
    struct launcher *launcher;
    struct error error = { 0 };
    (void)state;
    make_program(&program, program_text);
    make_table(&table, &program, base, "Bert");
    dictionary_base_release(base);
    struct device_params params = { .choice = "host" };
    const struct settings settings = settings_default();
    struct run_place place = { .mode = MODE_SERIAL, .settings = &settings };
    assert_int_equal(device_open(&params, &device, &error), VDBQ_OK);
    place.device = device;
    assert_int_equal(
        launcher_open(&(struct launcher_params){ .place = &place,
                                                 .program = &program,
                                                 .values = &table.values },
                      &launcher, &error),
        VDBQ_OK);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        run_morsel(launcher, &table, order[i], codes[order[i]]);
    launcher_close(launcher);
    device_close(device);
    run_dictionary_finish(&table);
    program_finish(&program);
}

static const char plain_text[] = "Table 0 0 0 0 \"t\"\n"
                                 "ResultColumn 1 0 0 0 \"word\"\n"
                                 "Parallel 0 0 8\n"
                                 "Column.WORD 0 0 0\n"
                                 "Parameter.WORD 1 0\n"
                                 "Neq.I32 0 1 6 0\n"
                                 "Result 0 1\n"
                                 "Converge\n"
                                 "Finish\n";

static void one_dictionary_needs_no_ranks(void **state)
{
    int32_t codes[MORSELS][ROWS];
    struct dictionary_base *base = make_base(1, codes);
    struct program program;
    struct run_dictionary table;
    (void)state;
    make_program(&program, plain_text);
    assert_true(run_dictionary_needed(&program));
    make_table(&table, &program, base, "bob");
    assert_ptr_equal(table.dictionary, base->dictionary);
    assert_null(run_dictionary_codes(&table, 0));
    assert_int_equal(table.values.slots[0], codes[0][1]);
    run_dictionary_finish(&table);
    make_table(&table, &program, base, "Bea");
    assert_int_equal(table.dictionary->count, ROWS + 1);
    assert_non_null(run_dictionary_codes(&table, 0));
    run_dictionary_finish(&table);
    dictionary_base_release(base);
    program_finish(&program);
}

static void malformed_calls_are_refused(void **state)
{
    int32_t codes[MORSELS][ROWS];
    struct dictionary_base *base = make_base(1, codes);
    struct program program;
    struct run_dictionary table;
    struct error error = { 0 };
    (void)state;
    make_program(&program, "Table 0 0 0 0 \"t\"\n"
                           "ResultColumn 1 0 0 0 \"word\"\n"
                           "Parallel 0 0 7\n"
                           "Column.WORD 1 0 0\n"
                           "Lookup.WORD 0 1 0 0 \"nothing(?)\"\n"
                           "Result 0 1\n"
                           "Converge\n"
                           "Finish\n");
    assert_int_equal(
        run_dictionary_init(&table,
                            &(struct run_dictionary_params){
                                .program = &program, .base = base },
                            &error),
        VDBQ_PROGRAM);
    run_dictionary_finish(&table);
    dictionary_base_release(base);
    program_finish(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_follow_the_words),
        cmocka_unit_test(one_dictionary_needs_no_ranks),
        cmocka_unit_test(malformed_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
