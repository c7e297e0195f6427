/* SPDX-License-Identifier: MIT */
/*
 * The planner: which program a SELECT becomes, and what that gives when the
 * host's machine runs it over tables made here; and the status of what is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fixtures/failing_memory.h"
#include "fixtures/plan/tables.h"
#include "fixtures/plan/planned.h"
#include "fixtures/plan/rows.h"

#include <time.h>

/* ------------------------------------------------------------ programs -- */

static void query_0_is_the_ancestors_program(void **state)
{
    (void)state;
    lists("select id, uniformi, normali5 from test "
          "where uniformi > 60 and normali5 < 0",
          "Table 0 0 0 0 test\n"
          "ResultColumn 1 0 0 0 id\n"
          "ResultColumn 1 0 0 0 uniformi\n"
          "ResultColumn 1 0 0 0 normali5\n"
          "Parallel 0 0 15 0\n"
          "Column.I32 3 0 0 0\n"
          "Integer.I32 0 60 0 0\n"
          "Le.I32 3 0 13 0\n"
          "Column.I32 4 1 0 0\n"
          "Integer.I32 1 0 0 0\n"
          "Lt.I32 4 1 12 1\n"
          "Invalid 0 0 0 0\n"
          "Rowid.I32 2 0 0 0\n"
          "Result 2 3 0 0\n"
          "Converge 0 0 0 0\n"
          "Finish 0 0 0 0\n");
}

static void a_query_without_a_table_has_a_program(void **state)
{
    (void)state;
    lists("select 1 as one, 1", "ResultColumn 2 0 0 0 one\n"
                                "ResultColumn 2 0 0 0 1\n"
                                "Parallel 0 0 7 0\n"
                                "Integer.I64 0 1 0 0\n"
                                "Integer.I64 1 1 0 0\n"
                                "Result 0 2 0 0\n"
                                "Converge 0 0 0 0\n"
                                "Finish 0 0 0 0\n");
}

static void alternatives_jump_over_invalid(void **state)
{
    (void)state;
    lists("select id from test where uniformi > 70 or normali5 = 0",
          "Table 0 0 0 0 test\n"
          "ResultColumn 1 0 0 0 id\n"
          "Parallel 0 0 13 0\n"
          "Column.I32 0 0 0 0\n"
          "Integer.I32 1 70 0 0\n"
          "Gt.I32 0 1 10 1\n"
          "Column.I32 2 1 0 0\n"
          "Integer.I32 3 0 0 0\n"
          "Eq.I32 2 3 10 1\n"
          "Invalid 0 0 0 0\n"
          "Rowid.I32 4 0 0 0\n"
          "Result 4 1 0 0\n"
          "Converge 0 0 0 0\n"
          "Finish 0 0 0 0\n");
}

static void equal_parts_are_computed_once(void **state)
{
    (void)state;
    assert_int_equal(count_opcode("select normali5 * normali20 from test "
                                  "where normali5 * normali20 >= -5 "
                                  "and normali5 * normali20 <= 5",
                                  OP_MUL_I32),
                     1);
    assert_int_equal(count_opcode("select uniformi + 1, uniformi + 1 + id "
                                  "from test",
                                  OP_ADD_I32),
                     2);
    assert_int_equal(
        count_opcode("select a is null, a from nulls", OP_COLUMN_NULL), 1);
}

static void parts_that_were_jumped_over_are_computed_again(void **state)
{
    (void)state;
    assert_int_equal(count_opcode("select uniformi + normali5 from test "
                                  "where uniformi > 7 "
                                  "or uniformi + normali5 > 3",
                                  OP_ADD_I32),
                     2);
    assert_int_equal(
        count_opcode("select uniformi from test where uniformi > 7 "
                     "or uniformi < -7",
                     OP_COLUMN_I32),
        1);
}

/* --------------------------------------------------------------- types -- */

