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
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cl/tablet.h"
#include "device/device.h"
#include "exec/dictionary/run_dictionary.h"
#include "exec/launch/launcher.h"
#include "program/functions/function.h"

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

static const int types[] = { TYPE_WORD, TYPE_WORD };

static void make_program(struct program *program, const char *text)
{
    struct error error = { 0 };
    program_init(program);
    assert_int_equal(program_read(text, program, &error), VDBQ_OK);
    struct program_table *table = vector_at(&program->tables, 0);
    table->column_count = sizeof types / sizeof *types;
    table->column_types = types;
    table->key_type = TYPE_I64;
    if (program_check(program, &error) != VDBQ_OK)
        fail_msg("%s", error.message);
}

static struct vdbq_text text_of(const char *bytes)
{
    return (struct vdbq_text){ bytes, strlen(bytes) };
}

/* The base of all morsels, for what its words are for, and each one's codes. */
static struct dictionary_base *make_base_for(size_t morsels, enum words_use use,
                                             int32_t codes[][ROWS])
{
    struct dictionary *dictionaries[MORSELS] = { NULL };
    for (size_t c = 0; c < morsels; c++) {
        struct vdbq_text all[ROWS];
        for (int i = 0; i < ROWS; i++)
            all[i] = text_of(texts[c][i]);
        dictionaries[c] = dictionary_make(all, ROWS, (uint32_t *)codes[c]);
        assert_non_null(dictionaries[c]);
    }
    struct dictionary_base *base = dictionary_base_make(
        &(struct dictionary_base_params){ .dictionaries = dictionaries,
                                          .morsels = morsels,
                                          .inputs = 1,
                                          .uses = &use });
    assert_non_null(base);
    for (size_t c = 0; c < morsels; c++)
        dictionary_release(dictionaries[c]);
    return base;
}

