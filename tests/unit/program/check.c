/* SPDX-License-Identifier: MIT */
/*
 * The checker: a test for each of its rules, with programs that keep it and
 * programs that do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/programs.h"

#include <stdio.h>
#include <string.h>

static void good_programs_pass(void **state)
{
    struct program program;

    (void)state;
    read_good(query_0, &program);
    assert_int_equal(program.registers, 5);
    assert_int_equal(program_part(&program).first, 5);
    assert_int_equal(program_part(&program).converge, 14);
    assert_int_equal(program_results(&program), 3);
    assert_string_equal(program_result(&program, 1).name, "uniformi");
    assert_int_equal(program_result(&program, 1).register_, 3);
    assert_int_equal(program_result(&program, 1).type, TYPE_I32);
    assert_int_equal(program_result(&program, 1).null_register, -1);
    assert_int_equal(program_cost(&program), 1 + 3 * 4 + 2 * 0 + 3 * 1 + 4);
    program_finish(&program);
}

/* The rows' part of a program with a table and one I32 result column. */
struct part {
    const char *lines;   /* between Parallel, at 2, and Converge */
    int count;           /* of them                              */
    const char *message; /* what the checker says; NULL: nothing */
};

static enum vdbq_status load_part(const struct part *part,
                                  struct program *program, struct error *error)
{
    char text[4096];

    snprintf(text, sizeof text,
             "Table 0 0 0 0 \"t\"\nResultColumn 1 0 0 0 \"x\"\n"
             "Parallel 0 0 %d\n%sConverge\nFinish\n",
             part->count + 4, part->lines);
    return read_checked(text, program, error);
}

static void check_parts(const struct part *parts, size_t count)
{
    struct program program;
    struct error error;

    for (size_t i = 0; i < count; i++) {
        enum vdbq_status status = load_part(&parts[i], &program, &error);
        if (status != (parts[i].message ? VDBQ_PROGRAM : VDBQ_OK)
            || (parts[i].message && !strstr(error.message, parts[i].message)))
            fail_msg("expected \"%s\", got \"%s\":\n%s",
                     parts[i].message ? parts[i].message : "", error.message,
                     parts[i].lines);
        if (parts[i].message && !strstr(error.message, "Result instructions"))
            assert_true(error.line > 3);
        program_finish(&program);
    }
}

static void operands_are_checked(void **state)
{
    static const struct part parts[] = {
        { "Integer.I32 0 1\nResult 0 1\n", 2, NULL },
        { "Integer.I32 1024 1\nResult 0 1\n", 2, "no register 1024" },
        { "Integer.I32 -1 1\nResult 0 1\n", 2, "no register -1" },
        { "Integer.I32 0 3000000000\nResult 0 1\n", 2, "does not fit" },
        { "Integer.I32 0 1 5\nResult 0 1\n", 2, "operand without a use" },
        { "Integer.I32 0 1 0 5\nResult 0 1\n", 2, "operand without a use" },
        { "Column.I32 0 4\nResult 0 1\n", 2, "no column 4" },
        { "Column.I32 0 -1\nResult 0 1\n", 2, "no column -1" },
        { "Column.I32 0 0 1\nResult 0 1\n", 2, "no cursor 1" },
        { "Column.I32 0 0 -1\nResult 0 1\n", 2, "no cursor -1" },
        { "Column.I64 0 0\nResult 0 1\n", 2, "of type I32" },
        { "Column.F32 0 3\nResult 0 1\n", 2, "of type F64" },
        { "ColumnNull 0 3\nResult 0 1\n", 2, NULL },
        { "ColumnNull 0 4\nResult 0 1\n", 2, "no column 4" },
        { "Rowid.I32 0\nResult 0 1\n", 2, NULL },
        { "Rowid.I64 1\nInteger.I32 0 0\nResult 0 1\n", 3, "of type I32" },
        { "Rowid.I32 0 0 1\nResult 0 1\n", 2, "no cursor 1" },
        { "Rowid.I32 0 1\nResult 0 1\n", 2, "operand without a use" },
        { "Integer.I64 1 0\nCast.I32_I64 2 1 0\nResult 0 1\n", 3,
          "type 2 is not the opcode's" },
        { "Integer.I64 1 0\nCast.I32_I64 1 1 0\nResult 0 1\n", 3, NULL },
        { "Integer.I32 0 0\nEq.I32 0 0 5 2\nResult 0 1\n", 3, "validity 2" },
        { "Integer.I32 0 0\nNot.I32 0 1 5 0\nResult 0 1\n", 3,
          "operand without a use" },
        { "Integer.I32 0 0\nInvalid 1\nResult 0 1\n", 3,
          "operand without a use" },
        { "Integer.I32 0 0\nResult 0 2\n", 2, "outputs 2 columns" },
        { "Integer.I32 0 0\nResult 0 0\n", 2, "outputs 0 columns" },
        { "Integer.I32 0 0\nResult 1024 1\n", 2, "no register 1024" },
        { "Integer.I32 1023 0\nResult 1023 1\n", 2, NULL },
    };

    (void)state;
    check_parts(parts, sizeof parts / sizeof *parts);
}