static void a_literal_takes_the_type_of_a_float(void **state)
{
    (void)state;
    assert_int_equal(
        count_opcode("select id from test where uniformf < 2", OP_FLOAT_F32),
        1);
    assert_int_equal(count_opcode("select id from test where uniformf < 1e300",
                                  OP_CAST_F64_F32),
                     1);
}

static void widths_follow_from_what_columns_hold(void **state)
{
    (void)state;
    assert_int_equal(
        count_opcode("select uniformi * 100 from test", OP_MUL_I32), 1);
    assert_int_equal(
        count_opcode("select uniformi * 100 from test", OP_CAST_I64_I32), 1);
    assert_int_equal(count_opcode("select i + 1 from wide", OP_ADD_I64), 1);
    assert_int_equal(count_opcode("select i + 1 from wide", OP_ADD_CHECKED_I64),
                     0);
    assert_int_equal(
        count_opcode("select most + 1 from wide", OP_ADD_CHECKED_I64), 1);
    assert_int_equal(count_opcode("select small * small from wide", OP_MUL_I64),
                     1);
    assert_int_equal(count_opcode("select most / i from wide", OP_DIV_I64), 0);
    assert_int_equal(count_opcode("select most / 7 from wide", OP_DIV_I64), 1);
    assert_int_equal(count_opcode("select id from test where uniformi > "
                                  "3000000000",
                                  OP_GT_I64),
                     1);
    assert_int_equal(
        count_opcode("select id from test where id * 1000 > 5", OP_GT_I32), 1);
}

/* --------------------------------------------------------------- NULLs -- */

static void not_a_number_is_null(void **state)
{
    (void)state;
    assert_int_equal(
        count_opcode("select uniformf * normalf5 from test", OP_IS_NAN_F32), 0);
    assert_int_equal(count_opcode("select x * 0 from nulls", OP_IS_NAN_F64), 1);
}

/* ------------------------------------------- NULLs: against a reference -- */

static uint64_t chance_state;

static unsigned chance(unsigned below)
{
    chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance_state >> 33) % below;
}

/* Writes a random expression of a and b, of some depth. */
static void write_random(struct text *text, unsigned depth)
{
    static const char *const operators[] = {
        "and", "or", "and",    "or", "=", "<>", "<", "<=", ">",
        ">=",  "is", "is not", "+",  "-", "*",  "/", "%"
    };
    static const char *const leaves[] = { "a", "b", "a", "b",
                                          "0", "1", "2", "null" };
    unsigned kind = chance(10);

    if (depth == 0 || kind == 0) {
        text_print(text, "%s", leaves[chance(8)]);
    } else if (kind < 3) {
        text_print(text, "%s", kind == 1 ? "(not " : "(- ");
        write_random(text, depth - 1);
        text_print(text, ")");
    } else {
        text_print(text, "(");
        write_random(text, depth - 1);
        text_print(text, " %s ", operators[chance(17)]);
        write_random(text, depth - 1);
        text_print(text, ")");
    }
}

static struct number integer(bool null, int64_t value)
{
    return (struct number){ .null = null, .integer = null ? 0 : value };
}

static struct number logic(enum ast_operator operator, struct number left,
                           struct number right)
{
    int decides = operator== AST_OR;
    bool left_decides = !left.null && (left.integer != 0) == decides;
    bool right_decides = !right.null && (right.integer != 0) == decides;

    if (left_decides || right_decides)
        return integer(false, decides);
    return integer(left.null || right.null, !decides);
}

static struct number reference(const struct ast_expression *tree, unsigned row);

