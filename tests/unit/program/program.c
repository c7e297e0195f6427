/* SPDX-License-Identifier: MIT */
/*
 * Programs: the table of opcodes, the text form and its way back, the packed
 * form and the specialised text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/type.h"
#include "fixtures/failing_memory.h"
#include "fixtures/programs.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/tablet.h"

/* --------------------------------------------------- the opcode's table -- */

static void full_name(enum opcode op, char *name, size_t room)
{
    const struct op_facts *facts = op_facts(op);

    snprintf(name, room, facts->type[0] == '-' ? "%s" : "%s.%s",
             facts->mnemonic, facts->type);
}

static void opcodes_are_found_by_their_names(void **state)
{
    char name[64];

    (void)state;
    for (int op = 0; op < OPCODES; op++) {
        full_name((enum opcode)op, name, sizeof name);
        assert_int_equal(op_find(name, strlen(name)), op);
        for (char *at = name; *at != '\0'; at++)
            *at = *at >= 'A' && *at <= 'Z' ? (char)(*at + 32) : *at;
        assert_int_equal(op_find(name, strlen(name)), op);
    }
    assert_int_equal(op_find("Add", 3), -1);
    assert_int_equal(op_find("Add.", 4), -1);
    assert_int_equal(op_find("Add.I3", 6), -1);
    assert_int_equal(op_find("Add.I322", 8), -1);
    assert_int_equal(op_find("Invalid.I32", 11), -1);
    assert_int_equal(op_find("", 0), -1);
}

static void forms_agree_with_facts(void **state)
{
    (void)state;
    for (int i = 0; i < OPCODES; i++) {
        enum opcode op = (enum opcode)i;
        const struct op_facts *facts = op_facts(op);
        const char *letters = op_operands(op);

        assert_int_equal(strlen(letters), 4);
        assert_int_equal(strchr(letters, 'w') != NULL,
                         facts->writes != TYPE_NONE);
        assert_int_equal(strchr(letters, 'r') != NULL,
                         facts->reads != TYPE_NONE);
        assert_int_equal(strchr(letters, 'y') != NULL,
                         facts->effect == EFFECT_JUMP);
        assert_true(facts->meaning[0] != '\0');
    }
    assert_int_equal(type_width(TYPE_I32), 4);
    assert_int_equal(type_width(TYPE_I64), 8);
    assert_int_equal(type_width(TYPE_F32), 4);
    assert_int_equal(type_width(TYPE_F64), 8);
    assert_string_equal(type_text(TYPE_F32), "F32");
}

/* ---------------------------------------------------------- round trip -- */

/* Every opcode once, with operands that are all different. */
static void add_every_opcode(struct program *program)
{
    for (int op = 0; op < OPCODES; op++) {
        struct instruction in = { .op = (enum opcode)op };
        const char *letters = op_operands(in.op);
        int *const operands[4] = { &in.a, &in.b, &in.c, &in.d };

        for (int i = 0; i < 4; i++)
            if (letters[i] != 'v')
                *operands[i] = (op * 7 + i * 13) % 1000 - 5;
        if (in.op == OP_FLOAT_F32 || in.op == OP_FLOAT_F64)
            in.real = 0.5;
        else if (strchr(letters, 'v') != NULL)
            in.integer = -op;
        if (in.op == OP_TABLE || in.op == OP_RESULT_COLUMN)
            in.name = "a \"name\"; with # signs";
        assert_true(program_add(program, &in) >= 0);
    }
}