static void jumps_are_checked(void **state)
{
    static const struct part parts[] = {
        { "Integer.I32 0 0\nEq.I32 0 0 6 0\nResult 0 1\n", 3, NULL },
        { "Integer.I32 0 0\nEq.I32 0 0 5 0\nResult 0 1\n", 3, NULL },
        { "Integer.I32 0 0\nEq.I32 0 0 4 0\nResult 0 1\n", 3, "a jump to 4" },
        { "Integer.I32 0 0\nEq.I32 0 0 3 0\nResult 0 1\n", 3, "a jump to 3" },
        { "Integer.I32 0 0\nEq.I32 0 0 7 0\nResult 0 1\n", 3, "a jump to 7" },
        { "Integer.I32 0 0\nEq.I32 0 0 -1 0\nResult 0 1\n", 3, "a jump to -1" },
        { "Integer.I32 0 0\nNot.I32 0 0 2 0\nResult 0 1\n", 3, "a jump to 2" },
        { "Integer.I32 0 0\nAnd.I32 0 0 99999 0\nResult 0 1\n", 3,
          "a jump to 99999" },
    };

    (void)state;
    check_parts(parts, sizeof parts / sizeof *parts);
}

static void registers_are_checked(void **state)
{
    static const struct part parts[] = {
        { "Result 0 1\n", 1, "read before it is written" },
        { "Result 0 1\nInteger.I32 0 1\n", 2, "read before it is written" },
        { "Add.I32 0 0 0\nResult 0 1\n", 2, "read before it is written" },
        { "Integer.I32 0 1\nInteger.I32 0 2\nResult 0 1\n", 3,
          "instruction 3 writes register 0, too" },
        { "Integer.I64 0 1\nResult 0 1\n", 2, "type I64, not I32" },
        { "Integer.I64 1 1\nAdd.I32 0 1 1\nResult 0 1\n", 3,
          "type I64, not I32" },
        { "Float.F32 1 1\nFloat.F64 2 1\nIsLt.F32 0 1 2\nResult 0 1\n", 4,
          "type F64, not F32" },
        { "Integer.I32 1 1\nInteger.I64 2 1\nChoose.I32 0 1 1 2\n"
          "Result 0 1\n",
          4, "type I64, not I32" },
        /* A jump past the writer, to each instruction behind it. */
        { "Integer.I32 1 1\nEq.I32 1 1 6 1\nInteger.I32 0 1\nResult 0 1\n", 4,
          "not written on every path" },
        { "Integer.I32 1 1\nEq.I32 1 1 6 0\nInteger.I32 0 1\nResult 0 1\n", 4,
          NULL },
        { "Integer.I32 1 1\nEq.I32 1 1 5 1\nInteger.I32 0 1\nResult 0 1\n", 4,
          NULL },
        { "Integer.I32 1 1\nEq.I32 1 1 7 1\nInteger.I32 0 1\nResult 0 1\n", 4,
          NULL },
        { "Integer.I32 1 1\nEq.I32 1 1 6 0\nInteger.I32 2 1\n"
          "Add.I32 0 1 2\nResult 0 1\n",
          5, "not written on every path" },
        { "Integer.I32 1 1\nEq.I32 1 1 6 1\nInteger.I32 2 1\n"
          "Eq.I32 1 1 8 0\nAdd.I32 0 1 2\nResult 0 1\n",
          6, "register 2 is not written on every path" },
        { "Integer.I32 0 1\nInteger.I32 1 1\nEq.I32 1 1 6 1\nResult 0 1\n", 4,
          NULL },
    };

    (void)state;
    check_parts(parts, sizeof parts / sizeof *parts);
}

static void rows_parts_are_checked(void **state)
{
    static const struct part parts[] = {
        { "Integer.I32 0 1\n", 1, "0 Result instructions" },
        { "Integer.I32 0 1\nResult 0 1\nResult 0 1\n", 3,
          "2 Result instructions" },
        { "Integer.I32 0 1\nFinish\nResult 0 1\n", 3, "not allowed" },
        { "Integer.I32 0 1\nTable 0 0 0 0 \"t\"\nResult 0 1\n", 3, NULL },
        { "Integer.I32 0 1\nParallel 0 0 5\nResult 0 1\n", 3, "not allowed" },
        { "Integer.I32 0 1\nResult 0 1\nConverge\n", 3,
          "Converge must end the rows' part" },
    };
    struct program program;
    struct error error;

    (void)state;
    check_parts(parts, 3);
    assert_int_not_equal(load_part(&parts[3], &program, &error), VDBQ_OK);
    program_finish(&program);
    check_parts(parts + 4, 2);
}