static struct number reference_operator(const struct ast_expression *tree,
                                        unsigned row)
{
    struct number left = reference(tree->left, row);
    struct number right = tree->right ? reference(tree->right, row) : left;
    bool null = left.null || right.null;
    int64_t x = left.integer, y = right.integer;

    switch (tree->operator) {
    case AST_AND:
    case AST_OR:
        return logic(tree->operator, left, right);
    case AST_IS:
        return integer(false, left.null == right.null && x == y);
    case AST_IS_NOT:
        return integer(false, left.null != right.null || x != y);
    case AST_NOT:
        return integer(null, x == 0);
    case AST_MINUS:
        return integer(null, -x);
    case AST_ADD:
        return integer(null, x + y);
    case AST_SUB:
        return integer(null, x - y);
    case AST_MUL:
        return integer(null, x * y);
    case AST_DIV:
        return integer(null || y == 0, y == 0 ? 0 : x / y);
    case AST_MOD:
        return integer(null || y == 0, y == 0 ? 0 : x % y);
    case AST_EQ:
        return integer(null, x == y);
    case AST_NEQ:
        return integer(null, x != y);
    case AST_LT:
        return integer(null, x < y);
    case AST_LE:
        return integer(null, x <= y);
    case AST_GT:
        return integer(null, x > y);
    case AST_GE:
        return integer(null, x >= y);
    default:
        return left;
    }
}

static struct number reference_between(const struct ast_expression *tree,
                                       unsigned row)
{
    const struct ast_value *low = tree->arguments;
    struct number value = reference(tree->left, row);
    struct number least = reference(low->expression, row);
    struct number most = reference(low->next->expression, row);
    struct number within =
        logic(AST_AND,
              integer(value.null || least.null, value.integer >= least.integer),
              integer(value.null || most.null, value.integer <= most.integer));

    return tree->negated ? integer(within.null, within.integer == 0) : within;
}

/* The value of an expression of a and b for a row of `nulls`. */
static struct number reference(const struct ast_expression *tree, unsigned row)
{
    switch (tree->kind) {
    case AST_INTEGER:
        return integer(false, tree->integer);
    case AST_NULL:
        return integer(true, 0);
    case AST_COLUMN: {
        unsigned column = tree->column.text[0] == 'b';
        return number_at(&test_tables[1].columns[column], row);
    }
    case AST_BETWEEN:
        return reference_between(tree, row);
    default:
        return reference_operator(tree, row);
    }
}

/* What "select EXPRESSION, rowid" should give: of all rows, or of those for
 * which the expression is true. */
static void expect(const char *sql, bool filtered, struct text *text)
{
    struct arena arena = { 0 };
    struct ast_statement *statement;
    struct error error;
    size_t consumed;
    const struct ast_expression *tree;
    bool first = true;

    assert_int_equal(
        sql_parse(sql, strlen(sql), &arena, &statement, &consumed, &error),
        VDBQ_OK);
    tree = statement->query->select.results->expression;
    text_print(text, "%s", "");
    for (unsigned row = 0; row < test_tables[1].rows; row++) {
        struct number number = reference(tree, row);
        if (filtered && (number.null || number.integer == 0))
            continue;
        text_print(text, "%s", first ? "" : " ");
        first = false;
        if (number.null)
            text_print(text, "-,%u", row);
        else
            text_print(text, "%" PRId64 ",%u", number.integer, row);
    }
    arena_finish(&arena);
}

static void random_conditions_are_right(void **state)
{
    const char *seed = getenv("VDBQ_TEST_SEED");

    (void)state;
    chance_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("VDBQ_TEST_SEED=%" PRIu64 "\n", chance_state);
    for (int i = 0; i < 2000; i++) {
        struct text expression = { 0 }, sql = { 0 }, expected = { 0 };
        bool filtered = chance(2) != 0;
        write_random(&expression, 1 + chance(4));
        text_print(&sql, "select %s, rowid from nulls", expression.bytes);
        if (filtered)
            text_print(&sql, " where %s", expression.bytes);
        expect(sql.bytes, filtered, &expected);
        gives(sql.bytes, expected.bytes);
        text_finish(&expression);
        text_finish(&sql);
        text_finish(&expected);
    }
}

/* -------------------------------------------------------------- faults -- */