static void add_constants(struct program *program)
{
    static const double reals[] = { 0.0,      -0.0,     0.1,      1e-40, 5e-324,
                                    1e300,    FLT_MAX,  DBL_MAX,  -2.5,  1e15,
                                    123456.0, INFINITY, -INFINITY };
    static const int64_t integers[] = { 0,         -1,        INT32_MAX,
                                        INT32_MIN, INT64_MAX, INT64_MIN };

    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        struct instruction in = { .op = OP_FLOAT_F64, .real = reals[i] };
        program_add(program, &in);
        in.op = OP_FLOAT_F32;
        in.real = fabs(reals[i]) > (double)FLT_MAX ? reals[i] * INFINITY
                                                   : (double)(float)reals[i];
        program_add(program, &in);
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        program_add(program, &(struct instruction){ .op = OP_INTEGER_I64,
                                                    .integer = integers[i] });
}

static void assert_float_bits(float x, float y)
{
    assert_memory_equal(&x, &y, sizeof x);
}

static void assert_same(const struct instruction *in,
                        const struct instruction *other)
{
    assert_int_equal(in->op, other->op);
    assert_int_equal(in->a, other->a);
    assert_int_equal(in->b, other->b);
    assert_int_equal(in->c, other->c);
    assert_int_equal(in->d, other->d);
    assert_true(in->integer == other->integer);
    if (in->op == OP_FLOAT_F32)
        assert_float_bits((float)in->real, (float)other->real);
    else
        assert_memory_equal(&in->real, &other->real, sizeof in->real);
    assert_int_equal(in->name == NULL, other->name == NULL);
    if (in->name != NULL)
        assert_string_equal(in->name, other->name);
}

static void programs_are_read_back_as_printed(void **state)
{
    struct program program, back;
    struct text text = { 0 }, again = { 0 };
    struct error error;

    (void)state;
    program_init(&program);
    program_init(&back);
    add_every_opcode(&program);
    add_constants(&program);
    program_print(&program, &text);
    if (program_read(text.bytes, &back, &error) != VDBQ_OK)
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
    assert_int_equal(program.code.count, back.code.count);
    for (int pc = 0; pc < (int)program.code.count; pc++)
        assert_same(program_at(&program, pc), program_at(&back, pc));
    assert_int_equal(back.tables.count, 1);
    program_print(&back, &again);
    assert_string_equal(text.bytes, again.bytes);
    text_finish(&text);
    text_finish(&again);
    program_finish(&program);
    program_finish(&back);
}

static void names_are_read_back_whatever_is_in_them(void **state)
{
    static const char *const names[] = {
        "",    " ",   "a\nb", "\"",       "\"\"",      "\\",
        "\\n", "a\\", "\t;#", "\xc3\xa4", "1 +\r\n 2", "a\"b"
    };
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct program program, back;
        struct text text = { 0 };

        program_init(&program);
        program_init(&back);
        program_add(&program, &(struct instruction){ .op = OP_RESULT_COLUMN,
                                                     .a = TYPE_I32,
                                                     .name = names[i] });
        program_print(&program, &text);
        assert_ptr_equal(strchr(text.bytes, '\n'),
                         text.bytes + text.length - 1);
        if (program_read(text.bytes, &back, &error) != VDBQ_OK)
            fail_msg("%s: %s", text.bytes, error.message);
        assert_string_equal(program_at(&back, 0)->name, names[i]);
        text_finish(&text);
        program_finish(&program);
        program_finish(&back);
    }
}

static void lines_say_what_they_do(void **state)
{
    static const struct instruction in = {
        .op = OP_CHOOSE_F64, .a = 7, .b = 1, .c = 2, .d = 3, .comment = "f + 1"
    };
    struct program program;
    struct text text = { 0 };

    (void)state;
    program_init(&program);
    program_add(&program, &in);
    program_add(&program, &(struct instruction){
                              .op = OP_FLOAT_F32, .a = 2, .real = 0.1 });
    program_print(&program, &text);
    assert_string_equal(text.bytes,
                        "   0  Choose.F64        7    1    2    3  "
                        "; r[7] = r[1] where r[3], else r[2]  (f + 1)\n"
                        "   1  Float.F32         2  0.1    0    0  "
                        "; r[2] = 0.1\n");
    text_finish(&text);
    program_finish(&program);
}