static struct dictionary_base *make_base(size_t morsels, int32_t codes[][ROWS])
{
    return make_base_for(morsels, WORDS_ANY, codes);
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

static const char shown_text[] = "Table 0 0 0 0 \"t\"\n"
                                 "ResultColumn 1 0 0 0 \"word\"\n"
                                 "ResultColumn 1 0 0 0 \"like\"\n"
                                 "Parallel 0 0 8\n"
                                 "Column.WORD 0 0 0\n"
                                 "Lookup.I32 1 0 0 0 \"like(?, 'a%')\"\n"
                                 "Result 0 2\n"
                                 "Converge\n"
                                 "Finish\n";

/* Words that are shown have numbers of their own, in launches of one morsel and of
 * several; what is looked up of them is found by these. */
static void shown_words_keep_their_numbers(void **state)
{
    int32_t codes[MORSELS][ROWS];
    struct dictionary_base *base = make_base_for(MORSELS, WORDS_SHOWN, codes);
    struct program program;
    struct run_dictionary table;
    (void)state;
    make_program(&program, shown_text);
    make_table(&table, &program, base, "");
    const struct dictionary *words = run_dictionary_words(&table, 0);
    const uint8_t *like = table.values.lookups[0].values;
    assert_ptr_equal(words, base->apart[0]->shown);
    assert_ptr_equal(run_dictionary_words(&table, 1), table.dictionary);
    assert_int_equal(words->count, MORSELS * ROWS);
    assert_int_equal(table.dictionary->count, 0);
    assert_int_equal(table.values.lookups[0].own, 0);
    assert_int_equal(table.values.lookups[0].count, MORSELS * ROWS);
    for (size_t morsel = 0; morsel < MORSELS; morsel++) {
        const struct order_codes *of = run_dictionary_codes(&table, morsel);
        int64_t low, high;
        run_dictionary_range(&table, morsel, 0, &low, &high);
        assert_int_equal(low, morsel * ROWS);
        assert_int_equal(high, morsel * ROWS + ROWS - 1);
        for (int i = 0; i < ROWS; i++) {
            uint32_t number = of->before + (uint32_t)codes[morsel][i];
            const char *text = texts[morsel][i];
            assert_int_equal(dictionary_text(words, number).length,
                             strlen(text));
            assert_memory_equal(dictionary_text(words, number).bytes, text,
                                strlen(text));
            assert_int_equal(like[number], text[0] == 'a' || text[0] == 'A');
        }
    }
    run_dictionary_finish(&table);
    dictionary_base_release(base);
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
    assert_ptr_equal(table.dictionary, base->dictionary);
    assert_int_equal(table.values.slots[0], -1);
    run_dictionary_finish(&table);
    dictionary_base_release(base);
    program_finish(&program);
}

/* A constant that no word is has a number that each comparison takes for what it
 * is; two that ask for different ones make it a word. */
static void constants_fit_between_words(void **state)
{
    static const struct {
        const char *comparisons;
        enum text_fit fit;
    } cases[] = {
        { "Eq.I32 0 1 %d 0\n", FIT_EQUAL },
        { "Lt.I32 0 1 %d 0\n", FIT_NEXT },
        { "Ge.I32 0 1 %d 0\n", FIT_NEXT },
        { "Le.I32 0 1 %d 0\n", FIT_LAST },
        { "Lt.I32 1 0 %d 0\n", FIT_LAST },
        { "Gt.I32 1 0 %d 0\n", FIT_NEXT },
        { "IsLt.I32 2 1 0\n", FIT_LAST },
        { "IsLe.I32 2 1 0\n", FIT_NEXT },
        { "IsLt.I32 2 0 1\nIsLe.I32 3 1 0\n", FIT_NEXT },
        { "IsLt.I32 2 0 1\nIsEq.I32 3 1 0\n", FIT_NONE },
        { "IsEq.I32 2 1 1\n", FIT_NONE },
        { "Choose.I32 2 0 1 0\n", FIT_NONE },
    };
    int32_t codes[MORSELS][ROWS];
    struct dictionary_base *base = make_base(1, codes);
    uint32_t next;
    (void)state;
    assert_false(dictionary_find(base->dictionary, text_of("Bea"), &next));
    const int64_t numbers[] = {
        [FIT_EQUAL] = -1, [FIT_NEXT] = next, [FIT_LAST] = (int64_t)next - 1
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], comparisons[256];
        struct program program;
        struct run_dictionary table;
        int lines = 0;
        for (const char *at = cases[i].comparisons; *at != '\0'; at++)
            lines += *at == '\n';
        snprintf(comparisons, sizeof comparisons, cases[i].comparisons,
                 lines + 5);
        snprintf(text, sizeof text,
                 "Table 0 0 0 0 \"t\"\nResultColumn 1 0 0 0 \"x\"\n"
                 "Parallel 0 0 %d\nColumn.WORD 0 0 0\nParameter.WORD 1 0\n"
                 "%sResult 0 1\nConverge\nFinish\n",
                 lines + 7, comparisons);
        make_program(&program, text);
        make_table(&table, &program, base, "Bea");
        assert_int_equal(table.dictionary->count,
                         ROWS + (cases[i].fit == FIT_NONE));
        if (cases[i].fit != FIT_NONE)
            assert_int_equal(table.values.slots[0], numbers[cases[i].fit]);
        run_dictionary_finish(&table);
        program_finish(&program);
    }
    dictionary_base_release(base);
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

/* ------------------------------------------------------ many words -- */

enum { MANY = 70000, THREADS = 4 }; /* enough for each thread to have a share */

/* Every call, for words that are only looked up, and for words that are given,
 * too; results are texts that are few, or as many as the words, or not there. */
static const char many_text[] = "Table 0 0 0 0 \"t\"\n"
                                "ResultColumn 1 0 0 0 \"result\"\n"
                                "Parallel 0 0 17\n"
                                "Column.WORD 0 0 0\n"
                                "Text 1 0 0 0 \"m\"\n"
                                "Lookup.WORD 2 0 0 0 \"substr(?, 1, 2)\"\n"
                                "Lookup.WORD 3 0 0 0 \"upper(?)\"\n"
                                "Lookup.WORD 4 0 0 0 \"strftime(?, 0)\"\n"
                                "LookupNull 5 0 0 0 \"strftime(?, 0)\"\n"
                                "Lookup.WORD 6 0 0 0 \"repeat(?, 536870912)\"\n"
                                "LookupFails 7 0 0 0 \"repeat(?, 536870912)\"\n"
                                "Lookup.I32 8 0 0 0 \"like(?, '%7_7%')\"\n"
                                "Lookup.I64 9 0 0 0 \"length(?)\"\n"
                                "LookupNull 10 0 0 0 \"unicode(?)\"\n"
                                "Lookup.WORD 11 2 0 0 \"lower(?)\"\n";

/* The dictionary of MANY texts, the empty one among them; some twice. */
static struct dictionary *make_many(void)
{
    static char rooms[MANY][16];
    static struct vdbq_text many[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        const char *const forms[] = { "%c%ca%u", "%%%c%c", "%c%cB%u", "%c%c" };
        unsigned number = i * 2654435761u;
        snprintf(rooms[i], sizeof rooms[i], forms[i % 4], 'A' + number % 50,
                 'Q' + number / 64 % 30, number / 4096);
        if (i % 97 == 0)
            rooms[i][0] = '\0';
        many[i] = text_of(rooms[i]);
    }
    struct dictionary *dictionary = dictionary_make(many, MANY, NULL);
    assert_non_null(dictionary);
    return dictionary;
}

/* The number that a word of the base has in tables. */
static uint32_t number_now(const struct run_dictionary *table, uint32_t word)
{
    const struct order_codes *codes = run_dictionary_codes(table, 0);
    return codes != NULL && codes->order_codes != NULL
               ? (uint32_t)codes->order_codes[word]
               : word;
}

/* What the table of an instruction has for a word. */
static int64_t looked_up_value(const struct run_lookup *lookup, uint32_t number)
{
    assert_true(number < lookup->count);
    if (lookup->width == 1)
        return ((const uint8_t *)lookup->values)[number];
    if (lookup->width == 8)
        return ((const int64_t *)lookup->values)[number];
    return ((const int32_t *)lookup->values)[number];
}

/* The table has what the call gives. */
static void expect_result(const struct run_dictionary *table,
                          const struct instruction *in, int64_t got,
                          struct vdbq_text text)
{
    struct arena arena = { 0 };
    struct error error = { 0 };
    struct function_lookup call;
    struct function_value value;
    assert_int_equal(function_lookup_read(in->name, &arena, &call, &error),
                     VDBQ_OK);
    enum vdbq_status status = function_lookup_call(&call, call.arguments, text,
                                                   &arena, &value, &error);
    bool given = status == VDBQ_OK && !value.null;
    if (in->op == OP_LOOKUP_NULL)
        assert_int_equal(got, status == VDBQ_OK && value.null);
    else if (in->op == OP_LOOKUP_FAILS)
        assert_int_equal(got, status != VDBQ_OK);
    else if (!given)
        assert_int_equal(got, 0);
    else if (in->op != OP_LOOKUP_WORD)
        assert_int_equal(got, value.integer);
    else {
        struct vdbq_text word =
            dictionary_text(table->dictionary, (uint32_t)got);
        assert_int_equal(word.length, value.text.length);
        assert_memory_equal(word.bytes, value.text.bytes, word.length);
    }
    arena_finish(&arena);
}

/* All tables of the column's words, which are numbered as codes or apart. */
static void expect_tables(const struct program *program,
                          const struct run_dictionary *table,
                          const struct dictionary *words)
{
    unsigned place = 0;
    for (int pc = 0; pc < (int)program->code.count; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (op_facts(in->op)->form != FORM_LOOKUP)
            continue;
        const struct run_lookup *lookup = &table->values.lookups[place++];
        for (uint32_t i = 0; in->b == 0 && i < words->count; i += 7)
            expect_result(table, in,
                          looked_up_value(lookup, number_now(table, i)),
                          dictionary_text(words, i));
    }
    assert_int_equal(place, 10);
}

/* With one thread and several, with words apart and among the others. */
static void many_words_are_shared_out(void **state)
{
    struct dictionary *words = make_many();
    struct error error = { 0 };
    uint32_t counts[2] = { 0, 0 };
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        bool looked_up = i / 2 == 0;
        enum words_use use = looked_up ? WORDS_LOOKED_UP : WORDS_ANY;
        char text[2048];
        struct program program;
        struct run_dictionary table;
        snprintf(text, sizeof text, "%sResult %d 1\nConverge\nFinish\n",
                 many_text, looked_up ? 2 : 0);
        make_program(&program, text);
        struct dictionary_base *base = dictionary_base_make(&(
            struct dictionary_base_params){
            .dictionaries = &words, .morsels = 1, .inputs = 1, .uses = &use });
        assert_non_null(base);
        assert_int_equal(
            run_dictionary_init(&table,
                                &(struct run_dictionary_params){
                                    .program = &program,
                                    .base = base,
                                    .threads = i % 2 == 0 ? 1 : THREADS },
                                &error),
            VDBQ_OK);
        assert_int_equal(looked_up,
                         run_dictionary_codes(&table, 0)->order_codes == NULL);
        assert_int_equal(looked_up, table.values.lookups[0].own == 1);
        expect_tables(&program, &table, words);
        counts[i % 2] = table.dictionary->count;
        assert_true(i % 2 == 0 || counts[0] == counts[1]);
        run_dictionary_finish(&table);
        dictionary_base_release(base);
        program_finish(&program);
    }
    dictionary_release(words);
}

