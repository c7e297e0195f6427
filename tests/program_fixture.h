/* SPDX-License-Identifier: MIT */
/*
 * For tests of programs: reading them, and two to work with.
 */
#ifndef VDBQ_TESTS_PROGRAM_FIXTURE_H
#define VDBQ_TESTS_PROGRAM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program/program.h"

enum { COLUMNS = 4 };
static const int column_types[COLUMNS] = { TYPE_I32, TYPE_I64, TYPE_F32,
                                           TYPE_F64 };

/* Gives tables that were read four columns, one of each type. */
static void describe_tables(struct program *program)
{
    for (size_t i = 0; i < program->tables.count; i++) {
        struct program_table *table = vector_at(&program->tables, i);
        table->column_types = column_types;
        table->column_count = COLUMNS;
        table->key_type = TYPE_I32;
    }
}

/* Reads and checks; the program is to be finished whatever comes. */
static enum vdbq_status load(const char *text, struct program *program,
                             struct error *error)
{
    enum vdbq_status status;

    error_clear(error);
    program_init(program);
    status = program_read(text, program, error);
    if (status != VDBQ_OK)
        return status;
    describe_tables(program);
    return program_check(program, error);
}

static void load_good(const char *text, struct program *program)
{
    struct error error;

    if (load(text, program, &error) != VDBQ_OK)
        fail_msg("%s\n%s", error.message, text);
}

/* Query 0 of the ten, with the text and the jumps that it had in the
 * Virginian Database. */
static const char query_0[] = "Table 0 0 0 \"test\"\n"
                              "ResultColumn 1 \"id\"\n"
                              "ResultColumn 1 \"uniformi\"\n"
                              "ResultColumn 1 \"normali5\"\n"
                              "Parallel 0 0 15\n"
                              "Column.I32 3 0 0\n"
                              "Integer.I32 0 60\n"
                              "Le.I32 3 0 13 0\n"
                              "Rowid.I32 2\n"
                              "Integer.I32 1 0\n"
                              "Lt.I32 2 1 12 1\n"
                              "Invalid\n"
                              "Column.I32 4 0\n"
                              "Result 2 3\n"
                              "Converge\n"
                              "Finish\n";

/* Every kind of constant, NULL flags, and a column that is read three times. */
static const char nullable_program[] = "Table 0 0 0 0 \"t\"\n"
                                       "ResultColumn 3 1 5 0 \"f\"\n"
                                       "ResultColumn 4 0 0 0 \"d\"\n"
                                       "Parallel 0 0 14\n"
                                       "Column.F32 0 2 0\n"
                                       "ColumnNull 5 2 0\n"
                                       "Column.I32 2 0 0\n"
                                       "Column.F32 6 2 0\n"
                                       "Rowid.I32 3 0 0\n"
                                       "Float.F64 1 0.1\n"
                                       "Integer.I64 4 -9223372036854775808\n"
                                       "Integer.I32 7 7\n"
                                       "Result 0 2\n"
                                       "Converge\n"
                                       "Finish\n";

#endif