static void frames_are_checked(void **state)
{
    static const struct {
        const char *text, *message;
    } frames[] = {
        { "", "a program is Table" },
        { "Finish\n", "a program is Table" },
        { "Parallel 0 0 1\nFinish\n", "a program is Table" },
        { "Parallel 0 0 2\nConverge\nFinish\n", "no result column" },
        { "ResultColumn 1 \"x\"\nParallel 0 0 4\nInteger.I32 0 1\n"
          "Result 0 1\nFinish\n",
          "must end the rows' part" },
        { "ResultColumn 1 \"x\"\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\n",
          "a program is Table" },
        { "ResultColumn 1 \"x\"\nParallel 0 0 4\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "must lead to Finish" },
        { "ResultColumn 1 0 0 0 \"x\"\nTable \"t\"\nParallel 0 0 6\n"
          "Integer.I32 0 1\nResult 0 1\nConverge\nFinish\n",
          "a program is Table" },
        { "Parallel 0 0 4\nInteger.I32 0 1\nResult 0 0\nConverge\nFinish\n",
          "no result column" },
        { "ResultColumn 5 \"x\"\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "no type 5" },
        { "ResultColumn 0 \"x\"\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "no type 0" },
        { "ResultColumn 1 2 0 \"x\"\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "must be 0 or 1" },
        { "ResultColumn 1 0 1 \"x\"\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "names NULL flags" },
        { "ResultColumn 1 1 7 \"x\"\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "register 7 is read before" },
        { "ResultColumn 1 1 -1 \"x\"\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "no register -1" },
        { "ResultColumn 1\nParallel 0 0 5\nInteger.I32 0 1\n"
          "Result 0 1\nConverge\nFinish\n",
          "has no name" },
        { "Table 0 0 1 0 \"t\"\nResultColumn 1 \"x\"\nParallel 0 0 6\n"
          "Integer.I32 0 1\nResult 0 1\nConverge\nFinish\n",
          "its cursor is 1" },
        { "Table 0\nResultColumn 1 \"x\"\nParallel 0 0 6\n"
          "Integer.I32 0 1\nResult 0 1\nConverge\nFinish\n",
          "has no name" },
    };
    struct program program;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        enum vdbq_status status =
            read_checked(frames[i].text, &program, &error);
        if (status != VDBQ_PROGRAM
            || strstr(error.message, frames[i].message) == NULL)
            fail_msg("expected \"%s\", got \"%s\":\n%s", frames[i].message,
                     error.message, frames[i].text);
        program_finish(&program);
    }
}

/* Programs with a second table, whose Parallel is at 3. */
static void probes_are_checked(void **state)
{
    static const struct part parts[] = {
        { "Column.I32 1 0\nProbe.I32 0 1 1 0\nResult 0 1\n", 3, NULL },
        { "Column.I32 1 0\nProbe.I32 0 1 0 0\nResult 0 1\n", 3,
          "0 of 2 cursors are not probed" },
        { "Column.I32 1 0\nProbe.I32 0 1 2 0\nResult 0 1\n", 3, "no cursor 2" },
        { "Column.I32 1 0\nProbe.I32 0 1 1 4\nResult 0 1\n", 3, "no column 4" },
        { "Column.I32 1 0\nProbe.I32 0 1 1 1\nResult 0 1\n", 3, "of type I64" },
        { "Column.I32 1 0\nProbe.I64 0 1 1 1\nResult 0 1\n", 3,
          "type I32, not I64" },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nColumn.I32 0 0 1\nResult 0 1\n",
          4, "cursor 1 is a probed one" },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nRowid.I32 0 0 1\nResult 0 1\n", 4,
          "cursor 1 is a probed one" },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nColumnAt.I32 0 0 0 2\n"
          "Result 0 1\n",
          4, "cursor 0 is an axis" },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nColumnAt.I32 0 0 1 2\n"
          "Result 0 1\n",
          4, NULL },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nColumnAt.I32 0 1 1 2\n"
          "Result 0 1\n",
          4, "of type I64" },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nColumnAtNull 0 1 1 2\n"
          "Result 0 1\n",
          4, NULL },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nColumnAt.I32 0 0 1 1\n"
          "Result 0 1\n",
          4, "register 1 is no row of cursor 1" },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nInteger.I32 3 -1\n"
          "Choose.I32 4 3 2 1\nColumnAt.I32 0 0 1 4\nResult 0 1\n",
          6, NULL },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nInteger.I32 3 0\n"
          "Choose.I32 4 3 2 1\nColumnAt.I32 0 0 1 4\nResult 0 1\n",
          6, "register 4 is no row of cursor 1" },
        { "Column.I32 1 0\nProbe.I32 2 1 1 0\nColumnAt.I32 0 0 1 3\n"
          "Result 0 1\n",
          4, "register 3 is read before" },
    };
    struct program program;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char text[4096];
        snprintf(text, sizeof text,
                 "Table 0 0 0 0 \"t\"\nTable 0 0 1 0 \"u\"\n"
                 "ResultColumn 1 0 0 0 \"x\"\nParallel 0 0 %d\n%sConverge\n"
                 "Finish\n",
                 parts[i].count + 5, parts[i].lines);
        enum vdbq_status status = read_checked(text, &program, &error);
        if (status != (parts[i].message ? VDBQ_PROGRAM : VDBQ_OK)
            || (parts[i].message && !strstr(error.message, parts[i].message)))
            fail_msg("expected \"%s\", got \"%s\":\n%s",
                     parts[i].message ? parts[i].message : "", error.message,
                     parts[i].lines);
        program_finish(&program);
    }
}