/* What the words of an input are for. */
static void what_words_are_for_is_known(void **state)
{
    static const struct {
        const char *text;
        enum words_use use;
    } programs[] = {
        { "Lookup.I32 2 0 0 0 \"like(?, 'a%')\"\n", WORDS_LOOKED_UP },
        { "Lookup.WORD 2 0 0 0 \"lower(?)\"\n", WORDS_LOOKED_UP },
        { "IsEq.I32 2 0 1\n", WORDS_COMPARED },
        { "Lookup.I32 2 1 0 0 \"like(?, 'a%')\"\n", WORDS_LOOKED_UP },
        { "Lookup.I32 3 0 0 0 \"like(?, 'a%')\"\n"
          "Lookup.I32 2 1 0 0 \"like(?, 'a%')\"\n",
          WORDS_LOOKED_UP },
        { "Column.WORD 4 1 0\nLookup.I32 3 0 0 0 \"like(?, 'a%')\"\n"
          "Lookup.I32 2 4 0 0 \"like(?, 'a%')\"\n",
          WORDS_LOOKED_UP },
        { "Column.WORD 4 1 0\nLookup.I32 3 4 0 0 \"like(?, 'a%')\"\n"
          "Lookup.I32 2 0 0 0 \"like(?, 'a%')\"\n",
          WORDS_LOOKED_UP },
        { "Column.WORD 4 1 0\nLookup.I32 3 0 0 0 \"like(?, 'a%')\"\n"
          "Lookup.I32 5 4 0 0 \"like(?, 'a%')\"\nIsEq.I32 2 0 4\n",
          WORDS_ANY },
        { "Lookup.I32 3 0 0 0 \"like(?, 'a%')\"\nIsLt.I32 2 0 1\n", WORDS_ANY },
        { "Lookup.WORD 3 0 0 0 \"lower(?)\"\nIsLt.I32 2 3 1\n",
          WORDS_LOOKED_UP },
        { "Column.WORD 4 0 0\nIsEq.I32 3 0 1\nIsEq.I32 2 4 1\n",
          WORDS_COMPARED },
        { "Column.WORD 4 0 0\nIsEq.I32 3 0 1\nIsEq.I32 2 4 0\n", WORDS_ANY },
        { "Column.WORD 4 0 0\nIsEq.I32 3 0 1\nIsEq.I32 2 4 1\n"
          "IsLt.I32 5 4 4\n",
          WORDS_ANY },
        { "Neq.I32 0 1 6 0\nInteger.I32 2 1\n", WORDS_COMPARED },
        { "Choose.I32 2 0 1 0\n", WORDS_ANY },
    };
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char text[1024];
        struct program program;
        struct program_pack pack;
        struct arena arena = { 0 };
        struct error error = { 0 };
        int lines = 5;
        for (const char *at = programs[i].text; *at != '\0'; at++)
            lines += *at == '\n';
        snprintf(text, sizeof text,
                 "Table 0 0 0 0 \"t\"\nResultColumn 1 0 0 0 \"x\"\n"
                 "Parallel 0 0 %d\nColumn.WORD 0 0 0\n"
                 "Text 1 0 0 0 \"bob\"\n%sResult 2 1\nConverge\nFinish\n",
                 lines + 2, programs[i].text);
        make_program(&program, text);
        assert_int_equal(program_pack(&program, &arena, &pack, &error),
                         VDBQ_OK);
        assert_int_equal(pack.uses[0], programs[i].use);
        arena_finish(&arena);
        program_finish(&program);
    }
}