static void text_may_be_written_freely(void **state)
{
    struct program program;
    struct error error;

    (void)state;
    program_init(&program);
    assert_int_equal(program_read("# a comment\n"
                                  "\n"
                                  "; another\n"
                                  "\t 17 TABLE 3 \"t\" ; with words\r\n"
                                  "add.i32 1 2 3;4\n"
                                  "Float.F64 1 1e3 # more\n"
                                  "Converge",
                                  &program, &error),
                     VDBQ_OK);
    assert_int_equal(program.code.count, 4);
    assert_int_equal(program_at(&program, 0)->a, 3);
    assert_string_equal(program_at(&program, 0)->name, "t");
    assert_int_equal(program_at(&program, 0)->at.line, 4);
    assert_int_equal(program_at(&program, 1)->c, 3);
    assert_int_equal(program_at(&program, 1)->d, 0);
    assert_true(program_at(&program, 2)->real == 1000.0);
    program_finish(&program);
}

static void faults_of_text_have_a_place(void **state)
{
    static const struct {
        const char *text, *message;
        unsigned line, column;
    } faults[] = {
        { "Invalid\n\nNothing 1", "no opcode \"Nothing\"", 3, 1 },
        { "Add 1 2 3", "no opcode \"Add\"", 1, 1 },
        { "5", "", 0, 0 },
        { "5 6", "no opcode \"6\"", 1, 3 },
        { "Add.I32 1 x 3", "\"x\" is not a number", 1, 11 },
        { "Add.I32 1 2.5 3", "\"2.5\" is not a number", 1, 11 },
        { "Add.I32 1 2 3 4 5", "four operands", 1, 17 },
        { "Add.I32 99999999999", "too large for an operand", 1, 9 },
        { "Integer.I64 0 9223372036854775808", "is not a number", 1, 15 },
        { "Float.F64 0 1e", "\"1e\" is not a number", 1, 13 },
        { "Table 0 0 0 0 \"t", "the name does not end", 1, 15 },
        { "Table 0 0 0 0 \"t\"\"", "the name does not end", 1, 15 },
    };
    struct program program;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool good = faults[i].line == 0;
        program_init(&program);
        error_clear(&error);
        assert_int_equal(program_read(faults[i].text, &program, &error),
                         good ? VDBQ_OK : VDBQ_PROGRAM);
        if (strstr(error.message, faults[i].message) == NULL)
            fail_msg("%s: %s", faults[i].text, error.message);
        assert_int_equal(error.line, faults[i].line);
        assert_int_equal(error.column, faults[i].column);
        program_finish(&program);
    }
}

/* ------------------------------------------------------------- packing -- */

static void columns_become_inputs(void **state)
{
    static const struct program_input inputs[] = { { 0, -1 },
                                                   { 0, 0 },
                                                   { 0, 2 } };
    struct program program;
    struct program_pack pack;
    struct error error;

    (void)state;
    read_good(nullable_program, &program);
    assert_int_equal(program_result(&program, 0).null_register, 5);
    assert_int_equal(program_pack(&program, &program.arena, &pack, &error),
                     VDBQ_OK);
    assert_int_equal(pack.input_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pack.inputs[i].cursor, inputs[i].cursor);
        assert_int_equal(pack.inputs[i].column, inputs[i].column);
    }
    assert_int_equal(pack.code[4].op, OP_COLUMN_F32);
    assert_int_equal(pack.code[4].b, 2);
    assert_int_equal(pack.code[5].op, OP_COLUMN_NULL);
    assert_int_equal(pack.code[5].b, 2);
    assert_int_equal(pack.code[6].b, 1);
    assert_int_equal(pack.code[7].a, 6);
    assert_int_equal(pack.code[7].b, 2);
    assert_int_equal(pack.code[8].b, 0);
    assert_int_equal(pack.code[12].b, 2);
    program_finish(&program);
}

/* Of probed cursors: what is read and what is probed are lists of their own,
 * each by cursors and columns. */