/* Where and with which words more is refused: tests/sql/errors/refused.slt. */
static void a_fault_has_its_status(void **state)
{
    (void)state;
    refused("select 9223372036854775807 + 1", VDBQ_RANGE, 28, "overflow", "");
    refused("select id from tset", VDBQ_UNKNOWN, 16, "no such table: tset",
            "did you mean \"test\"?");
    refused("select id + 'x' from test", VDBQ_TYPE, 13, "is not a number", "");
    refused("create table TEST (a int)", VDBQ_EXISTS, 14, "table TEST already",
            "IF NOT EXISTS");
    refused("create table t (a int primary key, b int primary key)",
            VDBQ_SYNTAX, 42, "more than one primary key", "");
    refused("insert into test (id) values (1), (null)", VDBQ_CONSTRAINT, 36,
            "primary key", "");
}

static void what_is_too_large_is_refused(void **state)
{
    struct text sql = { 0 };

    (void)state;
    text_print(&sql, "select 0");
    for (int i = 1; i <= VDBQ_REGISTERS_MAX; i++)
        text_print(&sql, ", %d", i);
    struct planned planned;
    plan_sql(&planned, sql.bytes);
    assert_int_equal(planned.status, VDBQ_LIMIT);
    assert_non_null(strstr(planned.error.message, "1024 registers"));
    planned_finish(&planned);
    text_finish(&sql);
}

/* ---------------------------------------------------- other statements -- */

static void tables_are_made_and_dropped(void **state)
{
    struct planned planned;

    (void)state;
    plan_valid(&planned, "create table New (id int primary key, x float, "
                         "d double precision, b bigint)");
    assert_int_equal(planned.plan.kind, PLAN_CREATE_TABLE);
    assert_string_equal(planned.plan.create.name, "New");
    assert_int_equal(planned.plan.create.column_count, 4);
    assert_int_equal(planned.plan.create.key, 0);
    assert_string_equal(planned.plan.create.columns[1].name, "x");
    assert_int_equal(planned.plan.create.columns[1].type, VDBQ_FLOAT);
    planned_finish(&planned);
    plan_valid(&planned, "create table t (a int, b int, primary key (B))");
    assert_int_equal(planned.plan.create.key, 1);
    planned_finish(&planned);
    plan_valid(&planned, "create table if not exists test (a int)");
    assert_true(planned.plan.create.if_not_exists);
    assert_int_equal(planned.plan.create.key, NO_KEY);
    planned_finish(&planned);
    plan_valid(&planned, "drop table if exists nowhere");
    assert_int_equal(planned.plan.kind, PLAN_DROP_TABLE);
    assert_true(planned.plan.drop.if_exists);
    planned_finish(&planned);
    plan_valid(&planned, " ; ");
    assert_int_equal(planned.plan.kind, PLAN_EMPTY);
    planned_finish(&planned);
}

static void names_and_columns_have_limits(void **state)
{
    struct planned planned;
    struct text sql = { 0 };

    (void)state;
    text_print(&sql, "create table \"%01025d\" (a int)", 0);
    plan_sql(&planned, sql.bytes);
    assert_int_equal(planned.status, VDBQ_LIMIT);
    planned_finish(&planned);
    text_finish(&sql);
    text_print(&sql, "create table t (c0 int");
    for (int i = 1; i <= COLUMNS_MAX; i++)
        text_print(&sql, ", c%d int", i);
    text_print(&sql, ")");
    plan_sql(&planned, sql.bytes);
    assert_int_equal(planned.status, VDBQ_LIMIT);
    assert_non_null(strstr(planned.error.message, "4097 columns"));
    planned_finish(&planned);
    text_finish(&sql);
}