static void limits_are_errors(void **state)
{
    struct program program;
    struct error error;
    static const char four_axes[] =
        "Table 0 0 0 0 \"t\"\nTable 1 0 1 0 \"u\"\nTable 1 0 2 0 \"u\"\n"
        "Table 1 0 3 0 \"u\"\nResultColumn 1 \"x\"\n"
        "Parallel 0 0 9\nInteger.I32 0 1\nResult 0 1\nConverge\nFinish\n";
    char text[2048] = "";

    (void)state;
    assert_int_equal(read_checked(four_axes, &program, &error), VDBQ_PROGRAM);
    program_finish(&program);
    program_init(&program);
    for (int i = 0; i <= VDBQ_CURSORS_MAX; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "Table 0 0 %d 0 \"t\"\n", i);
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "ResultColumn 1 \"x\"\nParallel 0 0 %d\nInteger.I32 0 1\n"
             "Result 0 1\nConverge\nFinish\n",
             VDBQ_CURSORS_MAX + 6);
    assert_int_equal(read_checked(text, &program, &error), VDBQ_LIMIT);
    program_finish(&program);
    program_init(&program);
    for (int i = 0; i <= VDBQ_CODE_MAX; i++)
        program_add(&program, &(struct instruction){ .op = OP_INVALID });
    assert_int_equal(program_check(&program, &error), VDBQ_LIMIT);
    program_finish(&program);
}

/* The ancestor held 32 instructions and 16 registers. */
static void programs_may_be_long(void **state)
{
    enum { LENGTH = VDBQ_CODE_MAX - 6 };
    struct program program;
    struct error error;

    (void)state;
    program_init(&program);
    program_add(&program, &(struct instruction){ .op = OP_RESULT_COLUMN,
                                                 .a = TYPE_I32,
                                                 .name = "x" });
    program_add(&program,
                &(struct instruction){ .op = OP_PARALLEL, .c = LENGTH + 5 });
    program_add(&program, &(struct instruction){ .op = OP_INTEGER_I32 });
    for (int i = 0; i < LENGTH; i++)
        program_add(
            &program,
            i < VDBQ_REGISTERS_MAX - 1
                ? &(struct instruction){ .op = OP_ADD_I32, .a = i + 1, .b = i }
                : &(struct instruction){ .op = OP_EQ_I32, .c = LENGTH + 3 });
    program_add(&program, &(struct instruction){ .op = OP_RESULT, .b = 1 });
    program_add(&program, &(struct instruction){ .op = OP_CONVERGE });
    program_add(&program, &(struct instruction){ .op = OP_FINISH });
    if (program_check(&program, &error) != VDBQ_OK)
        fail_msg("%s", error.message);
    assert_int_equal(program.registers, VDBQ_REGISTERS_MAX);
    program_finish(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_programs_pass),
        cmocka_unit_test(operands_are_checked),
        cmocka_unit_test(jumps_are_checked),
        cmocka_unit_test(registers_are_checked),
        cmocka_unit_test(rows_parts_are_checked),
        cmocka_unit_test(frames_are_checked),
        cmocka_unit_test(probes_are_checked),
        cmocka_unit_test(limits_are_errors),
        cmocka_unit_test(programs_may_be_long),
    };

    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