static void build_columns_become_inputs(void **state)
{
    static const char text[] = "Table 0 0 0 \"t\"\n"
                               "Table 0 0 1 \"u\"\n"
                               "Table 0 0 2 \"w\"\n"
                               "ResultColumn 2 \"x\"\n"
                               "Parallel 0 0 14\n"
                               "Column.I64 1 1 0\n"
                               "Column.I32 2 0 0\n"
                               "Probe.I64 3 1 2 1\n"
                               "Probe.I32 4 2 1 0\n"
                               "ColumnAt.F64 5 3 2 3\n"
                               "ColumnAtNull 6 3 1 4\n"
                               "ColumnAt.I64 0 1 2 3\n"
                               "Result 0 1\n"
                               "Converge\n"
                               "Finish\n";
    struct program program;
    struct program_pack pack;
    struct error error;

    (void)state;
    read_good(text, &program);
    assert_int_equal(program_axes(&program), 1);
    assert_int_equal(program_pack(&program, &program.arena, &pack, &error),
                     VDBQ_OK);
    assert_int_equal(pack.input_count, 2);
    assert_int_equal(pack.build_count, 3);
    assert_int_equal(pack.build_inputs[0].cursor, 1);
    assert_int_equal(pack.build_inputs[1].cursor, 2);
    assert_int_equal(pack.build_inputs[1].column, 1);
    assert_int_equal(pack.index_count, 2);
    assert_int_equal(pack.indexes[0].cursor, 1);
    assert_int_equal(pack.indexes[1].column, 1);
    assert_int_equal(pack.code[7].d, 1);
    assert_int_equal(pack.code[8].d, 0);
    assert_int_equal(pack.code[9].b, 2);
    assert_int_equal(pack.code[10].b, 0);
    assert_int_equal(pack.code[11].b, 1);
    program_finish(&program);
}

static void constants_get_places(void **state)
{
    struct program program;
    struct program_pack pack;
    struct error error;
    double real;

    (void)state;
    read_good(nullable_program, &program);
    assert_int_equal(program_pack(&program, &program.arena, &pack, &error),
                     VDBQ_OK);
    assert_int_equal(pack.constant_count, 3);
    memcpy(&real, &pack.constants[0], sizeof real);
    assert_true(real == 0.1);
    assert_true(pack.constants[1] == INT64_MIN);
    assert_true(pack.constants[2] == 7);
    assert_int_equal(pack.code[9].b, 0);
    assert_int_equal(pack.code[10].b, 1);
    assert_int_equal(pack.code[11].b, 2);
    program_finish(&program);
}

static void specialise_loads(const char *source,
                             const struct program_loads *loads,
                             struct text *text)
{
    struct program program;
    struct program_pack pack;
    struct error error;

    read_good(source, &program);
    assert_int_equal(program_pack(&program, &program.arena, &pack, &error),
                     VDBQ_OK);
    program_specialise(&program, &pack, loads, text);
    assert_false(text->failed);
    program_finish(&program);
}

static void specialise(const char *source, struct text *text)
{
    specialise_loads(source, &(struct program_loads){ 0 }, text);
}

static void specialised_text_is_calls(void **state)
{
    struct text text = { 0 };
    const char *step;

    (void)state;
    specialise(nullable_program, &text);
    step = strstr(text.bytes, "run_step");
    assert_non_null(strstr(text.bytes, "run_constants"));
    assert_non_null(step);
    assert_non_null(strstr(step, "op_COLUMN_F32(m, 4, 0, 2, 0, 0);\n"));
    assert_non_null(strstr(step, "op_COLUMN_NULL(m, 5, 5, 2, 0, 0);\n"));
    assert_non_null(strstr(step, "op_ROWID_I32(m, 8, 3, 0, 0, 0);\n"));
    assert_null(strstr(step, "op_FLOAT"));
    assert_null(strstr(step, "op_INTEGER"));
    assert_ptr_equal(strstr(text.bytes, "op_COLUMN"),
                     strstr(step, "op_COLUMN"));
    assert_non_null(strstr(step, "result_values(m, 12, 0, 4, 0, "
                                 "m->outputs + 0);\n"
                                 "    result_nulls(m, 12, 5, m->outputs + 0);\n"
                                 "    result_values(m, 12, 1, 8, 0, "
                                 "m->outputs + 1);\n"));
    text_finish(&text);
}