static void rows_are_converted(void **state)
{
    struct planned planned;
    const struct plan_insert *insert = &planned.plan.insert;

    (void)state;
    plan_valid(&planned, "insert into nulls values (1, 2.0, 3, 0.1), "
                         "(null, -2147483648, -0.5, 2 * 3), (1 + 1, 1 / 0, "
                         "1e300, 16777217)");
    assert_int_equal(planned.plan.kind, PLAN_INSERT);
    assert_int_equal(insert->table_id, 1);
    assert_int_equal(insert->rows, 3);
    assert_int_equal(insert->column_count, 4);
    assert_memory_equal(insert->vectors[0].values, ((int32_t[]){ 1, 0, 2 }),
                        12);
    assert_memory_equal(insert->vectors[0].nulls, ((uint8_t[]){ 0, 1, 0 }), 3);
    assert_memory_equal(insert->vectors[1].values,
                        ((int32_t[]){ 2, INT32_MIN, 0 }), 12);
    assert_memory_equal(insert->vectors[1].nulls, ((uint8_t[]){ 0, 0, 1 }), 3);
    assert_memory_equal(insert->vectors[2].values,
                        ((double[]){ 3, -0.5, 1e300 }), 24);
    assert_null(insert->vectors[2].nulls);
    assert_memory_equal(insert->vectors[3].values,
                        ((float[]){ 0.1f, 6, 16777216 }), 12);
    planned_finish(&planned);
    plan_valid(&planned, "insert into wide (I, k) values (5, 1), (6, "
                         "-9223372036854775808)");
    assert_memory_equal(insert->vectors[1].values,
                        ((int64_t[]){ 1, INT64_MIN }), 16);
    assert_memory_equal(insert->vectors[3].values, ((int32_t[]){ 5, 6 }), 8);
    assert_memory_equal(insert->vectors[0].nulls, ((uint8_t[]){ 1, 1 }), 2);
    planned_finish(&planned);
}

/* ---------------------------------------------------------- no memory -- */

/* Whether a statement is planned although the n-th call for memory fails;
 * else it must say so and leave nothing behind. */
static bool survives(const struct ast_statement *statement, const char *sql,
                     unsigned n)
{
    struct planned planned = { 0 };

    memory_fail_once_after(n);
    planned.status = plan_statement(
        statement, sql, strlen(sql), &test_database.catalogue, NULL, NULL,
        &planned.arena, &planned.plan, &planned.error);
    memory_fail_never();
    if (planned.status != VDBQ_OK)
        assert_int_equal(planned.status, VDBQ_NO_MEMORY);
    planned_finish(&planned);
    return planned.status == VDBQ_OK;
}

static void every_call_for_memory_may_fail(void **state)
{
    static const char *const statements[] = {
        "select *, a + b * 2, 1 + 1 from nulls where a > 1 and (b < 2 or f > "
        "1)",
        "create table t (a int, b int, primary key (b))",
        "insert into nulls (a, b) values (1, null), (2 + 2, -3)",
        "select t.id, x + s from (select a, b + 1 as c, x, a % 2 as s from "
        "nulls where a > 0) n left join test t on a = t.id and c > uniformi "
        "where s < 2 and exists (select 1 from wide w where n.c = w.i and "
        "t.id = w.small)"
    };

    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct arena arena = { 0 };
        struct ast_statement *statement;
        struct error error;
        size_t consumed;
        unsigned n = 0;
        assert_int_equal(sql_parse(statements[i], strlen(statements[i]), &arena,
                                   &statement, &consumed, &error),
                         VDBQ_OK);
        while (!survives(statement, statements[i], n))
            n++;
        assert_true(n > 0);
        arena_finish(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_0_is_the_ancestors_program),
        cmocka_unit_test(a_query_without_a_table_has_a_program),
        cmocka_unit_test(alternatives_jump_over_invalid),
        cmocka_unit_test(equal_parts_are_computed_once),
        cmocka_unit_test(parts_that_were_jumped_over_are_computed_again),
        cmocka_unit_test(a_literal_takes_the_type_of_a_float),
        cmocka_unit_test(widths_follow_from_what_columns_hold),
        cmocka_unit_test(not_a_number_is_null),
        cmocka_unit_test(random_conditions_are_right),
        cmocka_unit_test(a_fault_has_its_status),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(tables_are_made_and_dropped),
        cmocka_unit_test(names_and_columns_have_limits),
        cmocka_unit_test(rows_are_converted),
        cmocka_unit_test(every_call_for_memory_may_fail)
    };

    return cmocka_run_group_tests(tests, make_test_database, NULL);
}