/* A program whose only open places are numbers has no words, and no base. */
static void numbers_need_no_words(void **state)
{
    struct program program, words;
    struct run_dictionary table;
    struct error error = { 0 };
    const struct parameter values[] = { { .type = VDBQ_BIGINT, .integer = 7 } };

    (void)state;
    make_program(&words, program_text);
    assert_false(run_dictionary_no_words(&words));
    program_finish(&words);
    make_program(&program, "Table 0 0 0 0 \"t\"\n"
                           "ResultColumn 2 0 0 0 \"given\"\n"
                           "ResultColumn 2 0 0 0 \"not given\"\n"
                           "Parallel 0 0 8\n"
                           "Parameter.I64 0 0\n"
                           "Parameter.I64 1 1\n"
                           "Result 0 2\n"
                           "Converge\n"
                           "Finish\n");
    assert_true(run_dictionary_needed(&program));
    assert_true(run_dictionary_no_words(&program));
    assert_int_equal(run_dictionary_init(&table,
                                         &(struct run_dictionary_params){
                                             .program = &program,
                                             .parameters = values,
                                             .parameter_count = 1 },
                                         &error),
                     VDBQ_OK);
    assert_int_equal(table.values.slots[0], 7);
    assert_int_equal(table.values.slots[1], 0);
    assert_null(table.dictionary);
    run_dictionary_finish(&table);
    program_finish(&program);
}