/* What is known of loads is in their last operand: encodings, and which loads
 * do not ask who is live. Other calls stay as they are. */
static void specialised_text_knows_loads(void **state)
{
    static const char source[] = "Table 0 0 0 \"t\"\n"
                                 "ResultColumn 2 \"x\"\n"
                                 "Parallel 0 0 9\n"
                                 "Column.I32 0 0\n"
                                 "Integer.I32 1 60\n"
                                 "Le.I32 0 1 7\n"
                                 "Column.I64 2 1\n"
                                 "Result 2 1\n"
                                 "Converge\n"
                                 "Finish\n";
    static const unsigned char encodings[] = { 1 + ENCODING_PACKED, 0 };
    static const char *const first[] = { "op_COLUMN_I32(m, 3, 0, 0, 0, 4);",
                                         "op_COLUMN_I32(m, 3, 0, 0, 0, 12);",
                                         "op_COLUMN_I32(m, 3, 0, 0, 0, 12);" };
    static const char *const second[] = { "op_COLUMN_I64(m, 6, 2, 1, 0, 0);",
                                          "op_COLUMN_I64(m, 6, 2, 1, 0, 0);",
                                          "op_COLUMN_I64(m, 6, 2, 1, 0, 8);" };
    (void)state;
    for (int eager = EAGER_NONE; eager <= EAGER_ALL; eager++) {
        struct text text = { 0 };
        specialise_loads(
            source,
            &(struct program_loads){ .encodings = encodings,
                                     .eager = (enum load_eager)eager },
            &text);
        assert_non_null(strstr(text.bytes, first[eager]));
        assert_non_null(strstr(text.bytes, second[eager]));
        assert_non_null(strstr(text.bytes, "op_LE_I32(m, 5, 0, 1, 7, 0);"));
        text_finish(&text);
    }
}

/* A result column may be narrow where it has a column's integers, unless these
 * are known to be plain. */
