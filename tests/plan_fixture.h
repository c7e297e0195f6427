/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the planner share: tables and a catalogue of them, ways
 * to plan a statement, and to run its program on the host's machine.
 */
#ifndef VDBQ_TESTS_PLAN_FIXTURE_H
#define VDBQ_TESTS_PLAN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "device/host_machine.h"
#include "plan/plan.h"

/* -------------------------------------------------------------- tables -- */

enum { ROWS_MAX = 512, TABLES = 6, COLUMNS = 8 };
#define NOTHING NAN /* a NULL, among values */

/* A column as a test writes it down: values as doubles, or as integers
 * where doubles would not do. */
struct test_column {
    struct column column;
    const double *values;
    const int64_t *integers;
};
struct test_table {
    const char *name;
    uint32_t id;
    unsigned key, rows;
    struct test_column columns[COLUMNS];
};

#define INT(label, ...)                                                        \
    {                                                                          \
        .column = { .name = label, .type = VDBQ_INTEGER },                     \
        .values = (const double[])                                             \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }
#define BIG(label, ...)                                                        \
    {                                                                          \
        .column = { .name = label, .type = VDBQ_BIGINT },                      \
        .integers = (const int64_t[])                                          \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }
#define FLT(label, ...)                                                        \
    {                                                                          \
        .column = { .name = label, .type = VDBQ_FLOAT },                       \
        .values = (const double[])                                             \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }
#define DBL(label, ...)                                                        \
    {                                                                          \
        .column = { .name = label, .type = VDBQ_DOUBLE },                      \
        .values = (const double[])                                             \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

static const struct test_table test_tables[TABLES] = {
    { "test",
      0,
      0,
      5,
      { INT("id", 0, 1, 2, 3, 4), INT("uniformi", 61, -99, 70, 60, 99),
        INT("normali5", -3, 4, 0, -1, -20),
        INT("normali20", 10, -40, 15, 75, -2),
        FLT("uniformf", 60.5, -99.5, 0.1, 61.25, 99),
        FLT("normalf5", -0.5, 0.5, -1.5, 2.5, -8),
        FLT("normalf20", 1, -40.5, 20, 0, 3) } },
    { "nulls",
      1,
      NO_KEY,
      5,
      { INT("a", 1, NOTHING, 0, 2, NOTHING),
        INT("b", NOTHING, 1, 3, 2, NOTHING),
        DBL("x", 0.5, NOTHING, -0.5, INFINITY, 2),
        FLT("f", NOTHING, 0.25, 0.1, -1, 3) } },
    { "wide",
      2,
      1,
      3,
      { BIG("most", INT64_MAX, INT64_MIN, 5), BIG("k", 10, 20, 30),
        BIG("small", -7, 7, 2), INT("i", INT32_MAX, INT32_MIN, 3) } },
    { "Mixed Case", 3, NO_KEY, 1, { INT("two words", 7) } },
    { "empty", 4, 0, 0, { INT("id", 0), DBL("d", 0) } },
    { "texts",
      5,
      NO_KEY,
      0,
      { { { .name = "s", .type = VDBQ_TEXT }, NULL, NULL },
        { { .name = "t", .type = VDBQ_TEXT }, NULL, NULL },
        { { .name = "d", .type = VDBQ_DATE }, NULL, NULL },
        { { .name = "m", .type = VDBQ_DECIMAL, .precision = 9, .scale = 2 },
          NULL,
          NULL } } }
};

/* The catalogue of these tables, and their values as a device has them. */
struct database {
    struct catalogue catalogue;
    struct table tables[TABLES];
    struct tablet_ref tablets[TABLES];
    struct column_facts facts[TABLES][COLUMNS];
    struct column columns[TABLES][COLUMNS];
    uint64_t values[TABLES][COLUMNS][ROWS_MAX];
    uint8_t nulls[TABLES][COLUMNS][ROWS_MAX / 8];
};
static struct database database;

/* A number of either kind. */
struct number {
    bool null;
    int64_t integer;
    double real;
};

static inline struct number number_at(const struct test_column *column,
                                      unsigned row)
{
    struct number number = { 0 };

    if (column->integers != NULL) {
        number.integer = column->integers[row];
        number.real = (double)number.integer;
        return number;
    }
    number.real = column->values[row];
    number.null = isnan(number.real);
    if (!number.null && column->column.type <= VDBQ_BIGINT)
        number.integer = (int64_t)number.real;
    return number;
}

static inline void put_value(unsigned t, unsigned c, unsigned row,
                             struct number number)
{
    char *values = (char *)database.values[t][c];
    int32_t narrow = (int32_t)number.integer;
    float single = number.null ? 0 : (float)number.real;
    double real = number.null ? 0 : number.real;

    switch (test_tables[t].columns[c].column.type) {
    case VDBQ_INTEGER:
        memcpy(values + row * 4, &narrow, 4);
        break;
    case VDBQ_BIGINT:
        memcpy(values + row * 8, &number.integer, 8);
        break;
    case VDBQ_FLOAT:
        memcpy(values + row * 4, &single, 4);
        break;
    default:
        memcpy(values + row * 8, &real, 8);
        break;
    }
    if (number.null)
        database.nulls[t][c][row / 8] |= (uint8_t)(1 << row % 8);
}

static inline void add_fact(struct column_facts *facts, struct number number,
                            bool single)
{
    double real = single ? (double)(float)number.real : number.real;

    facts->null_count += number.null;
    if (number.null)
        return;
    if (facts->empty || number.integer < facts->minimum)
        facts->minimum = number.integer;
    if (facts->empty || number.integer > facts->maximum)
        facts->maximum = number.integer;
    if (facts->empty || real < facts->minimum_real)
        facts->minimum_real = real;
    if (facts->empty || real > facts->maximum_real)
        facts->maximum_real = real;
    facts->empty = false;
}

static inline void fill_column(unsigned t, unsigned c)
{
    const struct test_column *column = &test_tables[t].columns[c];
    struct column_facts *facts = &database.facts[t][c];

    database.columns[t][c] = column->column;
    facts->empty = true;
    for (unsigned row = 0; row < test_tables[t].rows; row++) {
        struct number number = number_at(column, row);
        put_value(t, c, row, number);
        add_fact(facts, number, column->column.type == VDBQ_FLOAT);
    }
}

static inline int make_database(void **state)
{
    (void)state;
    memset(&database, 0, sizeof database);
    for (unsigned t = 0; t < TABLES; t++) {
        const struct test_table *from = &test_tables[t];
        unsigned count = 0;
        for (; count < COLUMNS && from->columns[count].column.name; count++)
            fill_column(t, count);
        database.tablets[t] = (struct tablet_ref){ .rows = from->rows,
                                                   .facts = database.facts[t] };
        database.tables[t] = (struct table){ .id = from->id,
                                             .name = from->name,
                                             .column_count = count,
                                             .columns = database.columns[t],
                                             .key = from->key,
                                             .rows = from->rows,
                                             .tablet_count = from->rows > 0,
                                             .tablets = &database.tablets[t] };
    }
    database.catalogue =
        (struct catalogue){ .table_count = TABLES, .tables = database.tables };
    return 0;
}

/* ------------------------------------------------------------ planning -- */

/* A statement that was planned. */
struct planned {
    struct arena arena;
    struct plan plan;
    struct error error;
    enum vdbq_status status;
};

/* The program of its only step. */
static inline struct program *program_of(const struct planned *planned)
{
    return &steps_last(&planned->plan.steps)->scan.program;
}

static inline void plan(struct planned *planned, const char *sql)
{
    struct ast_statement *statement;
    size_t consumed;

    memset(planned, 0, sizeof *planned);
    if (sql_parse(sql, strlen(sql), &planned->arena, &statement, &consumed,
                  &planned->error)
        != VDBQ_OK)
        fail_msg("%s: %s", sql, planned->error.message);
    planned->status =
        plan_statement(statement, sql, strlen(sql), &database.catalogue, NULL,
                       NULL, &planned->arena, &planned->plan, &planned->error);
    if (planned->status == VDBQ_OK && planned->plan.kind == PLAN_SELECT
        && steps_check(&planned->plan.steps, &planned->error) != VDBQ_OK)
        fail_msg("%s: %s", sql, planned->error.message);
}

static inline void unplan(struct planned *planned)
{
    plan_finish(&planned->plan);
    arena_finish(&planned->arena);
}

static inline void plan_well(struct planned *planned, const char *sql)
{
    plan(planned, sql);
    if (planned->status != VDBQ_OK)
        fail_msg("%s: %s", sql, planned->error.message);
}

/* That a statement is refused, where, and with a message and a hint that
 * hold these words. */
static inline void refused(const char *sql, enum vdbq_status status,
                           unsigned column, const char *message,
                           const char *hint)
{
    struct planned planned;

    plan(&planned, sql);
    if (planned.status != status || planned.error.column != column
        || planned.error.line != 1
        || strstr(planned.error.message, message) == NULL
        || strstr(planned.error.hint, hint) == NULL)
        fail_msg("%s: status %d at %u:%u: %s (%s)", sql, planned.status,
                 planned.error.line, planned.error.column,
                 planned.error.message, planned.error.hint);
    unplan(&planned);
}

/* The program without its comments: "Column.I32 3 0 0 0" a line; constants
 * and names stand where they belong. */
static inline void listing(const struct program *program, struct text *text)
{
    for (int pc = 0; pc < (int)program->code.count; pc++) {
        struct text name = { 0 }, meaning = { 0 }, operands[4] = { 0 };
        instruction_print(program, pc, &name, operands, &meaning);
        text_print(text, "%s", name.bytes);
        for (int i = 0; i < 4; i++) {
            text_print(text, " %s", operands[i].bytes);
            text_finish(&operands[i]);
        }
        if (program_at(program, pc)->name != NULL)
            text_print(text, " %s", program_at(program, pc)->name);
        text_print(text, "\n");
        text_finish(&name);
        text_finish(&meaning);
    }
}

static inline void lists(const char *sql, const char *expected)
{
    struct planned planned;
    struct text text = { 0 };

    plan_well(&planned, sql);
    listing(program_of(&planned), &text);
    assert_string_equal(text.bytes, expected);
    text_finish(&text);
    unplan(&planned);
}

/* How often an opcode is in the program of a statement. */
static inline unsigned count_op(const char *sql, enum opcode op)
{
    struct planned planned;
    unsigned count = 0;

    plan_well(&planned, sql);
    for (int pc = 0; pc < (int)program_of(&planned)->code.count; pc++)
        count += program_at(program_of(&planned), pc)->op == op;
    unplan(&planned);
    return count;
}

/* ------------------------------------------------------------- running -- */

/* Room for a result column. */
struct result_column {
    uint64_t values[ROWS_MAX];
    uint8_t nulls[ROWS_MAX];
};
struct outcome {
    struct result_column columns[COLUMNS * 2];
};
static struct outcome result;

/* A control block with room for all that it points to. */
struct control {
    struct launch launch;
    struct code code[512];
    int64_t constants[512];
    struct feed feeds[COLUMNS * 2];
    struct output outputs[COLUMNS * 2];
};
static struct control control;

static inline unsigned table_number(const struct program *program)
{
    const struct program_table *table;

    if (program->tables.count == 0)
        return 0;
    table = vector_at(&program->tables, 0);
    return table->id;
}

/* Where the values of a feed are; without a key the row number is one. */
static inline struct feed make_feed(unsigned t, int column)
{
    unsigned number = (unsigned)column, key = test_tables[t].key;
    const char *base = (const char *)&database;

    if (column < 0 && key == NO_KEY)
        return (struct feed){ .encoding = ENCODING_SEQUENCE, .width = 8 };
    if (column < 0)
        number = key;
    else if (key != NO_KEY && number >= key)
        number++;
    return (struct feed){
        .values = (u64)((const char *)database.values[t][number] - base),
        .nulls = (u64)((const char *)database.nulls[t][number] - base),
        .width = type_width((int)test_tables[t].columns[number].column.type)
    };
}

static inline void fill_control(const struct program *program,
                                const struct program_pack *pack)
{
    struct program_part part = program_part(program);
    unsigned t = table_number(program), count = program_results(program);

    assert_true(program->code.count <= 512 && count <= COLUMNS * 2);
    u32 rows = program->tables.count > 0 ? (u32)test_tables[t].rows : 1;
    control.launch =
        (struct launch){ .piece_first = ONE_PIECE,
                         .piece_rows = { rows },
                         .code = offsetof(struct control, code),
                         .constants = offsetof(struct control, constants),
                         .feeds = offsetof(struct control, feeds),
                         .outputs = offsetof(struct control, outputs),
                         .code_first = (u32)part.first,
                         .code_end = (u32)part.converge,
                         .feed_count = pack->feed_count,
                         .output_count = count,
                         .steps = (rows + host_machine_step_rows() - 1)
                                  / host_machine_step_rows(),
                         .steps_per_item = ROWS_MAX };
    memcpy(control.code, pack->code, program->code.count * sizeof *pack->code);
    memcpy(control.constants, pack->constants,
           pack->constant_count * sizeof *pack->constants);
    for (unsigned i = 0; i < pack->feed_count; i++)
        control.feeds[i] = make_feed(t, pack->feeds[i].column);
    for (unsigned i = 0; i < count; i++) {
        struct program_result column = program_result(program, i);
        size_t at = i * sizeof(struct result_column);
        control.outputs[i] =
            (struct output){ .values = at,
                             .nulls =
                                 at + offsetof(struct result_column, nulls),
                             .register_ = column.register_,
                             .null_register = column.null_register,
                             .width = type_width(column.type) };
    }
}

/* Runs a program over its table; rows of the result, or -1 - pc where an
 * instruction failed. */
static inline int run_program(const struct program *program,
                              struct arena *arena)
{
    struct machine *machine = host_machine_create();
    struct {
        struct progress progress;
        struct descriptor descriptors[ROWS_MAX];
    } ran = { .progress.fault = NO_FAULT };
    const u8 *const pieces[LAUNCH_PIECES] = { (const u8 *)&database };
    struct program_pack pack;
    struct error error;
    u32 rows = 0;

    assert_non_null(machine);
    assert_int_equal(program_pack(program, arena, &pack, &error), VDBQ_OK);
    fill_control(program, &pack);
    memset(&result, 0, sizeof result);
    host_machine_run(machine, (const u8 *)&control, (u8 *)&result,
                     &ran.progress, NULL, pieces, 1);
    host_machine_destroy(machine);
    if (ran.progress.fault != NO_FAULT)
        return -1 - (int)ran.progress.fault;
    for (u32 i = 0; i < control.launch.steps; i++)
        rows += ran.descriptors[i].count;
    return (int)rows;
}

static inline void print_value(const struct program *program, unsigned column,
                               unsigned row, struct text *text)
{
    const struct result_column *from = &result.columns[column];
    struct program_result facts = program_result(program, column);
    const char *values = (const char *)from->values;
    char number[64];
    int32_t narrow;
    float single;
    double real;

    if (facts.null_register >= 0 && from->nulls[row]) {
        text_print(text, "-");
        return;
    }
    memcpy(&narrow, values + row * 4, 4);
    memcpy(&single, values + row * 4, 4);
    memcpy(&real, from->values + row, 8);
    switch (facts.type) {
    case TYPE_I32:
        text_print(text, "%" PRId32, narrow);
        return;
    case TYPE_I64:
        text_print(text, "%" PRId64, (int64_t)from->values[row]);
        return;
    case TYPE_F32:
        text_from_float(single, number);
        break;
    default:
        text_from_double(real, number);
        break;
    }
    text_print(text, "%s", number);
}

/* That a query gives these rows: "1,2 3,4" with "-" for NULL. */
static inline void gives(const char *sql, const char *expected)
{
    struct planned planned;
    struct text text = { 0 };
    int rows;

    plan_well(&planned, sql);
    rows = run_program(program_of(&planned), &planned.arena);
    text_print(&text, "%s", rows < 0 ? "fault" : "");
    for (int row = 0; row < rows; row++)
        for (unsigned i = 0; i < program_results(program_of(&planned)); i++) {
            text_print(&text, "%s", i > 0 ? "," : row > 0 ? " " : "");
            print_value(program_of(&planned), i, (unsigned)row, &text);
        }
    if (strcmp(text.bytes, expected) != 0)
        fail_msg("%s gives %s, not %s", sql, text.bytes, expected);
    text_finish(&text);
    unplan(&planned);
}

/* The types of the result columns: "INTEGER,DOUBLE". */
static inline void has_types(const char *sql, const char *expected)
{
    struct planned planned;
    struct text text = { 0 };

    plan_well(&planned, sql);
    for (unsigned i = 0; i < program_results(program_of(&planned)); i++)
        text_print(
            &text, "%s%s", i > 0 ? "," : "",
            vdbq_type_name(
                (enum vdbq_type)program_result(program_of(&planned), i).type));
    if (strcmp(text.bytes, expected) != 0)
        fail_msg("%s has %s, not %s", sql, text.bytes, expected);
    text_finish(&text);
    unplan(&planned);
}

#endif