/* Which results have words that are shown: none that is compared, joined with others
 * or computed, whatever is looked up; and what is asked of a result counts. */
static void what_is_shown_is_known(void **state)
{
    static const struct {
        const char *text;
        bool shown;
    } programs[] = {
        { "Integer.I32 3 1\n", true },
        { "Lookup.I32 3 0 0 0 \"like(?, 'a%')\"\n", true },
        { "Lookup.WORD 3 0 0 0 \"lower(?)\"\n", true },
        { "IsEq.I32 3 0 1\n", false },
        { "Column.WORD 4 1 0\nIsEq.I32 3 0 4\n", false },
        { "Choose.I32 3 0 1 0\n", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        static const uint8_t given[2],
            ordered[2] = { TEXTS_ORDERED, TEXTS_GIVEN };
        char text[1024];
        struct program program;
        struct program_pack pack;
        struct error error = { 0 };
        int lines = 6;
        for (const char *at = programs[i].text; *at != '\0'; at++)
            lines += *at == '\n';
        snprintf(text, sizeof text,
                 "Table 0 0 0 0 \"t\"\nResultColumn 1 0 0 0 \"word\"\n"
                 "ResultColumn 1 0 0 0 \"text\"\nParallel 0 0 %d\n"
                 "Column.WORD 0 0 0\nText 1 0 0 0 \"bob\"\n%s"
                 "Result 0 2\nConverge\nFinish\n",
                 lines + 2, programs[i].text);
        make_program(&program, text);
        assert_int_equal(program_pack(&program, &program.arena, &pack, &error),
                         VDBQ_OK);
        bool shown = programs[i].shown;
        assert_int_equal(pack.uses[0] == WORDS_COMPARED, 0);
        assert_int_equal(pack.shown_inputs[0], shown ? 0 : -1);
        assert_int_equal(pack.shown_inputs[1], -1);
        assert_int_equal(dictionary_base_uses(&pack, given, &program.arena)[0],
                         shown ? WORDS_SHOWN : WORDS_ANY);
        assert_int_equal(
            dictionary_base_uses(&pack, ordered, &program.arena)[0], WORDS_ANY);
        program_finish(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_follow_the_words),
        cmocka_unit_test(one_dictionary_needs_no_ranks),
        cmocka_unit_test(numbers_need_no_words),
        cmocka_unit_test(shown_words_keep_their_numbers),
        cmocka_unit_test(constants_fit_between_words),
        cmocka_unit_test(malformed_calls_are_refused),
        cmocka_unit_test(many_words_are_shared_out),
        cmocka_unit_test(what_words_are_for_is_known),
        cmocka_unit_test(what_is_shown_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