static void specialised_text_knows_what_may_be_narrow(void **state)
{
    static const char source[] = "Table 0 0 0 \"t\"\n"
                                 "ResultColumn 2 \"x\"\n"
                                 "ResultColumn 1 \"y\"\n"
                                 "Parallel 0 0 9\n"
                                 "Column.I64 0 1\n"
                                 "Column.I32 2 0\n"
                                 "Add.I32 1 2 2\n"
                                 "Result 0 2\n"
                                 "Converge\n"
                                 "Finish\n";
    const struct {
        unsigned char encoding;
        const char *call;
    } cases[] = {
        { 0, "result_values(m, 7, 0, 8, 1, m->outputs + 0);" },
        { 1 + ENCODING_PACKED,
          "result_values(m, 7, 0, 8, 1, m->outputs + 0);" },
        { 1 + ENCODING_PLAIN, "result_values(m, 7, 0, 8, 0, m->outputs + 0);" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned char encodings[] = { 0, cases[i].encoding };
        struct text text = { 0 };
        specialise_loads(
            source, &(struct program_loads){ .encodings = encodings }, &text);
        assert_non_null(strstr(text.bytes, cases[i].call));
        assert_non_null(strstr(text.bytes, "result_values(m, 7, 1, 4, 0, "
                                           "m->outputs + 1);"));
        text_finish(&text);
    }
}

/* Programs that differ in names and constants share a binary. */
static void specialised_text_holds_no_constants(void **state)
{
    static const char other[] =
        "Table 0 0 0 0 \"other\"\nResultColumn 1 0 0 0 \"y\"\n"
        "Parallel 0 0 6\nInteger.I32 0 61\nResult 0 1\nConverge\nFinish\n";
    static const char one[] =
        "Table 0 0 0 0 \"secret\"\nResultColumn 1 0 0 0 \"x\"\n"
        "Parallel 0 0 6\nInteger.I32 0 60\nResult 0 1\nConverge\nFinish\n";
    struct text a = { 0 }, b = { 0 };

    (void)state;
    specialise(one, &a);
    specialise(other, &b);
    assert_string_equal(a.bytes, b.bytes);
    assert_null(strstr(a.bytes, "secret"));
    assert_null(strstr(a.bytes, "60"));
    text_finish(&a);
    text_finish(&b);
}

/* ------------------------------------------------------------ hostility -- */

/* Reads, checks, packs and prints while the n-th call for memory fails. */
static enum vdbq_status go_through(struct error *error)
{
    struct program program;
    struct program_pack pack;
    struct text text = { 0 };
    enum vdbq_status status = read_checked(nullable_program, &program, error);

    if (status == VDBQ_OK)
        status = program_pack(&program, &program.arena, &pack, error);
    if (status == VDBQ_OK)
        program_print(&program, &text);
    if (status == VDBQ_OK)
        program_specialise(&program, &pack, &(struct program_loads){ 0 },
                           &text);
    if (text.failed)
        status = VDBQ_NO_MEMORY;
    text_finish(&text);
    program_finish(&program);
    return status;
}

static void every_call_for_memory_may_fail(void **state)
{
    enum vdbq_status status = VDBQ_NO_MEMORY;
    struct error error;
    unsigned n = 0;

    (void)state;
    for (; status != VDBQ_OK && n < 10000; n++) {
        memory_fail_once_after(n);
        status = go_through(&error);
        if (status != VDBQ_OK)
            assert_int_equal(status, VDBQ_NO_MEMORY);
    }
    memory_fail_never();
    assert_int_equal(status, VDBQ_OK);
    assert_true(n > 5);
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Changes some letters of a good program: it must be read and checked, or
 * refused, and nothing else; what passes the check can be packed. */
static void damaged_text_is_refused_or_right(void **state)
{
    static const char letters[] = "0123456789 \n-.;\"IFaC#";
    uint64_t seed = 20101;
    struct program program;
    struct program_pack pack;
    struct error error;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 20000; round++) {
        char text[512];
        strcpy(text, round % 2 ? nullable_program : query_0);
        for (uint64_t i = random_bits(&seed) % 4 + 1; i > 0; i--)
            text[random_bits(&seed) % strlen(text)] =
                letters[random_bits(&seed) % (sizeof letters - 1)];
        if (read_checked(text, &program, &error) == VDBQ_OK)
            assert_int_equal(
                program_pack(&program, &program.arena, &pack, &error), VDBQ_OK);
        program_finish(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_are_found_by_their_names),
        cmocka_unit_test(forms_agree_with_facts),
        cmocka_unit_test(programs_are_read_back_as_printed),
        cmocka_unit_test(names_are_read_back_whatever_is_in_them),
        cmocka_unit_test(lines_say_what_they_do),
        cmocka_unit_test(text_may_be_written_freely),
        cmocka_unit_test(faults_of_text_have_a_place),
        cmocka_unit_test(columns_become_inputs),
        cmocka_unit_test(build_columns_become_inputs),
        cmocka_unit_test(constants_get_places),
        cmocka_unit_test(specialised_text_is_calls),
        cmocka_unit_test(specialised_text_knows_loads),
        cmocka_unit_test(specialised_text_knows_what_may_be_narrow),
        cmocka_unit_test(specialised_text_holds_no_constants),
        cmocka_unit_test(every_call_for_memory_may_fail),
        cmocka_unit_test(damaged_text_is_refused_or_right),
    };

    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
